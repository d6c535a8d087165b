"""Whether cells have been measured well enough: a fixed number of trials, or an interval that is narrow. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence

from driver.experiment.model import Repeat

Interval = Callable[[Sequence[float]], tuple[float, float]]  # the confidence interval of a sample's median


def undecided(values_by_cell: Mapping[str, Sequence[float]], repeat: Repeat, interval: Interval) -> list[str]:
    """The cells that need more trials."""
    return [cell for cell, values in values_by_cell.items() if _needs_more(values, repeat, interval)]


def needs_more(values_by_cell: Mapping[str, Sequence[float]], repeat: Repeat, interval: Interval) -> bool:
    """Whether another round is needed. It then has every cell, so that arms stay paired by round."""
    return bool(undecided(values_by_cell, repeat, interval))


def _needs_more(values: Sequence[float], repeat: Repeat, interval: Interval) -> bool:
    if len(values) < repeat.min:
        return True
    if repeat.ci is None or len(values) >= repeat.max:
        return False
    low, high = interval(values)
    median = statistics.median(values)
    return max(high - median, median - low) > repeat.ci.fraction * median
