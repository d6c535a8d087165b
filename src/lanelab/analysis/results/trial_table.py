"""One trial on a terminal: its numbers, why it failed, its requests and files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lanelab.analysis.results.model import Trial
from lanelab.analysis.results.numbers import milliseconds, shown, size
from lanelab.driver.record.metrics import METRICS


def heading(trial: Trial) -> str:
    """Which trial it is."""
    cell = trial.cell
    again = f", attempt {trial.attempt}" if trial.attempt > 1 else ""
    where = f"{cell.site}, {cell.link.label}, {cell.arm.name}, round {trial.round}{again}"
    return f"trial {trial.number}: {where}: {'ok' if trial.ok else 'failed'}"


def trial_parts(
    trial: Trial, record: Mapping[str, Any], artifacts: Sequence[tuple[str, int | None]]
) -> Iterator[RenderableType]:
    """Each to be printed below the one before. `artifacts` are names and sizes, of what is no longer there None."""
    known = [(metric, trial.measures[metric.name]) for metric in METRICS if metric.name in trial.measures]
    times = [(metric.words, milliseconds(value)) for metric, value in known if metric.unit == "ms"]
    if times:
        yield _table(("", "ms"), times, ("ms",))
    others = [(metric.words, shown(metric, value), metric.unit) for metric, value in known if metric.unit != "ms"]
    if others:
        yield _table(("", "measured", "unit"), others, ("measured",))
    for failure in record.get("failures") or []:
        yield Text(f"failed: {failure.get('reason', '')}: {failure.get('detail', '')}", style="yellow")
    for flag in trial.flags:
        yield Text(f"flagged: {flag.name}: {flag.detail}", style="yellow")
    requests = record.get("requests") or []
    if requests:
        columns = ("#", "from ms", "to ms", "status", "protocol", "conn.", "priority", "bytes", "url")
        rows = [_request(number, request) for number, request in enumerate(requests, 1)]
        yield _table(columns, rows, ("#", "from ms", "to ms", "conn.", "bytes"))
        settings = trial.cell.arm.settings
        if settings.get("via") == "gateway" and settings.get("tls") == "off":
            yield Text("Urls are as the browser asks the gateway for them, with TLS: the link had none.", style="dim")
    for line in record.get("console") or []:
        yield Text(f"console: {line.get('level', '')}: {line.get('text', '')}")
    if artifacts:
        yield _table(
            ("file", "size"),
            [(name, "missing" if length is None else size(length)) for name, length in artifacts],
            ("size",),
        )


def _request(number: int, request: Mapping[str, Any]) -> tuple[str, ...]:
    ended = request.get("ended_ms")
    wire = request.get("wire") or request  # what was on the link: the gateway's, where there is one
    connection = wire.get("connection")
    return (
        str(number),
        f"{request.get('started_ms') or 0:.1f}",
        "-" if ended is None else f"{ended:.1f}",
        str(request.get("status") or request.get("error") or "-"),
        str(wire.get("protocol") or "-"),
        "-" if connection is None else str(connection),
        str(request.get("priority") or "-"),
        f"{request.get('wire_bytes') or 0:,}",
        str(request.get("url", "")),
    )


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*map(Text, row))
    return made
