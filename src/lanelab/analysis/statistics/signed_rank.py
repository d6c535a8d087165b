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
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

from lanelab.analysis.statistics.median import ALPHA

MOST_STEPS = 1_000_000  # of the exact distribution; beyond it the normal one is right to more digits than are shown
LISTED_FOR_EACH = 4  # Walsh averages that are listed for each value; of more, the wanted ones are found by bisection
MOST_KEPT = 256  # results that are remembered
_NORMAL = NormalDist()
_Ends: TypeAlias = Sequence[Sequence[int]]  # of each stratum, of each of its values


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
    """The Walsh averages within strata, each of whose values are in order. Of many, only those near the wanted one are
    listed."""

    def __init__(self, strata: Sequence[Sequence[float]]) -> None:
        self.strata = strata
        self._finite = [values[bisect_right(values, -math.inf) : bisect_left(values, math.inf)] for values in strata]
        self._averages = sum(map(_ways, map(len, self._finite)))
        self._lowest, self._highest, self._unknown = 0, 0, 0  # how many are infinite, or of infinities of both signs
        for values, finite in zip(strata, self._finite, strict=True):
            below = bisect_right(values, -math.inf)
            above = len(values) - below - len(finite)
            self._lowest += _ways(below) + below * len(finite)
            self._highest += _ways(above) + above * len(finite)
            self._unknown += below * above

    def above(self) -> int:
        """How many are above 0; those that are unknown are not."""
        return self._highest + self._averages - self._counted(self._ends(0.0))

    def below(self) -> int:
        return self._lowest + self._counted(self._ends(math.nextafter(0.0, -1.0)))

    def middle(self) -> float:
        """Return the median of those that are known."""
        known = self._known
        low = self._ranked((known + 1) // 2)
        high = low if known % 2 else self._ranked(known // 2 + 1)
        return 0.0 if low == -high else (low + high) / 2  # also where these are infinities of both signs

    def lowest(self, k: int) -> float:
        """The k-th lowest; those that are unknown may be lower still."""
        return -math.inf if k <= self._unknown else self._ranked(k - self._unknown)

    def highest(self, k: int) -> float:
        return math.inf if k <= self._unknown else self._ranked(self._known + 1 - (k - self._unknown))

    @property
    def _known(self) -> int:
        return self._lowest + self._averages + self._highest

    def _ranked(self, k: int) -> float:
        """Return the k-th lowest of those that are known, from 1."""
        if k <= self._lowest:
            return -math.inf
        if k > self._lowest + self._averages:
            return math.inf
        return self._finite_ranked(k - self._lowest)

    def _finite_ranked(self, k: int) -> float:
        """Narrow down where it is until few are left, and list these."""
        inside = [values for values in self._finite if values]
        low, high = min(values[0] for values in inside), max(values[-1] for values in inside)
        below: _Ends = [range(len(values)) for values in self._finite]
        upto = self._ends(high)
        before, many = 0, self._averages
        few = LISTED_FOR_EACH * sum(map(len, self._finite))
        while many - before > few and high - low > 1e-12 * max(1.0, abs(low), abs(high)):
            middle = (low + high) / 2
            ends = self._ends(middle)
            counted = self._counted(ends)
            if counted >= k:
                high, upto, many = middle, ends, counted
            else:
                low, below, before = middle, ends, counted
        if many - before > few:  # they are alike
            return min(self._between(below, upto, most=1))
        return sorted(self._between(below, upto))[k - before - 1]

    def _between(self, below: _Ends, upto: _Ends, most: int | None = None) -> list[float]:
        """List those between two limits, by where these end; of each value, at most so many of the lowest."""
        return [
            (one + other) / 2
            for values, firsts, lasts in zip(self._finite, below, upto, strict=True)
            for one, first, last in zip(values, firsts, lasts, strict=True)
            for other in values[first:last][:most]
        ]

    def _counted(self, ends: _Ends) -> int:
        return sum(sum(each) - len(each) * (len(each) - 1) // 2 for each in ends)

    def _ends(self, limit: float) -> _Ends:
        return [_ends(values, limit) for values in self._finite]


def _ways(many: int) -> int:
    """Return how many pairs there are of so many, each with itself too."""
    return many * (many + 1) // 2


def _ends(values: Sequence[float], limit: float) -> list[int]:
    """Return for each of the values in order the end of those, from itself on, with which it has an average of at most
    the limit."""
    ends, end = [], len(values)
    for place, value in enumerate(values):
        while end > place and (value + values[end - 1]) / 2 > limit:
            end -= 1
        if end <= place:
            break
        ends.append(end)
    return [*ends, *range(len(ends), len(values))]
