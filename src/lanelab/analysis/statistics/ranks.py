"""Ranks of values, and whether groups of them have another middle: an analysis of variance, of ranks or of values."""

import statistics
from collections.abc import Sequence

from lanelab.analysis.statistics.distributions import f_above

Groups = Sequence[Sequence[float]]


def ranks(values: Sequence[float]) -> list[float]:
    """Return the ranks of the values, from 1. Equal values share the mean of their ranks."""
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values), 1):
        places.setdefault(value, []).append(place)
    return [statistics.fmean(places[value]) for value in values]


def squares(groups: Groups) -> tuple[float, float]:
    """Return the sums of squares between groups and within."""
    middle = statistics.fmean(value for group in groups for value in group)
    means = [statistics.fmean(group) for group in groups]
    among = sum(len(group) * (mean - middle) ** 2 for group, mean in zip(groups, means, strict=True))
    inside = sum((value - mean) ** 2 for group, mean in zip(groups, means, strict=True) for value in group)
    return among, inside


def p_alike(groups: Groups) -> float | None:
    """How likely groups whose means differ this much are where the means are equal (F test). Of ranks it needs no
    normal distribution (Conover and Iman 1981). None where it cannot be told."""
    n, k = sum(map(len, groups)), len(groups)
    if k < 2 or n <= k:
        return None
    among, inside = squares(groups)
    if not inside:
        return 0.0 if among else None
    return f_above(among / (k - 1) / (inside / (n - k)), k - 1, n - k)
