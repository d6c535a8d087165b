"""How well something is known, for a run that goes on until it is known well enough. An interval that is not as sure as
it should be, for want of values, has no ends."""

import math
from collections.abc import Mapping, Sequence

from lanelab.analysis.statistics.median import estimate
from lanelab.analysis.statistics.paired import compare
from lanelab.analysis.statistics.strata import MadeOn


class _Known:
    """Of trials so far: low end, estimate, high end."""

    def median(self, values: Sequence[float], alpha: float) -> tuple[float, float, float]:
        summary = estimate(values, alpha)
        return _sure(summary.low, summary.median, summary.high, sure=summary.confidence >= 1 - alpha)

    def change(
        self,
        base: Mapping[int, float],
        arm: Mapping[int, float],
        alpha: float,
        machines: tuple[MadeOn, MadeOn] | None = None,
    ) -> tuple[float, float, float] | None:
        comparison = compare(base, arm, alpha=alpha, machines=machines)
        if comparison is None:
            return None
        return _sure(
            comparison.ratio.low,
            comparison.ratio.value,
            comparison.ratio.high,
            sure=comparison.ratio.confidence >= 1 - alpha,
        )


def _sure(low: float | None, middle: float, high: float | None, *, sure: bool) -> tuple[float, float, float]:
    if low is None or high is None or not sure:
        return -math.inf, middle, math.inf
    return low, middle, high


KNOWN = _Known()
