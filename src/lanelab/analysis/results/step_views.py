"""The steps of a journey, each as a load of its own on a clock that begins when it was asked for. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from lanelab.analysis.results import load_clock
from lanelab.analysis.results.load_parts import LoadView, Row
from lanelab.analysis.results.load_view import EVENTS
from lanelab.driver.record.evidence.journey import StepEvidence
from lanelab.driver.record.record import TrialRecord

US_OF_MS = 1000


def views_of_steps(record: TrialRecord, whole: LoadView) -> list[tuple[str, LoadView]]:
    """Return the name and the view of each step that made requests. `whole`: the view of the journey. Connections,
    which are of several steps, are drawn there."""
    rows = {id(row.request): row for row in whole.rows}
    views, begin = [], 0
    for step in record.steps:
        shown = [rows[id(each)] for each in record.requests[begin : begin + step.requests] if id(each) in rows]
        begin += step.requests
        if shown:
            views.append((step.name, _view(shown, step, (step.clock.asked - record.steps[0].clock.asked) / US_OF_MS)))
    return views


def _view(rows: Sequence[Row], step: StepEvidence, since_ms: float) -> LoadView:
    later, times = load_clock.page_shift(step.clock), step.times.to_json()
    events = [(name, float(value) + later) for name, key in EVENTS if isinstance(value := times.get(key), int | float)]
    moved = (_moved(row, since_ms) for row in rows)
    return LoadView(tuple(moved), (), None, tuple(events), (), any(row.request.wire for row in rows))


def _moved(row: Row, by_ms: float) -> Row:
    bars = tuple(bar._replace(start=bar.start - by_ms, end=bar.end - by_ms) for bar in row.bars)
    return replace(row, bars=bars, sent=None if row.sent is None else row.sent - by_ms, chunks=())
