"""The part of the report that says which machines made the run, and whether they agree."""

from collections.abc import Sequence
from typing import Any

from lanelab.analysis.results.beds_table import Words, numbers, of_bed
from lanelab.analysis.results.between_beds import CellRow, ChangeRow
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.page import scroll
from lanelab.analysis.results.machines import MachineRow, MachinesOfRun
from lanelab.analysis.results.machines_table import OVER
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.numbers import change_words, in_unit, shown
from lanelab.analysis.results.report.sections import section

HEADS = ("machine", "system", "kernel", "processor", "processors", "memory", "clock", "beds", "trials", "failed",
         "links refused")  # fmt: skip
NUMBERS = ("processors", "memory", "clock", "beds", "trials", "failed")
NOTE = (
    "Pairs are within one machine; docs/statistics.md says why, and how often a machine is named wrongly. Clock: how "
    "far it was ahead of the controller's when the machine joined; times of trials are corrected by it. Over all: the "
    "middle of the machines (geometric mean), each counting once; the interval is Student's t over them. In brackets: "
    "a machine with less than half as many trials as usual, which does not count there."
)


def section_of(run: Run, made: MachinesOfRun) -> Html | None:
    """Return the section; None for one machine of which there is nothing to say."""
    origins = made.origin_words()
    sentences = [el("p", sentence) for sentence in made.sentences()]
    taken = el("p", origins) if origins else None
    if not made.are_several:
        return section("machines", "Machines", sentences, taken) if sentences or taken else None
    head = el("tr", [el("th", word, scope="col", class_="num" if word in NUMBERS else None) for word in HEADS])
    table = scroll(el("table", el("thead", head), el("tbody", [_row(row) for row in made.rows])))
    tables = []
    if made.used > 1:
        metric = run.primary
        medians = _table(made, made.cells, f"{in_unit(metric)}: median of each machine", lambda v: shown(metric, v))
        tables.append(medians)
        if made.changes:
            tables.append(_table(made, made.changes, "Change of each machine, within its own rounds", change_words))
    return section("machines", "Machines", sentences, taken, table, tables, el("p", NOTE, class_="note"))


def _row(row: MachineRow) -> Html:
    facts = row.machine.facts
    clock = facts.get("clock_ahead_s")
    memory = facts.get("memory_mib")
    texts: list[Any] = [
        el("b", row.machine.name),
        *(facts.get(name, "-") for name in ("system", "kernel", "processor")),
    ]
    figures = [
        facts.get("processors", "-"),
        "-" if memory is None else f"{memory / 1024:.1f} GiB",
        "-" if clock is None else f"{clock:+.3f} s",
        row.beds,
        row.trials,
        row.failed,
    ]
    return el(
        "tr",
        [el("td", text) for text in texts],
        [el("td", figure, class_="num") for figure in figures],
        el("td", ", ".join(row.refused) or "none", class_="warn" if row.refused else "muted"),
    )


def _table(made: MachinesOfRun, rows: Sequence[CellRow] | Sequence[ChangeRow], what: str, words: Words) -> Html:
    machines = [row.machine for row in made.rows if row.trials]
    heads = ["link", "arm", *(machine.name for machine in machines), f"{OVER[0]} {made.used}", OVER[1]]
    head = el("tr", [el("th", word, scope="col", class_=None if i < 2 else "num") for i, word in enumerate(heads)])
    body = []
    for row in rows:
        base = f" against {row.base.name}" if isinstance(row, ChangeRow) else ""
        by_machine = {one.bed: one for one in row.made.beds}
        each = [
            el("td", of_bed(by_machine[m.number], words), class_="num", title=f"n = {by_machine[m.number].n}")
            if m.number in by_machine
            else el("td", "-", class_="num")
            for m in machines
        ]
        over = [el("td", number, class_="num") for number in numbers(row.made, words)[:2]]
        where = f"{row.cell.site}, {row.cell.link.label}"
        body.append(el("tr", el("td", where), el("td", f"{row.cell.arm.name}{base}"), each, over))
    return join(el("h3", what), scroll(el("table", el("thead", head), el("tbody", body))))
