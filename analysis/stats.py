"""Statistics of trials: medians with intervals, arms compared round by round, drift and outliers. Pure.

Everything is robust (medians, ranks), since one slow trial on a busy machine must not decide a result, and all of it
is deterministic: the same run gives the same numbers. The bootstrap of the median is not simulated but worked out: what
infinitely many resamples would give has a closed form (Maritz and Jarrett 1978; Efron 1979), so it needs no seed.

How often an interval between two values of a sample holds the true median is known exactly, whatever the distribution:
each value is as likely below it as above. By that measure the bootstrap's interval is often too narrow (87.5% with 7
values), so it is widened to the nearest values that hold the median in 95% of runs.
"""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

LEVEL = 0.95
ENOUGH = 6  # values from which an interval of 95% for a median can exist at all: 1 - 2^(1-6) = 97%
MAD_TO_SIGMA = 1.4826  # of a normal distribution
FAR_OUT = 5.0  # robust standard deviations
LEAST_SPREAD = 0.006  # of the median: what is within 3% of it is no outlier, however alike the others are


@dataclass(frozen=True, slots=True)
class Estimate:
    """A median and the interval that its n values speak for."""

    n: int
    median: float
    low: float | None  # None below two values
    high: float | None

    @property
    def confidence(self) -> float:
        """How often an interval like this one holds the true median, whatever the values are distributed like. Exact;
        where the bootstrap reaches further than it must, no more than that."""
        return innermost(self.n)[1]

    @property
    def name(self) -> str:
        """What it may be called: 95% interval, or what so few values make of it."""
        return f"{_percent(min(LEVEL, self.confidence))} interval"

    def meaning(self) -> str:
        """What the interval means for this n, in plain words."""
        if self.n == 0:
            return "no trial counts"
        if self.n == 1:
            return "n = 1: a single value has no interval"
        if self.n < ENOUGH:
            return (
                f"n = {self.n}: the interval is the whole range, and holds the true median in only "
                f"{_percent(self.confidence)} of such runs"
            )
        return f"n = {self.n}: the interval holds the true median in at least {_percent(self.confidence)} of such runs"


def interval_name(estimates: Iterable[Estimate]) -> str:
    """The name of a column of intervals: a 95% interval only where every one of them is that."""
    several = [one for one in estimates if one.n >= 2]
    return "95% interval" if several and all(one.confidence >= LEVEL for one in several) else "interval"


def _percent(share: float) -> str:
    """A share in percent, never rounded up: 93.75% is 93.7%."""
    return f"{math.floor(1000 * share) / 10:g}%"


@dataclass(frozen=True, slots=True)
class Summary:
    """One cell's values in numbers."""

    estimate: Estimate
    quartile_1: float
    quartile_3: float
    low: float
    high: float
    mean: float
    stdev: float | None  # None for a single value

    @property
    def n(self) -> int:
        return self.estimate.n

    @property
    def median(self) -> float:
        return self.estimate.median

    @property
    def stdev_percent(self) -> float | None:
        return None if self.stdev is None or not self.mean else 100 * self.stdev / self.mean


def summarise(values: Iterable[float]) -> Summary | None:
    """The values of a cell as a summary; None where there are no values."""
    ordered = sorted(values)
    if not ordered:
        return None
    first, third = quartiles(ordered)
    return Summary(
        estimate=estimate(ordered),
        quartile_1=first,
        quartile_3=third,
        low=ordered[0],
        high=ordered[-1],
        mean=statistics.fmean(ordered),
        stdev=statistics.stdev(ordered) if len(ordered) > 1 else None,
    )


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """The first and third, interpolated as NumPy, R (type 7) and spreadsheets do."""
    if len(values) == 1:
        return values[0], values[0]
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return first, third


