"""One trial: its numbers, why it failed, its requests and files."""

from collections.abc import Iterator, Sequence

from lanelab.analysis.results.layout.model import Column, Part, Section, table, text_table, words
from lanelab.analysis.results.model import Trial
from lanelab.analysis.results.numbers import milliseconds, shown, size
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.journey import StepEvidence
from lanelab.driver.record.metrics import METRICS, STEP_METRICS, Metric, of_step
from lanelab.driver.record.record import TrialRecord

Requested = tuple[int, Request]  # with its number
URLS = "Urls are as the browser asks the gateway for them, with TLS: the link had none."


def heading(trial: Trial) -> str:
    """Return which trial it is."""
    again = f", attempt {trial.attempt}" if trial.attempt > 1 else ""
    return f"trial {trial.number}: {trial.cell}, round {trial.round}{again}: {'ok' if trial.ok else 'failed'}"


def trial_section(trial: Trial, record: TrialRecord, artifacts: Sequence[tuple[str, int | None]]) -> Section:
    """Lay out what is known of a trial. `artifacts` are names and sizes, of what is no longer there None."""
    return Section("trial", heading(trial), tuple(_parts(trial, record, artifacts)))


def _parts(trial: Trial, record: TrialRecord, artifacts: Sequence[tuple[str, int | None]]) -> Iterator[Part]:
    known = [(metric, trial.measures[metric.name]) for metric in METRICS if metric.name in trial.measures]
    times = [(metric.words, milliseconds(value)) for metric, value in known if metric.unit == "ms"]
    if times:
        yield text_table(("", "ms"), times, ("ms",))
    others = [(metric.words, shown(metric, value), metric.unit) for metric, value in known if metric.unit != "ms"]
    if others:
        yield text_table(("", "measured", "unit"), others, ("measured",))
    yield from words((f"failed: {each.reason}: {each.detail}" for each in record.failures), "warn")
    yield from words((f"flagged: {each.name}: {each.detail}" for each in trial.flags), "warn")
    if record.steps:
        yield table((*STEPS, *_of_vitals(trial, record.steps)), enumerate(record.steps, 1))
    page = record.page_load
    if record.requests:
        yield table(REQUESTS, enumerate(record.requests, 1))
        settings = trial.cell.arm.settings
        by_gateway = page is not None and page.browser is not None and settings.get("via") == "gateway"
        yield from words([URLS] if by_gateway and settings.get("tls") == "off" else [], "muted")
    console = page.browser.console if page and page.browser else ()
    yield from words(f"console: {line.level}: {line.text}" for line in console)
    if artifacts:
        sizes = [(name, "missing" if length is None else size(length)) for name, length in artifacts]
        yield text_table(("file", "size"), sizes, ("size",))


def _of_vitals(trial: Trial, steps: Sequence[StepEvidence]) -> Iterator[Column[tuple[int, StepEvidence]]]:
    """Yield a column for each of the vitals that a step of this trial has."""

    def column(metric: Metric) -> Column[tuple[int, StepEvidence]]:
        def of(each: tuple[int, StepEvidence]) -> str | None:
            value = trial.measures.get(of_step(metric.name, each[1].name))
            return None if value is None else shown(metric, value)

        return Column(metric.column, of, number=True)

    for metric in STEP_METRICS:
        if metric.column and any(of_step(metric.name, step.name) in trial.measures for step in steps):
            yield column(metric)


def _on_link(each: Requested) -> tuple[str | None, int | None]:
    """Return the protocol and the connection on the link: the gateway's, where there is one."""
    wire = each[1].wire or each[1]
    return wire.protocol or None, wire.connection


STEPS: Sequence[Column[tuple[int, StepEvidence]]] = (
    Column("step", lambda each: f"{each[0]}. {each[1].name}"),
    Column("address", lambda each: each[1].page),
    Column("thought ms", lambda each: f"{each[1].thought_ms:.0f}", number=True),
    Column("load ms", lambda each: milliseconds(each[1].times.plt_ms), number=True),
    Column("FCP ms", lambda each: milliseconds(each[1].times.fcp_ms), number=True),
    Column("requests", lambda each: each[1].requests, number=True),
    Column("in the capture from", lambda each: f"{each[1].clock.asked / 1_000_000:.6f}", number=True),
)
REQUESTS: Sequence[Column[Requested]] = (
    Column("#", lambda each: each[0], number=True),
    Column("from ms", lambda each: f"{each[1].started_ms:.1f}", number=True),
    Column("to ms", lambda each: None if each[1].ended_ms is None else f"{each[1].ended_ms:.1f}", number=True),
    Column("status", lambda each: str(each[1].status or each[1].error or "-")),
    Column("protocol", lambda each: _on_link(each)[0]),
    Column("conn.", lambda each: _on_link(each)[1], number=True),
    Column("priority", lambda each: each[1].priority or None),
    Column("bytes", lambda each: f"{each[1].wire_bytes:,}", number=True),
    Column("url", lambda each: each[1].url),
)
