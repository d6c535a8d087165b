"""One trial on a terminal: its numbers, why it failed, its requests and files."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lanelab.analysis.results.model import Trial
from lanelab.analysis.results.numbers import milliseconds, shown, size
from lanelab.driver.record.evidence.browser import ConsoleLine, Request
from lanelab.driver.record.metrics import METRICS
from lanelab.driver.record.record import TrialRecord


def heading(trial: Trial) -> str:
    """Return which trial it is."""
    cell = trial.cell
    again = f", attempt {trial.attempt}" if trial.attempt > 1 else ""
    where = f"{cell.site}, {cell.link.label}, {cell.arm.name}, round {trial.round}{again}"
    return f"trial {trial.number}: {where}: {'ok' if trial.ok else 'failed'}"


def trial_parts(
    trial: Trial, record: TrialRecord, artifacts: Sequence[tuple[str, int | None]]
) -> Iterator[RenderableType]:
    """Yield each to be printed below the one before. `artifacts` are names and sizes, of what is no longer there
    None."""
    known = [(metric, trial.measures[metric.name]) for metric in METRICS if metric.name in trial.measures]
    times = [(metric.words, milliseconds(value)) for metric, value in known if metric.unit == "ms"]
    if times:
        yield _table(("", "ms"), times, ("ms",))
    others = [(metric.words, shown(metric, value), metric.unit) for metric, value in known if metric.unit != "ms"]
    if others:
        yield _table(("", "measured", "unit"), others, ("measured",))
    for failure in record.failures:
        yield Text(f"failed: {failure.reason}: {failure.detail}", style="yellow")
    for flag in trial.flags:
        yield Text(f"flagged: {flag.name}: {flag.detail}", style="yellow")
    if record.requests:
        columns = ("#", "from ms", "to ms", "status", "protocol", "conn.", "priority", "bytes", "url")
        rows = [_request(number, request) for number, request in enumerate(record.requests, 1)]
        yield _table(columns, rows, ("#", "from ms", "to ms", "conn.", "bytes"))
        settings = trial.cell.arm.settings
        if settings.get("via") == "gateway" and settings.get("tls") == "off":
            yield Text("Urls are as the browser asks the gateway for them, with TLS: the link had none.", style="dim")
    for line in _console(record):
        yield Text(f"console: {line.level}: {line.text}")
    if artifacts:
        yield _table(
            ("file", "size"),
            [(name, "missing" if length is None else size(length)) for name, length in artifacts],
            ("size",),
        )


def _console(record: TrialRecord) -> Sequence[ConsoleLine]:
    page = record.page_load
    return page.browser.console if page and page.browser else ()


def _request(number: int, request: Request) -> tuple[str, ...]:
    wire = request.wire or request  # what was on the link: the gateway's, where there is one
    return (
        str(number),
        f"{request.started_ms:.1f}",
        "-" if request.ended_ms is None else f"{request.ended_ms:.1f}",
        str(request.status or request.error or "-"),
        wire.protocol or "-",
        "-" if wire.connection is None else str(wire.connection),
        request.priority or "-",
        f"{request.wire_bytes:,}",
        request.url,
    )


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*map(Text, row))
    return made
