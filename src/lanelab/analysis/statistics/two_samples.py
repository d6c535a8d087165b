"""Two samples that share nothing: by how much one lies above the other.

The shift of Hodges and Lehmann (1963): the middle of all differences between a value of one sample and a value of the
other. Its interval lies between two of these differences, chosen by the exact distribution of Mann and Whitney's
statistic, which counts those above 0. It asks that the samples have the same shape, and nothing about which.

A value of infinity is a trial that timed out. The difference of two such is unknown, and counts against whatever is
claimed; equal values make the interval a little wide.
"""

import functools
import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from lanelab.analysis.statistics.median import ALPHA, LEVEL, interval_of, median

MOST_DIFFERENCES = 10_000  # up to which the distribution is exact; beyond, the normal one is right to what is shown


@dataclass(frozen=True, slots=True)
class TwoSamples:
    """The amount by which the other sample lies above the first."""

    n_first: int
    n_other: int
    value: float
    low: float
    high: float
    confidence: float  # of the interval, whatever the distribution

    @property
    def n(self) -> int:
        return min(self.n_first, self.n_other)

    @property
    def is_enough(self) -> bool:
        return self.confidence >= LEVEL

    @property
    def name(self) -> str:
        return interval_of(self.confidence)

    def exponential(self) -> "TwoSamples":
        """Return the ratio, where this is a difference of logarithms."""
        value, low, high = (math.exp(end) for end in (self.value, self.low, self.high))
        return TwoSamples(self.n_first, self.n_other, value, low, high, self.confidence)


def shift(first: Sequence[float], other: Sequence[float], alpha: float = ALPHA) -> TwoSamples:
    """Return the shift from one sample to the other, neither of them empty."""
    differences = [b - a for a in first for b in other]
    known = sorted(one for one in differences if not math.isnan(one))
    unknown = len(differences) - len(known)
    k, confidence = innermost(*sorted((len(first), len(other))), alpha)
    return TwoSamples(
        n_first=len(first),
        n_other=len(other),
        value=_middle(known),
        low=-math.inf if k <= unknown else known[k - 1 - unknown],
        high=math.inf if k <= unknown else known[len(known) - (k - unknown)],
        confidence=confidence,
    )


def _middle(known: Sequence[float]) -> float:
    middle = median(known) if known else 0.0
    return 0.0 if math.isnan(middle) else middle


# --- the distribution of the statistic where neither sample lies above the other


@functools.cache
def innermost(m: int, n: int, alpha: float = ALPHA) -> tuple[int, float]:
    """Return the k for which the interval from the k-th lowest to the k-th highest difference is the narrowest that
    holds the true shift in all but `alpha` of cases, and in how many it does. 1, the whole range, where none does."""
    if m * n > MOST_DIFFERENCES:
        deviation = math.sqrt(m * n * (m + n + 1) / 12)
        k = max(1, math.floor(m * n / 2 + NormalDist().inv_cdf(alpha / 2) * deviation - 0.5) + 1)
        return k, 1 - 2 * NormalDist(m * n / 2, deviation).cdf(k - 0.5)
    below = _cumulative(m, n)
    k = max(1, bisect_right(below, alpha / 2 * (1 + 1e-12)))
    return k, max(0.0, 1 - 2 * below[k - 1])


@functools.lru_cache(maxsize=256)
def _cumulative(m: int, n: int) -> list[float]:
    """Return the chance of at most u differences above 0, for every u: the coefficients of the Gaussian binomial."""
    ways = [1]
    for i in range(1, m + 1):
        ways = _divided(_times(ways, n + i), i)
    total, reached, below = math.comb(m + n, m), 0, []
    for count in ways:
        reached += count
        below.append(reached / total)
    return below


def _times(ways: Sequence[int], power: int) -> list[int]:
    """The polynomial times 1 - q^power."""
    longer = [*ways, *[0] * power]
    for i, count in enumerate(ways):
        longer[i + power] -= count
    return longer


def _divided(ways: list[int], power: int) -> list[int]:
    """Return the polynomial by 1 - q^power, which divides it."""
    for i in range(power, len(ways)):
        ways[i] += ways[i - power]
    return ways[: len(ways) - power]


def p_of_shift(first: Sequence[float], other: Sequence[float]) -> float:
    """Return the two-sided p of no shift: how likely samples as far apart are where neither lies above the other. Equal
    values count against it."""
    differences = [b - a for a in first for b in other]
    above, below = sum(one > 0 for one in differences), sum(one < 0 for one in differences)
    m, n = sorted((len(first), len(other)))
    return min(1.0, 2 * min(_at_most(m, n, m * n - above), _at_most(m, n, m * n - below)))


def _at_most(m: int, n: int, value: int) -> float:
    if value < 0:
        return 0.0
    if m * n > MOST_DIFFERENCES:
        deviation = math.sqrt(m * n * (m + n + 1) / 12)
        return NormalDist(m * n / 2, deviation).cdf(value + 0.5)
    return _cumulative(m, n)[value]
