"""From requests with their times to series at 1 Hz. Pure."""

from collections.abc import Sequence
from typing import TypeVar

from lanelab.driver.record.load_series import SERIES
from lanelab.driver.record.series import Series

SECOND_MS = 1000
Value = TypeVar("Value")


def series(requests: Sequence[tuple[float, float, bool]]) -> dict[str, Series]:
    """Return series of requests: when each began, how long it took (ms), and whether it ended well. A second's values
    are at its end. The last, which is not whole, is left out."""
    if not requests:
        return {}
    zero = min(began for began, _, _ in requests)
    ends = [(began + took - zero, took, well) for began, took, well in requests]
    whole = int(max(end for end, _, _ in ends) // SECOND_MS)
    well: list[list[float]] = [[] for _ in range(whole)]
    failed = [0] * whole
    for end, took, ended_well in ends:
        second = int(end // SECOND_MS)
        if second >= whole:
            continue
        if ended_well:
            well[second].append(took)
        else:
            failed[second] += 1
    by_name = {"requests_per_s": [(at, float(len(times))) for at, times in _at(well)]}
    by_name["request_ms"] = [(at, sum(times) / len(times)) for at, times in _at(well) if times]
    by_name["errors_per_s"] = [(at, float(count)) for at, count in _at(failed)]
    return series_of(by_name)


def _at(values: Sequence[Value]) -> list[tuple[float, Value]]:
    return [(float((number + 1) * SECOND_MS), value) for number, value in enumerate(values)]


def series_of(points_by_name: dict[str, list[tuple[float, float]]]) -> dict[str, Series]:
    """Return series as a record has them; one without a point is left out."""
    return {name: Series(SERIES[name].unit, tuple(points)) for name, points in points_by_name.items() if points}
