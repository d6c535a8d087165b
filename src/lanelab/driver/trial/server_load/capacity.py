"""Numbers of a load that only its course over time tells: where it was at its best, and where it broke. Pure.

All of it is read off lines over spans of 30 s, as figures draw them: docs/reference/load.md#measures-of-a-course.
"""

import math
from collections.abc import Mapping

from lanelab.driver.record.load_spans import Lines, combined, first_reached, line, spans, value_at
from lanelab.driver.record.metrics import GENERATOR_FULL_S
from lanelab.driver.record.series import Series
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.server_load.generator_full import SPAN_MS, GeneratorFull

LEVEL = 0.95  # of its most: from there on, a number that goes up and down counts as being there
NONE_LEFT = 0.05  # of all workers may be idle where all of them count as busy
PAGE_TIMES = "page_all_ms"  # of those that ended alone, users who starve would be left out
PAGES, USERS, BUSY, IDLE = "pages_per_s", "users", "workers_busy", "workers_idle"
UNDER_WAY, FAILED = "pages_under_way", "page_errors_per_s"
ERRORS = ("errors_per_s", FAILED)


def derive(series: Mapping[str, Series], settings: LoadSettings, full: GeneratorFull | None = None) -> dict[str, float]:
    """Derive measures by the names of driver/record/metrics.py. What its series do not tell is not there.
    `full`: from when on the generator was the limit."""
    course = _Course(series, settings, full.from_ms if full else math.inf)
    return {
        **({GENERATOR_FULL_S: full.from_ms / 1000} if full else {}),
        **_most_pages(course),
        **_service_level(course, settings.limit_ms),
        **_first_error(course),
        **_workers(course),
    }


class _Course:
    """The series of a load from the end of its warm-up, until its generator is what limits it."""

    def __init__(self, series: Mapping[str, Series], settings: LoadSettings, until_ms: float) -> None:
        self.series = series
        self.begin_ms = settings.first_point_ms
        self.until_ms = until_ms
        ends = [series[name].points[-1][0] for name in (PAGES, USERS) if name in series and series[name].points]
        self.end_ms = min(max(ends, default=self.begin_ms), self.until_ms)
        self.span_ms = min(SPAN_MS, self.end_ms - self.begin_ms)
        self.ramps = len({stage.target for stage in settings.users}) > 1

    def line(self, name: str) -> Lines:
        return line(self.series, name, self.span_ms, self.begin_ms, self.end_ms)

    def users(self, t_ms: float) -> float | None:
        """None where their number tells nothing: it is the same all the time, or follows from arrivals."""
        return value_at(self.series[USERS].points, t_ms) if self.ramps and USERS in self.series else None

    def most_users(self) -> float | None:
        """Of a span: what a load says of users is said of spans."""
        known = [users for t_ms, _ in self.line(USERS) if (users := self.users(t_ms)) is not None]
        return max(known, default=None)


def _most_pages(course: _Course) -> dict[str, float]:
    known = [(value, t_ms) for t_ms, value in course.line(PAGES) if value is not None]
    if not known:
        return {}
    most = max(value for value, _ in known)
    at = next(t_ms for value, t_ms in known if value == most)
    users = course.users(at)
    return {
        "pages_per_s_most": most,
        "pages_most_at_s": at / 1000,
        **({} if users is None else {"users_at_pages_most": users}),
    }


def _service_level(course: _Course, limit_ms: float) -> dict[str, float]:
    """Return where pages first take as long as the limit. A load that ended before says that it lies beyond its most
    users."""
    pages = _page_times(course, limit_ms)
    if not limit_ms or not any(value is not None for _, value in pages):
        return {}
    at = first_reached(pages, limit_ms)
    return {**({} if at is None else {"limit_at_s": at / 1000}), **_users_when("users_at_limit", course, at)}


def _page_times(course: _Course, limit_ms: float) -> Lines:
    """The line of page times. Pages that never end are in no mean, and one that fails at once is quick: where none of a
    span's pages ended, they took longer than any limit."""
    every = spans(course.span_ms, course.begin_ms, course.end_ms)
    return [
        (t_ms, math.inf if _none_ended(course, value, limit_ms, (begin, end)) else value)
        for (t_ms, value), (begin, end) in zip(course.line(PAGE_TIMES), every, strict=True)
    ]


def _none_ended(course: _Course, value: float | None, limit_ms: float, span: tuple[float, float]) -> bool:
    """Return whether pages failed, or were under way for a span that is longer than the limit, and none ended: all of
    that was read, and not only missing."""
    if (value is not None and value >= limit_ms) or combined(course.series, PAGES, *span) != 0:
        return False
    hung = value is None and course.span_ms >= limit_ms and combined(course.series, UNDER_WAY, *span)
    return bool(hung or combined(course.series, FAILED, *span))


def _first_error(course: _Course) -> dict[str, float]:
    courses = [course.series[name].points for name in ERRORS if name in course.series]
    if not any(courses):
        return {}
    during = [each for points in courses for each in points if course.begin_ms <= each[0] <= course.until_ms]
    failed = [t_ms for t_ms, value in during if value > 0]
    at = min(failed, default=None)
    return {**({} if at is None else {"first_error_at_s": at / 1000}), **_users_when("first_error_users", course, at)}


def _users_when(name: str, course: _Course, at_ms: float | None) -> dict[str, float]:
    """Return how many there were, or where it did not happen: that it would take more than this."""
    users = course.most_users() if at_ms is None else course.users(at_ms)
    return {} if users is None else {name: users, f"{name}_censored": float(at_ms is None)}


def _workers(course: _Course) -> dict[str, float]:
    """Return when a server had no worker left, when its pages per second came to their most, and how far these lie
    apart: next to nothing where workers are what limits it. Claims ask for the ratio: an interval is worked out of
    logarithms, and those of next to nothing lie far apart."""
    full = _full_at(course)
    if full is None:
        return {}
    pages = course.line(PAGES)
    most = max((value for _, value in pages if value is not None), default=0.0)
    at = first_reached(pages, LEVEL * most) if most else None
    measures = {"workers_full_s": full / 1000}
    if at is None:
        return measures
    apart = {"starvation_gap_s": abs(at - full) / 1000, "starvation_ratio": at / full}
    return {**measures, "pages_full_s": at / 1000, **apart}


def _full_at(course: _Course) -> float | None:
    """Return when busy workers came to their most, if that is a number at which next to none were idle."""
    busy, idle = course.line(BUSY), course.line(IDLE)
    most = max((many for _, many in busy if many is not None), default=0.0)
    both = [(many, rest) for (_, many), (_, rest) in zip(busy, idle, strict=True) if many and rest is not None]
    none_left = any(many >= LEVEL * most and rest <= NONE_LEFT * (many + rest) for many, rest in both)
    return first_reached(busy, LEVEL * most) if none_left else None
