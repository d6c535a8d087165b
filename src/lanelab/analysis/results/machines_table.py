"""What the machines of a run are and say, on a terminal."""

from collections.abc import Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lanelab.analysis.results.beds_table import Words, numbers, of_bed
from lanelab.analysis.results.between_beds import CellRow, ChangeRow
from lanelab.analysis.results.machines import MachinesOfRun
from lanelab.analysis.results.numbers import change_words, shown
from lanelab.driver.record.metrics import Metric

OVER = ("over all", "interval between machines")


def parts(made: MachinesOfRun, primary: Metric) -> list[RenderableType]:
    """Return nothing of a run of one machine but what was taken from other runs, and versions that differ."""
    said: list[RenderableType] = [Text(words) for words in made.sentences()]
    if origins := made.origin_words():
        said.append(Text(origins))
    if not made.are_several:
        return said
    shows: list[RenderableType] = [Text(), Text(f"{len(made.rows)} machines", style="bold"), _map(made)]
    if made.used > 1:
        shows += [_table(made, made.cells, f"median {primary.unit}", lambda value: shown(primary, value))]
        if made.changes:
            shows += [Text(), _table(made, made.changes, "change", change_words)]
    return [*shows, *said]


def _map(made: MachinesOfRun) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in ("machine", "beds", "trials", "failed", "processor", "kernel", "links refused"):
        table.add_column(column, justify="right" if column in ("beds", "trials", "failed") else "left")
    for row in made.rows:
        facts = row.machine.facts
        told = (f"{facts.get('processors', '?')} x {facts.get('processor', '?')}", str(facts.get("kernel", "?")))
        numbers_of = (str(row.beds), str(row.trials), str(row.failed))
        table.add_row(*map(Text, (row.machine.name, *numbers_of, *told, ", ".join(row.refused) or "-")))
    return table


def _table(made: MachinesOfRun, rows: Sequence[CellRow] | Sequence[ChangeRow], what: str, words: Words) -> Table:
    sites = len({row.cell.site for row in rows}) > 1
    names = [*(["site"] if sites else []), "link", "arm"]
    machines = [row.machine for row in made.rows if row.trials]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, title_justify="left")
    over = f"{OVER[0]} {made.used}"
    for column in (*names, *(f"{what}, {one.name}" for one in machines), over, OVER[1]):
        table.add_column(column, justify="left" if column in names else "right")
    for row in rows:
        base = f" against {row.base.name}" if isinstance(row, ChangeRow) else ""
        where = [*([row.cell.site] if sites else []), row.cell.link.label, f"{row.cell.arm.name}{base}"]
        by_machine = {one.bed: of_bed(one, words) for one in row.made.beds}
        each = [by_machine.get(machine.number, "-") for machine in machines]
        table.add_row(*map(Text, (*where, *each, *numbers(row.made, words)[:2])))
    return table
