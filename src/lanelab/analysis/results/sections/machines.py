"""Which machines made the run, and whether they agree."""

from collections.abc import Sequence

from lanelab.analysis.results.layout.model import Cell, Column, Part, Section, Table, Words, table, words
from lanelab.analysis.results.machines import MachineRow
from lanelab.analysis.results.model import Machine
from lanelab.analysis.results.numbers import NONE, change_words, in_unit, shown
from lanelab.analysis.results.sections.beds import Row, Show, arm_of, interval, middle, of_bed
from lanelab.analysis.results.sections.cells import groups, place
from lanelab.analysis.results.sections.seen import Seen

NOTE = (
    "Pairs are within one machine; docs/statistics.md says why, and how often a machine is named wrongly. Clock: how "
    "far it was ahead of the controller's when the machine joined; times of trials are corrected by it. Over all: the "
    "middle of the machines (geometric mean), each counting once; the interval is Student's t over them. In brackets: "
    "a machine with less than half as many trials as usual, which does not count there."
)


def machines_section(seen: Seen) -> Section | None:
    """Lay out machines and what they say; None for one machine of which there is nothing to say."""
    machines = seen.machines
    texts = words([*machines.sentences(), machines.origin_words()])
    if not machines.are_several:
        return Section("machines", "Machines", texts) if texts else None
    tables = [table(COLUMNS, machines.rows)]
    if machines.used > 1:
        metric = seen.run.primary
        title = f"{in_unit(metric)}: median of each machine"
        tables.append(_table(seen, machines.cells, title, lambda value: shown(metric, value)))
        if machines.changes:
            title = "Change of each machine, within its own rounds"
            tables.append(_table(seen, machines.changes, title, change_words))
    parts: tuple[Part, ...] = (*tables, *texts, *words([NOTE], "muted", "page"))
    return Section("machines", "Machines", parts, short=f"{len(machines.rows)} machines")


def _fact(row: MachineRow, name: str) -> str:
    return str(row.machine.facts.get(name, "?"))


def _memory(row: MachineRow) -> Cell:
    memory = row.machine.facts.get("memory_mib")
    return None if memory is None else f"{memory / 1024:.1f} GiB"


def _clock(row: MachineRow) -> Cell:
    ahead = row.machine.facts.get("clock_ahead_s")
    return None if ahead is None else f"{ahead:+.3f} s"


COLUMNS: Sequence[Column[MachineRow]] = (
    Column("machine", lambda row: Words(row.machine.name, "strong")),
    Column("beds", lambda row: row.beds, number=True),
    Column("trials", lambda row: row.trials, number=True),
    Column("failed", lambda row: row.failed, number=True),
    Column("processor", lambda row: f"{_fact(row, 'processors')} x {_fact(row, 'processor')}"),
    Column("kernel", lambda row: _fact(row, "kernel")),
    Column("system", lambda row: _fact(row, "system"), where="long"),
    Column("memory", _memory, number=True, where="long"),
    Column("clock", _clock, number=True, where="long"),
    Column("links refused", lambda row: Words(", ".join(row.refused), "warn") if row.refused else None),
)


def _table(seen: Seen, rows: Sequence[Row], title: str, show: Show) -> Table:
    def of_machine(machine: Machine) -> Column[Row]:
        def value(row: Row) -> Cell:
            bed = next((one for one in row.numbers.beds if one.bed == machine.number), None)
            return Words(of_bed(bed, show), tip=f"n = {bed.n}") if bed else None

        return Column(machine.name, value, number=True)

    columns: Sequence[Column[Row]] = (
        Column("arm", arm_of),
        *(of_machine(row.machine) for row in seen.machines.rows if row.trials),
        Column(f"over all {seen.machines.used}", lambda row: middle(row.numbers, show) or NONE, number=True),
        Column("interval between machines", lambda row: interval(row.numbers, show), number=True),
    )
    return table(columns, rows, groups=groups(seen), group=lambda row: place(row.cell, seen), title=title)
