"""A median with its interval between two values of the sample.

How often such an interval holds the true median is known exactly, whatever the distribution: each value is as likely
below it as above. A trial that timed out is a value of infinity: it took longer than every other, and how much longer
does not matter to a rank.
"""

import functools
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

ALPHA = 0.05
LEVEL = 1 - ALPHA
ENOUGH = 6  # values from which an interval of 95% for a median can exist at all: 1 - 2^(1-6) = 97%
MAD_TO_SIGMA = 1.4826  # of a normal distribution
FAR_OUT = 5.0  # robust standard deviations
LEAST_SPREAD = 0.006  # of the median: what is within 3% of it is no outlier, however alike the others are


class Interval(Protocol):
    """A result with an interval: a median, or a change."""

    @property
    def n(self) -> int: ...
    @property
    def confidence(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Estimate:
    """A median and the interval that its n values speak for. Ends may be infinite, where trials timed out."""

    n: int
    median: float
    low: float | None  # None below two values
    high: float | None
    confidence: float  # how often an interval like this one holds the true median, whatever the distribution
    looks: int = 1  # how often the run may have looked at its results; the confidence is that of all looks together

    @property
    def name(self) -> str:
        """Return what it may be called: 95% interval, or what so few values make of it."""
        return interval_of(self.confidence)

    def meaning(self) -> str:
        """Return what the interval means for this n, in plain words."""
        if self.n == 0:
            return "no trial counts"
        if self.n == 1:
            return "n = 1: a single value has no interval"
        if self.confidence < LEVEL:
            return (
                f"n = {self.n}: the interval is the whole range, and holds the true median of this run in only "
                f"{percent(self.confidence)} of such runs"
            )
        looks = f", all {self.looks} looks together" if self.looks > 1 else ""
        held = f"at least {percent(self.confidence)} of such runs{looks}"
        return f"n = {self.n}: the interval holds the true median of this run in {held}"


def interval_of(confidence: float) -> str:
    return f"{percent(min(LEVEL, confidence))} interval"


def interval_name(intervals: Iterable[Interval]) -> str:
    """Return the name of a column of intervals: a 95% interval only where every one of them is that."""
    several = [one for one in intervals if one.n >= 2]
    return "95% interval" if several and all(one.confidence >= LEVEL for one in several) else "interval"


def percent(share: float) -> str:
    """A share in percent, never rounded up: 93.75% is 93.7%."""
    return f"{math.floor(1000 * share + 1e-9) / 10:g}%"


@dataclass(frozen=True, slots=True)
class Summary:
    """One cell's values in numbers. Values of infinity are trials that timed out."""

    estimate: Estimate
    quartile_1: float
    quartile_3: float
    low: float
    high: float
    mean: float | None  # None where a trial timed out: ranks have no need of its value, and a mean has
    stdev: float | None  # None for a single value, too

    @property
    def n(self) -> int:
        return self.estimate.n

    @property
    def median(self) -> float:
        return self.estimate.median

    @property
    def stdev_percent(self) -> float | None:
        return None if self.stdev is None or not self.mean else 100 * self.stdev / self.mean


def summarise(values: Iterable[float], alpha: float = ALPHA, looks: int = 1) -> Summary | None:
    """Return the values of a cell as a summary; None where there are no values."""
    ordered = sorted(values)
    if not ordered:
        return None
    first, third = quartiles(ordered)
    known = all(map(math.isfinite, ordered))
    return Summary(
        estimate=estimate(ordered, alpha, looks),
        quartile_1=first,
        quartile_3=third,
        low=ordered[0],
        high=ordered[-1],
        mean=statistics.fmean(ordered) if known else None,
        stdev=statistics.stdev(ordered) if known and len(ordered) > 1 else None,
    )


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """The first and third, interpolated as NumPy, R (type 7) and spreadsheets do."""
    ordered = sorted(values)
    return _quantile(ordered, 0.25), _quantile(ordered, 0.75)


def _quantile(ordered: Sequence[float], share: float) -> float:
    below, part = divmod((len(ordered) - 1) * share, 1)
    low, high = ordered[int(below)], ordered[math.ceil(below + part)]
    return low if not part or low == high else low * (1 - part) + high * part


def estimate(values: Iterable[float], alpha: float = ALPHA, looks: int = 1) -> Estimate:
    """Return the median, and the narrowest interval between two of the values that holds the true one in all but
    `alpha` of such runs; of too few values the whole range. With several looks at a run, `alpha` is what this one may
    spend."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("there is no median of nothing")
    n, middle = len(ordered), median(ordered)
    if n < 2:
        return Estimate(n, middle, None, None, 0.0)
    k, confidence = innermost(n, alpha)
    if looks > 1 and confidence >= 1 - alpha:
        confidence = LEVEL
    return Estimate(n, middle, ordered[k - 1], ordered[n - k], confidence, looks)


def median(values: Iterable[float]) -> float:
    """The median, also of infinite values."""
    ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2 or ordered[half - 1] == ordered[half]:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2


def logarithm(value: float) -> float:
    """Return the logarithm, also of 0, which is below that of every other value."""
    return math.log(value) if value > 0 else -math.inf


@functools.cache
def innermost(n: int, alpha: float = ALPHA) -> tuple[int, float]:
    """The k for which the interval from the k-th lowest to the k-th highest of n values is the narrowest that holds the
    median of what they come from in all but `alpha` of runs, and in how many it does. 1, the whole range, where none
    does.

    Each value is below the median or above it with the same chance, so this is a matter of tossing n coins."""
    k, ways, outside, everything = 1, 1, 1, 2**n
    while True:
        ways = ways * (n - k + 1) // k  # to toss exactly k heads
        if 2 * (outside + ways) / everything > alpha:
            return k, max(0.0, 1 - 2 * outside / everything)
        outside += ways
        k += 1


def outliers(values: Sequence[float]) -> list[int]:
    """Return positions of values far from their median. They are noted, never removed: a median does not mind them."""
    if len(values) < 5:
        return []
    middle = median(values)
    if not math.isfinite(middle):
        return []
    spread = MAD_TO_SIGMA * median(abs(value - middle) for value in values)
    spread = max(spread, LEAST_SPREAD * abs(middle))
    return [i for i, value in enumerate(values) if spread and abs(value - middle) > FAR_OUT * spread]
