"""Whether one of several groups has another middle than the others: a test that names groups, with known error rates.

Each group is held against all others together. Its p is the larger of two: the exact one of Mann and Whitney's
statistic, which holds for values of any shape that groups have in common, and Welch's (1947), which holds for groups
that vary unequally. The first alone errs where a small group varies more than the others. Where trials timed out there
are no means, and Brunner and Munzel's p (2000) takes the place of Welch's.

Where one group is off, the others, held against a crowd that has it, look off on the other side. So the group with the
smallest p is named first, left out, and the rest looked at again, until none is named.
"""

import math
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from lanelab.analysis.statistics.distributions import t_above
from lanelab.analysis.statistics.two_samples import p_of_shift

G = TypeVar("G", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Named(Generic[G]):
    """A group against those that were not named before it."""

    group: G
    others: tuple[G, ...]
    p: float  # with all tests of the family in mind


def p_apart(ones: Sequence[float], others: Sequence[float]) -> float:
    """Return how likely two samples as far apart are where values of one are as often above those of the other as
    below."""
    finite = all(map(math.isfinite, (*ones, *others)))
    return max(p_of_shift(ones, others), welch(ones, others) if finite else brunner_munzel(ones, others))


def welch(ones: Sequence[float], others: Sequence[float]) -> float:
    """Return p for two means that are equal, where variances need not be."""
    m, n = len(ones), len(others)
    if m < 2 or n < 2:
        return 1.0
    far = statistics.fmean(ones) - statistics.fmean(others)
    return _by_t(far, statistics.variance(ones) / m, statistics.variance(others) / n, m, n)


def brunner_munzel(ones: Sequence[float], others: Sequence[float]) -> float:
    """Return p for values of one sample that are as often above those of the other as below."""
    m, n = len(ones), len(others)
    if m < 2 or n < 2:
        return 1.0
    above_others, above_ones = _places(ones, others), _places(others, ones)
    far = statistics.fmean(above_others) - 0.5
    return _by_t(far, statistics.variance(above_others) / m, statistics.variance(above_ones) / n, m, n)


def _by_t(far: float, first: float, second: float, m: int, n: int) -> float:
    """Return p by Student's t with the degrees of freedom of Welch and Satterthwaite, from two squared standard
    errors."""
    spread = first + second
    if not spread:  # wholly apart, or all the same: what the exact test says of that holds
        return 0.0 if far else 1.0
    df = spread**2 / (first**2 / (m - 1) + second**2 / (n - 1))
    return min(1.0, 2 * t_above(abs(far) / math.sqrt(spread), df))


def _places(values: Sequence[float], among: Sequence[float]) -> list[float]:
    """Return for each value the share of the others that lie below it; of equal ones, half."""
    order = sorted(among)
    return [(bisect_left(order, value) + bisect_right(order, value)) / 2 / len(order) for value in values]


def apart(groups: Mapping[G, Sequence[float]], family: int, alpha: float) -> list[Named[G]]:
    """Return the groups whose middle is another than that of the rest, the farthest first. `family`: how many tests are
    made at once, here and elsewhere (Bonferroni). Of two groups none can be said to be the one that is off: then both
    are named, each against the other."""
    left, named = dict(groups), list[Named[G]]()
    while len(left) >= 2:
        ps = {
            one: p_apart(its_values, [value for other, values in left.items() if other != one for value in values])
            for one, its_values in left.items()
        }
        worst = min(ps, key=lambda one: ps[one])
        p = min(1.0, ps[worst] * family)
        if p > alpha:
            break
        others = tuple(one for one in left if one != worst)
        named.append(Named(worst, others, p))
        left.pop(worst)
        if len(others) == 1 and len(groups) == 2:
            named.append(Named(others[0], (worst,), p))
    return named
