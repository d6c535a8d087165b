"""Wilcoxon's signed-rank statistic over one stratum or several: its exact distribution, its test, and the estimate and
interval of Hodges and Lehmann that belong to it.

The statistic is counted by Walsh averages, the means of any two values of a stratum (and of each with itself): it is
the number of those above 0. So the middle one of them is the estimate, and the interval reaches from the k-th lowest to
the k-th highest, with k from the statistic's distribution: test and interval always agree.

Ties and zeros. The distribution is that of values without ties. A Walsh average of exactly 0 counts against whatever is
claimed, and the interval includes its ends, so with ties both are conservative (Noether 1967). A value of infinity
stands for a pair in which one trial timed out: its sign is known and its rank is the largest. The average of +infinity
and -infinity is unknown, and also counts against whatever is claimed.
"""

import functools
import itertools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from lanelab.analysis.statistics.median import ALPHA

MOST_STEPS = 1_000_000  # of the exact distribution; beyond it the normal one is right to more digits than are shown
MOST_LISTED = 200_000  # Walsh averages that are listed; of more, the wanted ones are found by bisection
MOST_KEPT = 256  # results that are remembered
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Shift:
    """The amount by which values lie above 0."""

    n: int
    value: float
    low: float
    high: float
    confidence: float  # of the interval
    p: float  # two-sided: how likely values as far on one side of 0 are where neither side is favoured


def signed_rank(strata: Sequence[Sequence[float]], alpha: float = ALPHA) -> Shift:
    """Return the shift of values that are alike within a stratum but for it. One stratum is the common signed-rank
    test; of several the statistics are added up."""
    return _signed_rank(tuple(tuple(sorted(values)) for values in strata if values), alpha)


@functools.lru_cache(maxsize=MOST_KEPT)  # a place is asked for by itself, and by what is said of all places
def _signed_rank(strata: tuple[tuple[float, ...], ...], alpha: float) -> Shift:
    walsh = _Walsh(strata)
    law = law_of(tuple(sorted(len(values) for values in walsh.strata)))
    k = law.outside(alpha)
    p = 2 * min(law.at_least(walsh.above()), law.at_least(walsh.below()))
    return Shift(
        n=sum(len(values) for values in walsh.strata),
        value=walsh.middle(),
        low=walsh.lowest(k),
        high=walsh.highest(k),
        confidence=max(0.0, 1 - 2 * law.at_most(k - 1)),
        p=min(1.0, p),
    )


def one_sided(strata: Sequence[Sequence[float]], bound: float) -> tuple[float, float]:
    """Return how likely values as far above the bound are where they lie around it or below, and as far below where
    they lie around it or above. An end of the interval of `signed_rank` is beyond the bound exactly where one of these
    is at most half of its alpha."""
    walsh = _Walsh([sorted(value - bound for value in values) for values in strata if values])
    law = law_of(tuple(sorted(len(values) for values in walsh.strata)))
    return law.at_least(walsh.above()), law.at_least(walsh.below())


# --- the distribution of the statistic where neither side is favoured


