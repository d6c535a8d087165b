"""Series of a load over spans of time: what figures draw, and what metrics are worked out from. Pure."""

import bisect
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from lanelab.driver.record.load_series import SERIES
from lanelab.driver.record.series import Series

Points = Sequence[tuple[float, float]]  # ms since the load began, value
Lines = Sequence[tuple[float, float | None]]  # ms of the middle of a span, value; None: nothing was read in it


def combined(series: Mapping[str, Series], name: str, begin_ms: float, end_ms: float) -> float | None:
    """Return what several points of a series are together, from `begin_ms` until before `end_ms`; None where there are
    none. A mean of means counts each as often as values are in it: a second that says nothing of that is left out."""
    points = within(series[name].points, begin_ms, end_ms) if name in series else ()
    kind = SERIES[name]
    if kind.weight:
        many = dict(within(series[kind.weight].points, begin_ms, end_ms)) if kind.weight in series else {}
        weights = [many.get(t_ms, 0.0) for t_ms, _ in points]
        together = math.fsum(weights)
        means = zip(weights, points, strict=True)
        return math.fsum(weight * value for weight, (_, value) in means) / together if together else None
    values = [value for _, value in points]
    if not values:
        return None
    if kind.combined == "largest":
        return max(values)
    return math.fsum(values) / (len(values) if kind.combined == "mean" else 1)


def line(series: Mapping[str, Series], name: str, every_ms: float, begin_ms: float, end_ms: float) -> Lines:
    """Return a value for each span. A last one that is cut short counts where half of it is there."""
    return [((begin + end) / 2, combined(series, name, begin, end)) for begin, end in spans(every_ms, begin_ms, end_ms)]


def spans(every_ms: float, begin_ms: float, end_ms: float) -> Iterator[tuple[float, float]]:
    """Yield where spans begin and end, one after the other: none where there is no time."""
    if end_ms <= begin_ms:
        return
    for number in range(max(0, int((end_ms - begin_ms) / every_ms + 0.5))):
        begin = begin_ms + number * every_ms
        yield begin, begin + every_ms


def value_at(points: Points, t_ms: float) -> float | None:
    """Interpolate on the straight line between points; before the first and after the last that one's value."""
    if not points:
        return None
    after = bisect.bisect_left(points, t_ms, key=lambda point: point[0])
    if after in (0, len(points)):
        return points[min(after, len(points) - 1)][1]
    (t_0, low), (t_1, high) = points[after - 1], points[after]
    return low + (high - low) * (t_ms - t_0) / (t_1 - t_0)


def first_reached(along: Lines, level: float) -> float | None:
    """Find when a line first comes to this level, in ms: between two spans on the straight line between their middles;
    at a span whose value is infinite, or that stands behind a gap, as soon as it is certain."""
    if not along:
        return None
    if along[0][1] is not None and along[0][1] >= level:
        return along[0][0]
    for (t_0, low), (t_1, high) in itertools.pairwise(along):
        if high is None or high < level:
            continue
        if low is None:
            return t_1
        if math.isinf(high):
            return (t_0 + t_1) / 2
        return t_0 + (t_1 - t_0) * (level - low) / (high - low)
    return None


def within(points: Points, begin_ms: float, end_ms: float) -> Points:
    """Return the points from `begin_ms` until before `end_ms`."""
    first, last = (bisect.bisect_left(points, at, key=lambda point: point[0]) for at in (begin_ms, end_ms))
    return points[first:last]
