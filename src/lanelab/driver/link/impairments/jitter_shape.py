"""How delays vary that netem draws from one of tc's tables, and whether a sample of delays is one of these. Pure.

Where jitter keeps the order of packets, one behind a late packet is late too, so neither is the sample what the table
says nor are its values independent. What it then is comes from a simulation, with a fixed seed, of the packets that
were sent: their deviation, their quantiles, how much each is like the one before, and how much all of these vary by
chance in a sample of this size.
"""

import math
import random
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

ENTRIES = 4096  # of a table
SIMULATED, FEWEST_BLOCKS = 40_000, 60
Z_TEST = 3.4  # in one of a thousand right links it is more, with what 60 blocks leave uncertain
Z_DISTANCE = 4.4  # the same of a distance between distributions, which has a longer tail


def quantile(distribution: str, share: float) -> float:
    """Return a quantile of tc's table, in units of the jitter."""
    if distribution == "uniform":
        return 2 * share - 1
    normal = max(-4.0, min(4.0, statistics.NormalDist().inv_cdf(share)))
    if distribution == "normal":
        return normal
    pareto = min(4.0, (math.pow(1 - share, -1 / 3) - 1.5) * 4 / 3)
    return pareto if distribution == "pareto" else (normal + 3 * pareto) / 4


@lru_cache(maxsize=8)
def table(distribution: str) -> tuple[float, ...]:
    return tuple(quantile(distribution, (number + 0.5) / ENTRIES) for number in range(ENTRIES))


@dataclass(frozen=True, slots=True)
class Sent:
    """Packets whose delays are looked at. `gap` and `least` in units of the jitter; `gap` 0: each is on its own, since
    they may overtake each other. `least`: the least that a delay can be below its mean."""

    distribution: str
    gap: float
    least: float


@dataclass(frozen=True, slots=True)
class Band:
    """The value that a right link gives, and the range that holds in all but one of a thousand samples."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Expected:
    """The bands for a sample of one size, in units of the jitter."""

    deviation: Band
    likeness: Band  # correlation of a delay with the one before
    distance: Band  # Kolmogorov's and Smirnov's, from the quantiles below, both around their medians
    quantiles: tuple[float, ...]


@lru_cache(maxsize=64)
def expected(sent: Sent, count: int) -> Expected:
    blocks = max(FEWEST_BLOCKS, SIMULATED // count)
    rng = random.Random(f"{sent} {count}")  # noqa: S311 - the same each time, on purpose
    drawn = [simulated(rng, sent, count) for _ in range(blocks)]
    quantiles = tuple(sorted(value for block in drawn for value in block))
    deviations = [math.log(deviation(block)) for block in drawn]
    centre, spread = statistics.fmean(deviations), statistics.stdev(deviations)
    alike = _band([likeness([block]) for block in drawn], Z_TEST)
    distances = _band([distance(block, quantiles) for block in drawn], Z_DISTANCE)
    bounds = (math.exp(centre - Z_TEST * spread), math.exp(centre + Z_TEST * spread))
    return Expected(Band(deviation(quantiles), *bounds), alike, distances, quantiles)


def simulated(rng: random.Random, sent: Sent, count: int) -> list[float]:
    """Return delays as netem gives them, around their mean."""
    drawn = rng.choices(table(sent.distribution), k=count)
    delays, held = [], -math.inf
    for each in drawn:
        held = max(held - sent.gap, each, -sent.least) if sent.gap else max(each, -sent.least)
        delays.append(held)
    return delays


def deviation(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def likeness(trains: Sequence[Sequence[float]]) -> float:
    """Return the correlation of each value with the one before it in its train."""
    whole = [value for train in trains for value in train]
    mean = math.fsum(whole) / len(whole)
    variance = math.fsum((value - mean) ** 2 for value in whole)
    together = math.fsum((first - mean) * (second - mean) for train in trains for first, second in pairwise(train))
    return together / variance if variance else 0.0


def distance(values: Sequence[float], quantiles: Sequence[float]) -> float:
    """Return the largest difference between the shares of both that lie below any value, once both have the same
    median."""
    shift = statistics.median(values) - quantiles[len(quantiles) // 2]
    ordered = sorted(value - shift for value in values)
    count, all_of_them = len(ordered), len(quantiles)
    return max(
        max(
            (number + 1) / count - bisect_left(quantiles, value) / all_of_them,
            bisect_right(quantiles, value) / all_of_them - number / count,
        )
        for number, value in enumerate(ordered)
    )


def _band(values: Sequence[float], z: float) -> Band:
    mean, spread = statistics.fmean(values), statistics.stdev(values)
    return Band(mean, mean - z * spread, mean + z * spread)