class Law:
    """The distribution for strata of these sizes: the sum of ranks 1 to n of each stratum, every rank with a coin."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.ways = sum(size * (size + 1) // 2 for size in sizes)  # Walsh averages, and the largest sum
        self._deviation = math.sqrt(sum(size * (size + 1) * (2 * size + 1) for size in sizes) / 24)
        self._below: list[float] = []
        if sum(sizes) * self.ways <= MOST_STEPS:
            self._below = _summed(_chances(rank for size in sizes for rank in range(1, size + 1)))

    def at_most(self, value: int) -> float:
        """Return how likely the statistic is no larger."""
        if value < 0:
            return 0.0
        if value >= self.ways:
            return 1.0
        if self._below:
            return self._below[value]
        return _NORMAL.cdf((value + 0.5 - self.ways / 2) / self._deviation)

    def at_least(self, value: int) -> float:
        """The same for no smaller: the distribution is symmetric."""
        return self.at_most(self.ways - value)

    def outside(self, alpha: float) -> int:
        """Return the k for which the k-th lowest and highest Walsh averages make the narrowest interval of 1 - alpha;
        1, the whole range, where none does."""
        low, high = 1, self.ways // 2 + 1  # k is at least low, and less than high
        while high - low > 1:
            k = (low + high) // 2
            if 2 * self.at_most(k - 1) <= alpha:
                low = k
            else:
                high = k
        return low


@functools.lru_cache(maxsize=512)
def law_of(sizes: tuple[int, ...]) -> Law:
    return Law(sizes)


def _chances(ranks: Iterable[int]) -> list[float]:
    """Return sum of the ranks whose coins fall on heads -> its chance."""
    chances = [1.0]
    for rank in ranks:
        nothing = [0.0] * rank
        chances = [
            (without + having) / 2 for without, having in zip([*chances, *nothing], [*nothing, *chances], strict=True)
        ]
    return chances


def _summed(chances: Sequence[float]) -> list[float]:
    total, below = 0.0, []
    for chance in chances:
        total += chance
        below.append(total)
    return below


# --- Walsh averages


class _Walsh:
    """The Walsh averages within strata, each in order. They are listed where they are few."""

    def __init__(self, strata: Sequence[Sequence[float]]) -> None:
        self.strata = strata
        self.count = sum(len(values) * (len(values) + 1) // 2 for values in strata)
        self._listed: list[float] = []
        self._unknown = sum(values.count(-math.inf) * values.count(math.inf) for values in strata)
        if self.count <= MOST_LISTED:
            averages = [
                (one + other) / 2 for values in strata for i, one in enumerate(values) for other in values[: i + 1]
            ]
            known = itertools.filterfalse(math.isnan, averages) if self._unknown else averages
            self._listed = sorted(known)

    def above(self) -> int:
        """How many are above 0; those that are unknown are not."""
        if self._listed or self._unknown == self.count:
            return len(self._listed) - bisect_right(self._listed, 0.0)
        return self.count - self._unknown - self._at_most(0.0)

    def below(self) -> int:
        if self._listed or self._unknown == self.count:
            return bisect_left(self._listed, 0.0)
        return self._at_most(math.nextafter(0.0, -1.0))

    def middle(self) -> float:
        """Return the median of those that are known."""
        known = self.count - self._unknown
        low, high = self._ranked((known + 1) // 2), self._ranked(known // 2 + 1)
        return 0.0 if low == -high else (low + high) / 2  # also where these are infinities of both signs

    def lowest(self, k: int) -> float:
        """The k-th lowest; those that are unknown may be lower still."""
        return -math.inf if k <= self._unknown else self._ranked(k - self._unknown)

    def highest(self, k: int) -> float:
        known = self.count - self._unknown
        return math.inf if k <= self._unknown else self._ranked(known + 1 - (k - self._unknown))

    def _ranked(self, k: int) -> float:
        """Return the k-th lowest of those that are known, from 1."""
        if self._listed:
            return self._listed[k - 1]
        finite = [value for values in self.strata for value in values if math.isfinite(value)]
        low, high = min(finite, default=0.0), max(finite, default=0.0)
        if k <= self._at_most(-math.inf):
            return -math.inf
        if k > self._at_most(high):
            return math.inf
        while high - low > 1e-12 * max(1.0, abs(low), abs(high)):
            middle = (low + high) / 2
            low, high = (low, middle) if self._at_most(middle) >= k else (middle, high)
        return high

    def _at_most(self, limit: float) -> int:
        """Return how many are no more than the limit, without those that are unknown."""
        return sum(_pairs_at_most(values, limit) for values in self.strata)


def _pairs_at_most(values: Sequence[float], limit: float) -> int:
    """Count the pairs of values in order (each with itself too) that have an average of at most the limit. An average
    of infinities of both signs is none."""
    count, first, last = 0, 0, len(values) - 1
    least = bisect_right(values, -math.inf)
    most = bisect_left(values, math.inf)
    if limit < math.inf:
        count, first, last = least * (least + 1) // 2 + least * (most - least), least, most - 1
        if limit == -math.inf:
            return count
    for i in range(first, last + 1):
        while last >= i and (values[i] + values[last]) / 2 > limit:
            last -= 1
        if last < i:
            break
        count += last - i + 1
    return count
