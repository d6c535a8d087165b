"""How long pages take, those that have not ended included. Pure.

The times of pages that ended leave out all that wait: where a server lets some users in and others not, they stay short
while users starve. How many pages are under way, divided by how many leave per second, is the mean time that all of
them take (Little's law), and pages that failed are among those that leave.
"""

import bisect
import math
from collections.abc import Mapping

from lanelab.driver.record.record import Series

NAME = "page_all_ms"
UNDER_WAY, LEAVING = "pages_under_way", ("pages_per_s", "page_errors_per_s")
AROUND_MS = 15_000.0  # before and after each point: as many pages leave in it as come, but for the slope of a ramp
LEAST = 0.9  # of the seconds around a point were read, or it has none


def with_waiting(series: Mapping[str, Series]) -> dict[str, Series]:
    """The series with that of all pages, where there is what it takes."""
    if any(name not in series for name in (UNDER_WAY, *LEAVING)):
        return dict(series)
    known = {name: _Sums(series[name]) for name in (UNDER_WAY, *LEAVING)}
    points = []
    for at_ms, _ in series[UNDER_WAY].points:
        begin = max(at_ms - AROUND_MS, 0.0)
        end = min(at_ms + AROUND_MS, series[UNDER_WAY].points[-1][0] + 1)
        waiting = known[UNDER_WAY].mean(begin, end)
        leaving = [known[name].mean(begin, end) for name in LEAVING]
        if waiting is None or None in leaving or not sum(value or 0.0 for value in leaving):
            continue
        points.append((at_ms, round(1000 * waiting / sum(value or 0.0 for value in leaving), 3)))
    return {**series, **({NAME: Series("ms", tuple(points))} if points else {})}


class _Sums:
    """Means of a series between two times, each in the same time."""

    def __init__(self, series: Series) -> None:
        self._times = [at_ms for at_ms, _ in series.points]
        self._sums = [0.0]
        for _, value in series.points:
            self._sums.append(self._sums[-1] + value)

    def mean(self, begin_ms: float, end_ms: float) -> float | None:
        """None where too much is missing."""
        first, last = bisect.bisect_left(self._times, begin_ms), bisect.bisect_left(self._times, end_ms)
        due = math.floor((end_ms - begin_ms) / 1000)
        if last - first < max(LEAST * due, 1):
            return None
        return (self._sums[last] - self._sums[first]) / (last - first)
