"""What the load time of one step of a journey went to, by the waterfall of its requests. Pure.

At each moment of a step it is the first of these that was so: bytes of an answer came; a request was on its way or
waited for its answer; a connection was opened; none of it. What the browser's cache answers takes no part in it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.record import TrialRecord

if TYPE_CHECKING:
    from lanelab.analysis.results.load_parts import Row

Span = tuple[float, float]


class Course(StrEnum):
    """A state of the step, in the order in which they count."""

    ARRIVING = "arriving"
    WAITING = "waiting"
    OPENING = "opening"
    NOTHING = "nothing"


WORDS: Mapping[Course, str] = {
    Course.ARRIVING: "answers arriving",
    Course.WAITING: "waiting for answers",
    Course.OPENING: "opening connections",
    Course.NOTHING: "nothing in flight",
}
_PHASES: Mapping[Course, tuple[str, ...]] = {
    Course.ARRIVING: ("receive",),
    Course.WAITING: ("send", "wait"),
    Course.OPENING: ("dns", "connect", "ssl"),
}


@dataclass(frozen=True, slots=True)
class StepCourse:
    """One step of one trial."""

    ms: Mapping[Course, float]  # which add up to its load time
    bytes: int  # of its answers, with their headers, as the browser counts them on the wire


def step_course(record: TrialRecord, step: str) -> StepCourse | None:
    """Return what a step's time went to; None where the record has no such step, or no time of it."""
    # Drawings read captures, whose libraries take longer to load than a run to be shown.
    from lanelab.analysis.results.load_view import load_view  # noqa: PLC0415
    from lanelab.analysis.results.step_views import views_of_steps  # noqa: PLC0415

    begin = 0
    for each in record.steps:
        requests = record.requests[begin : begin + each.requests]
        begin += each.requests
        if each.name == step and each.times.plt_ms is not None:
            views = dict(views_of_steps(record, load_view(record, None, None)))
            rows = views[step].rows if step in views else ()
            return StepCourse(course_of(rows, each.times.plt_ms), _bytes(requests))
    return None


def course_of(rows: "Iterable[Row]", end_ms: float) -> dict[Course, float]:
    """Return how long each was the case, from when the step was asked for until its end."""
    bars = [bar for row in rows if not row.request.from_cache for bar in row.bars]
    took: dict[Course, float] = {}
    spans: list[Span] = []
    before = 0.0
    for course, phases in _PHASES.items():
        spans += [(bar.start, bar.end) for bar in bars if bar.phase in phases]
        covered = covered_ms(spans, end_ms)
        took[course], before = round(covered - before, 3), covered
    return {**took, Course.NOTHING: round(end_ms - before, 3)}


def covered_ms(spans: Sequence[Span], end_ms: float) -> float:
    """Return how much of the time from 0 to `end_ms` lies in at least one of these."""
    total, reached = 0.0, 0.0
    for start, end in sorted(spans):
        begin, until = max(start, reached), min(end, end_ms)
        if until > begin:
            total += until - begin
            reached = until
    return total


def _bytes(requests: Iterable[Request]) -> int:
    return sum(each.wire_bytes for each in requests)
