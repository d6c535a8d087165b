"""Several comparisons at once: p values that hold for all of them together (Holm 1979)."""

import itertools
from collections.abc import Sequence

from lanelab.analysis.statistics.median import ALPHA


def holm(values: Sequence[float]) -> list[float]:
    """Each p adjusted: where only those at or below alpha are believed, the chance of believing even one wrongly is at
    most alpha, however the comparisons hang together."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    adjusted = [0.0] * len(values)
    largest = 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - place) * values[i]))
        adjusted[i] = largest
    return adjusted


def rounds_to_tell(comparisons: int) -> int:
    """Return the fewest rounds in which one of so many comparisons can be told from chance: where all n rounds go one
    way the signed-rank test has p = 2^(1-n), and Holm takes the least p times the number of comparisons."""
    return next(n for n in itertools.count(1) if comparisons * 2.0 ** (1 - n) <= ALPHA)