def estimate(values: Iterable[float]) -> Estimate:
    """The median with its percentile bootstrap interval, widened where that would hold the median too rarely."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("there is no median of nothing")
    n, middle = len(ordered), statistics.median(ordered)
    if n < 2:
        return Estimate(n, middle, None, None)
    low, high = bootstrap_interval(ordered)
    k, _ = innermost(n)
    return Estimate(n, middle, min(low, ordered[k - 1]), max(high, ordered[n - k]))


def certain_interval(values: Sequence[float]) -> tuple[float, float]:
    """The interval of a median, without ends where there are too few values for one of 95%. It says whether a cell is
    measured well enough."""
    made = estimate(values) if len(values) >= ENOUGH else None
    if made is None or made.low is None or made.high is None:
        return -math.inf, math.inf
    return made.low, made.high


# --- how often an interval between two values of a sample holds the true median


@functools.cache
def innermost(n: int) -> tuple[int, float]:
    """The k for which the interval from the k-th lowest to the k-th highest of n values is the narrowest that holds the
    median of what they come from in 95% of runs, and in how many it does. 1, the whole range, where none does.

    Each value is below the median or above it with the same chance, so this is a matter of tossing n coins."""
    k, ways, outside, everything = 1, 1, 1, 2**n
    while True:
        ways = ways * (n - k + 1) // k  # to toss exactly k heads
        if 2 * (outside + ways) / everything > 1 - LEVEL:
            return k, max(0.0, 1 - 2 * outside / everything)
        outside += ways
        k += 1


# --- the bootstrap distribution of a median


def bootstrap_interval(ordered: Sequence[float], level: float = LEVEL) -> tuple[float, float]:
    """The percentile interval of the median over all resamples, from values in order."""
    weighted = sorted(_medians(ordered))
    tail = (1 - level) / 2
    return _quantile(weighted, tail), _quantile(weighted, 1 - tail)


def _quantile(weighted: Sequence[tuple[float, float]], share: float) -> float:
    total = math.fsum(weight for _, weight in weighted)
    reached = 0.0
    for value, weight in weighted:
        reached += weight
        if reached >= share * total - 1e-12:
            return value
    return weighted[-1][0]


def _medians(ordered: Sequence[float]) -> list[tuple[float, float]]:
    """Each median that a resample can have, with its probability."""
    n = len(ordered)
    if n % 2:
        return [(ordered[i - 1], p) for i, p in _order_statistic(n, (n + 1) // 2).items()]
    return _even_medians(ordered)


def _even_medians(ordered: Sequence[float]) -> list[tuple[float, float]]:
    """A resample of even size has two middle values, the i-th and j-th of the sample."""
    n = len(ordered)
    half = n // 2
    alone = _order_statistic(n, half)
    ways = math.lgamma(n + 1) - 2 * math.lgamma(half + 1)
    # half of the draws at most i with i among them; the other half at least j with j among them
    below = {i: _log_difference(i / n, (i - 1) / n, half) for i in alone}
    above = {j: _log_difference((n - j + 1) / n, (n - j) / n, half) for j in range(min(alone), n + 1)}
    most = max(alone) + (max(alone) - min(alone))
    medians = []
    for i, probability in alone.items():
        left = probability
        for j in range(i + 1, min(n, most) + 1):
            both = math.exp(ways + below[i] + above[j])
            left -= both
            if both > 0:
                medians.append(((ordered[i - 1] + ordered[j - 1]) / 2, both))
        medians.append((ordered[i - 1], max(0.0, left)))
    return medians


def _log_difference(more: float, less: float, power: int) -> float:
    """log(more^power - less^power)"""
    first = power * math.log(more)
    return first if less <= 0 else first + math.log1p(-math.exp(power * math.log(less) - first))


def _order_statistic(n: int, k: int) -> dict[int, float]:
    """Which of the n values is the k-th of a resample: position (from 1) -> probability, without the negligible."""
    reach = math.ceil(4.5 * math.sqrt(n)) + 2  # nine standard deviations
    first, last = max(1, k - reach), min(n, k + reach)
    at_most = [_at_least(n, k, (i / n)) for i in range(first - 1, last + 1)]
    return {first + i: max(0.0, b - a) for i, (a, b) in enumerate(itertools.pairwise(at_most))}


def _at_least(n: int, k: int, p: float) -> float:
    """P(Binomial(n, p) >= k)"""
    if p <= 0 or p >= 1:
        return float(p >= 1)
    ways = math.lgamma(n + 1)
    log_p, log_q = math.log(p), math.log1p(-p)
    return math.fsum(
        math.exp(ways - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * log_p + (n - i) * log_q)
        for i in range(k, n + 1)
    )


# --- two arms, round by round

Verdict = Literal["faster", "slower", "faster so far", "slower so far", "no difference shown", "too few rounds"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """An arm against a base, by the rounds in which both have a value."""

    ratio: Estimate  # of the arm's value to the base's
    difference: Estimate  # arm minus base, in the values' unit
    lower: int  # rounds in which the arm's value was lower
    higher: int
    sign_p: float  # two-sided exact sign test
    left_out: int  # rounds in which only one of the two has a value
    higher_is_better: bool = False  # of the values: then the arm with the higher ones is called faster

    @property
    def faster(self) -> int:
        """Rounds in which the arm was faster."""
        return self.higher if self.higher_is_better else self.lower

    @property
    def slower(self) -> int:
        return self.lower if self.higher_is_better else self.higher

    @property
    def n(self) -> int:
        return self.ratio.n

    @property
    def verdict(self) -> Verdict:
        low, high = self.ratio.low, self.ratio.high
        if low is None or high is None:
            return "too few rounds"
        if self.n < ENOUGH:
            if self.n >= 3 and self.n in (self.lower, self.higher):
                return "faster so far" if self.faster else "slower so far"
            return "too few rounds" if self.n < 3 else "no difference shown"
        if low <= 1 <= high:
            return "no difference shown"
        return "faster" if (high < 1) != self.higher_is_better else "slower"


def compare(
    base: Mapping[int, float], arm: Mapping[int, float], *, higher_is_better: bool = False
) -> Comparison | None:
    """Compare an arm with a base by round. None where no round has both."""
    rounds = sorted(number for number in base.keys() & arm.keys() if base[number] > 0)
    if not rounds:
        return None
    lower = sum(arm[number] < base[number] for number in rounds)
    higher = sum(arm[number] > base[number] for number in rounds)
    return Comparison(
        ratio=estimate([arm[number] / base[number] for number in rounds]),
        difference=estimate([arm[number] - base[number] for number in rounds]),
        lower=lower,
        higher=higher,
        sign_p=sign_test(lower, higher),
        left_out=len(base.keys() | arm.keys()) - len(rounds),
        higher_is_better=higher_is_better,
    )


def sign_test(lower: int, higher: int) -> float:
    """How likely a split at least as uneven is where neither side is favoured."""
    n, fewer = lower + higher, min(lower, higher)
    if n == 0:
        return 1.0
    return min(1.0, 2 * sum(math.comb(n, i) for i in range(fewer + 1)) / float(2**n))


# --- outliers


def outliers(values: Sequence[float]) -> list[int]:
    """Positions of values far from their median. They are noted, never removed: a median does not mind them."""
    if len(values) < 5:
        return []
    middle = statistics.median(values)
    spread = MAD_TO_SIGMA * statistics.median(abs(value - middle) for value in values)
    spread = max(spread, LEAST_SPREAD * abs(middle))
    return [i for i, value in enumerate(values) if spread and abs(value - middle) > FAR_OUT * spread]
