"""The axis of the values of a chart: where it begins and ends, and whether it is logarithmic."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from lanelab.analysis.results import vega
from lanelab.analysis.results.drawing import Drawing, Panel, Point

OWN_FROM = 3.5  # times between the highest values of two panels
ROOM = 0.06  # of the axis, beyond the values
LOG_ROOM = 1.12
STEPS = (1, 2, 5)
LEAST_TICKS = 3
WITH_PUBLISHED = ("line", "bar", "series")  # kinds of charts that show what was published


@dataclass(frozen=True, slots=True)
class Span:
    low: float
    high: float
    logarithmic: bool = False

    def clip(self, value: float) -> float:
        """An end that is infinite ends with the axis."""
        return min(max(value, self.low), self.high)

    def share(self, value: float) -> float:
        """Return the share of the way along the axis."""
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def scale(self) -> vega.Part:
        kind = "log" if self.logarithmic else "linear"
        return vega.options(type=kind, domain=[self.low, self.high], nice=False, zero=False)

    def axis(self) -> vega.Part:
        """Round numbers; on a logarithmic axis 1, 2 and 5 of each power of ten, more where it is short."""
        if not self.logarithmic:
            return vega.options()
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        ticks: list[float] = []
        for steps in (STEPS, range(1, 10), [each / 10 for each in range(10, 100)]):  # until three are on the axis
            values = (step * 10.0**power for power in powers for step in steps)
            ticks = [tick for tick in values if self.low <= tick <= self.high]
            if len(ticks) >= LEAST_TICKS:
                break
        return vega.options(values=ticks, format=",~g")

    def title(self, words: str) -> str:
        if self.logarithmic:
            return f"{words}; logarithmic"
        return words if self.low <= 0 <= self.high else f"{words}; the axis does not begin at 0"


def span(drawing: Drawing, panel: Panel, *, of_trials: bool = False) -> Span:
    """Return the span for the intervals of a panel, or `of_trials`: for single trials. One for all panels where that
    serves all."""
    points = _of(panel) if not of_trials and own_scales(drawing) else list(drawing.points())
    ends = [end for point in points for end in (_of_trials(point) if of_trials else _of_interval(point))]
    ends += drawing.published.ends if drawing.kind in WITH_PUBLISHED else []
    ends += [] if drawing.limit is None else [drawing.limit]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    if drawing.scale == "log" and low > 0:
        return Span(low / LOG_ROOM, high * LOG_ROOM, logarithmic=True)
    if drawing.measured.is_change:
        low, high = min(low, 0.0), max(high, 0.0)
        room = (high - low) * ROOM or 1.0
        return Span(low - room, high + room)
    room = (high - low) * ROOM or high * 0.05 or 1.0
    near_zero = low < (high - low) * 0.5
    if drawing.scale == "fit" or (of_trials and not drawing.scale and not near_zero):
        return Span(max(0.0, low - room), high + room)
    return Span(0.0, high * (1 + ROOM) or 1.0)


def own_scales(drawing: Drawing) -> bool:
    """Return whether one scale for all panels would leave one of them a flat line."""
    if drawing.kind not in ("line", "bar", "series") or drawing.measured.is_change or drawing.scale == "log":
        return False
    tops = [max((end for point in _of(panel) for end in _of_interval(point)), default=0.0) for panel in drawing.panels]
    return max(tops) > OWN_FROM * min(tops)


def _of(panel: Panel) -> list[Point]:
    return [point for series in panel.series for point in series.points]


def _of_interval(point: Point) -> Iterable[float]:
    ends = (point.mark.low, point.mark.middle, point.mark.high)
    return (end for end in ends if end is not None and math.isfinite(end))


def _of_trials(point: Point) -> Iterable[float]:
    return (value for value in point.mark.values if math.isfinite(value))
