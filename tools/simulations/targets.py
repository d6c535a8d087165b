"""What intervals of changes hold, and what they do not, by simulation: the change that they are of, the ratio of the
medians beside it, and what other beds would give. Pure, and seeded. `lanelab bench statistics` prints the tables."""

import functools
import math
import random
import statistics
from collections.abc import Callable, Iterator, Mapping

from lanelab.analysis.statistics.one_bed import too_narrow
from lanelab.analysis.statistics.signed_rank import signed_rank
from tools.simulations.arms import Table

Times = Callable[[random.Random], float]  # load times of an arm, around 1
SIZES = (6, 10, 30)
DRAWS = 100_000  # for what is true of a distribution
STEADY = 0.003  # standard deviation of the other arm


def _two_peaks(rng: random.Random) -> float:
    return (1.1 if rng.random() < 0.45 else 1.0) * rng.lognormvariate(0, STEADY)


def _slow_tail(rng: random.Random) -> float:
    return (1.1 + rng.expovariate(5) if rng.random() < 0.15 else 1.0) * rng.lognormvariate(0, STEADY)


TIMES: Mapping[str, Times] = {
    "normal": lambda rng: 1 + rng.gauss(0, 0.03),
    "lognormal": lambda rng: rng.lognormvariate(0, 0.3),
    "exponential": lambda rng: 1 + rng.expovariate(10),
    "two peaks": _two_peaks,
    "15% slow tail": _slow_tail,
}


def _log_ratio(times: Times, rng: random.Random) -> float:
    return math.log(times(rng)) - rng.gauss(0, STEADY)


@functools.cache
def truths(name: str) -> tuple[float, float]:
    """Return the truths of the change: its pseudo-median, and the ratio of the medians; both as logarithms."""
    rng, times = random.Random(name), TIMES[name]  # noqa: S311 - chance for statistics, not for secrets
    pseudo = statistics.median((_log_ratio(times, rng) + _log_ratio(times, rng)) / 2 for _ in range(DRAWS))
    return pseudo, math.log(statistics.median(times(rng) for _ in range(DRAWS)))


def one_noisy_arm_holds(name: str, n: int, runs: int) -> tuple[float, float]:
    """Return how often the interval of a change holds either truth, where one arm varies like this and the other
    hardly."""
    rng, (pseudo, ratio) = random.Random(f"{name}/{n}"), truths(name)  # noqa: S311
    held = [0, 0]
    for _ in range(runs):
        shift = signed_rank([[_log_ratio(TIMES[name], rng) for _ in range(n)]])
        held[0] += shift.low <= pseudo <= shift.high
        held[1] += shift.low <= ratio <= shift.high
    return held[0] / runs, held[1] / runs


def another_bed_holds(n: int, runs: int) -> tuple[float, float]:
    """Return how often the interval of one bed holds what all beds give together, where these differ as much as rounds
    do; and how often one does that is wider by the factor that reports name."""
    rng, factor = random.Random(f"beds/{n}"), too_narrow(n)  # noqa: S311
    held = [0, 0]
    for _ in range(runs):
        bed = rng.gauss(0, 1)
        shift = signed_rank([[bed + rng.gauss(0, 1) for _ in range(n)]])
        held[0] += shift.low <= 0 <= shift.high
        held[1] += factor * (shift.low - shift.value) <= -shift.value <= factor * (shift.high - shift.value)
    return held[0] / runs, held[1] / runs


def tables(runs: int) -> Iterator[Table]:
    """Yield those of docs/statistics.md."""
    results_of = {name: [one_noisy_arm_holds(name, n, runs) for n in SIZES] for name in TIMES}
    heads = [f"{what}, n = {n}" for what in ("its pseudo-median", "the ratio of medians") for n in SIZES]
    yield Table("One arm varies, the other hardly: how often the interval of the change holds", [
        "noise of one arm", *heads,
    ], [(name, [each[at] for at in (0, 1) for each in shares]) for name, shares in results_of.items()])  # fmt: skip
    yield Table("One bed, where beds differ as much as rounds do: how often the interval holds what all beds give", [
        "rounds", "the interval", "one that is wider by the factor that reports name",
    ], [(f"{n}, factor {too_narrow(n):.1f}", another_bed_holds(n, runs)) for n in SIZES])  # fmt: skip
