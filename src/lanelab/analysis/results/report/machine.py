"""The part of the report that says whether the machines had time for the trials."""

from collections.abc import Sequence

from lanelab.analysis.results import machine
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import scroll
from lanelab.analysis.results.machine import SHARES, TIMES, MachineRow
from lanelab.analysis.results.model import Run, Trial
from lanelab.analysis.results.numbers import percent
from lanelab.analysis.results.report.sections import place_of, section

MOST_FLAGGED = 12  # trials whose flags are listed
NOTE = (
    "Medians of the trials that count, from just before each load to just after it. Processor time is in seconds; the "
    "bar has its parts. Busy, stolen: shares of all processors' time. Waiting: the share of the load's time in which "
    f"something waited for a processor. A flag says why a trial's numbers may be the machine's: {machine.REFERENCE}."
)
HEADS = {
    "cpu_client_s": "browser",
    "cpu_server_s": "server",
    "cpu_gateway_s": "gateway",
    "cpu_router_s": "router",
    "cpu_capture_s": "capture",
    "cpu_harness_s": "lanelab",
    "cpu_other_s": "all else",
    "cpu_busy": "busy",
    "pressure_cpu_some": "waiting",
    "cpu_steal": "stolen",
}
BAR_WIDTH, BAR_HEIGHT = 160, 10


def section_of(run: Run) -> Html | None:
    """Return the section; None where no machine was watched."""
    rows = machine.rows(run)
    if not rows:
        return None
    names = [name for name in (*TIMES, *SHARES) if any(name in row.medians for row in rows)]
    most = max((sum(row.medians.get(name, 0.0) for name in TIMES) for row in rows), default=0.0)
    heads = [
        "site, link" if len({cell.site for cell in run.cells}) > 1 else "link",
        "arm",
        "",
        *(HEADS[name] for name in names),
        "flagged",
    ]
    head = el("tr", [_head(word, at) for at, word in enumerate(heads)])
    several = len({cell.site for cell in run.cells}) > 1
    body = [_row(row, names, most, several=several) for row in rows]
    table = el("table", el("thead", head), el("tbody", body))
    sentence = machine.sentence(run) or "No trial that counts is flagged"
    children = [el("p", f"{sentence}."), _flags(machine.flagged(run)), scroll(table), el("p", NOTE, class_="note")]
    return section("machine", "Machine", children)


def _head(word: str, at: int) -> Html:
    """Return the head, with the colour that the bar has for it."""
    colour = next((number for number, name in enumerate(TIMES) if HEADS[name] == word), None)
    dot = None if colour is None else el("i", class_=f"dot s{colour}")
    return el("th", dot, word, scope="col", class_="num" if at > 2 else None)


def _row(row: MachineRow, names: Sequence[str], most: float, *, several: bool) -> Html:
    return el(
        "tr",
        el("td", place_of(row.cell, several=several)),
        el("td", row.cell.arm.name),
        el("td", _bar(row, most)),
        [el("td", _number(name, row.medians.get(name)), class_="num") for name in names],
        el("td", f"{row.flagged} of {row.trials}", class_="num"),
    )


def _number(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return percent(value * 100) if name in SHARES else f"{value:.2f}"


def _bar(row: MachineRow, most: float) -> Html:
    """Return processor time, a colour for each part."""
    parts, left = [], 0.0
    for number, name in enumerate(TIMES):
        width = row.medians.get(name, 0.0) / most * BAR_WIDTH if most else 0.0
        title = el("title", f"{HEADS[name]}: {row.medians.get(name, 0.0):.2f} s")
        parts.append(
            el("rect", title, x=round(left, 2), y=0, width=round(width, 2), height=BAR_HEIGHT, fill=f"var(--s{number})")
        )
        left += width
    words = "Processor time by part"
    return el("svg", parts, class_="spark", width=BAR_WIDTH, height=BAR_HEIGHT, role="img", aria_label=words)


def _flags(trials: Sequence[Trial]) -> Html | None:
    if not trials:
        return None
    listed = [
        el("li", el("b", f"trial {trial.number}, {flag.name}"), f": {flag.detail}")
        for trial in trials[:MOST_FLAGGED]
        for flag in trial.flags
    ]
    more = len(trials) - MOST_FLAGGED
    rest = el("p", f"and {more} more: lanelab show RUN --trial N") if more > 0 else None
    return el("details", el("summary", "What flagged them"), el("ul", listed), rest)
