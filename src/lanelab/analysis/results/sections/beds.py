"""What the beds of a run say, one by one and together."""

import math
from collections.abc import Callable, Sequence

from lanelab.analysis.results.between_beds import Between, CellRow, ChangeRow, OfBed, percent, sentences
from lanelab.analysis.results.layout.model import Column, Part, Section, Table, Words, table, words
from lanelab.analysis.results.numbers import NONE, change_words, shown
from lanelab.analysis.results.sections.cells import groups, place
from lanelab.analysis.results.sections.seen import Seen

Row = CellRow | ChangeRow
Show = Callable[[float], str]
NOTE = (
    "A bed counts as one observation: the median of its trials, or Hodges and Lehmann's estimate of its changes. Their "
    "middle is the geometric mean, which there is not where one of them timed out or is 0; the interval is Student's t "
    "over the logarithms of these numbers. docs/reference/between-beds.md says how often it holds what another bed "
    "would say in the long run."
)


def beds_section(seen: Seen) -> Section | None:
    """Lay out what the beds of one machine say; None where no trial counts. Several machines have their own section."""
    if seen.machines.used > 1 or not seen.beds.beds:
        return None
    texts = sentences(seen.beds)
    if seen.beds.beds < 2:
        return Section("beds", "Beds", words(texts, "muted"))
    metric = seen.run.primary
    tables = [_table(seen, seen.beds.cells, f"median {metric.unit} of each bed", lambda value: shown(metric, value))]
    if seen.beds.changes:
        tables.append(_table(seen, seen.beds.changes, "change of each bed", change_words))
    parts: tuple[Part, ...] = (*tables, *words(texts), *words([NOTE], "muted", "page"))
    return Section("beds", f"Between {seen.beds.beds} beds", parts, short=f"by bed, {seen.beds.beds} of them")


def _table(seen: Seen, rows: Sequence[Row], title: str, show: Show) -> Table:
    columns: Sequence[Column[Row]] = (
        Column("arm", arm_of),
        Column(title, lambda row: _each(row.numbers, show)),
        Column("their middle", lambda row: middle(row.numbers, show), number=True),
        Column("interval between beds", lambda row: interval(row.numbers, show), number=True),
        Column("beds' sd", lambda row: _share(row.numbers.between), number=True),
        Column("trials' sd", lambda row: _share(row.numbers.within), number=True),
    )
    return table(columns, rows, groups=groups(seen), group=lambda row: place(row.cell, seen))


def arm_of(row: Row) -> str:
    """Name the arm, and what it is compared with."""
    return f"{row.cell.arm.name} against {row.base.name}" if isinstance(row, ChangeRow) else row.cell.arm.name


def _each(between: Between, show: Show) -> Words:
    tip = ", ".join(f"bed {bed.bed}: n = {bed.n}" for bed in between.beds)
    return Words(", ".join(of_bed(bed, show) for bed in between.beds), tip=tip)


def of_bed(bed: OfBed, show: Show) -> str:
    """Write the number of a bed; in brackets where it does not count."""
    text = show(bed.value) if bed.value < math.inf else "timed out"
    return text if bed.counts else f"({text})"


def middle(between: Between, show: Show) -> str:
    """Write the middle of the beds."""
    return NONE if between.value is None else show(between.value)


def interval(between: Between, show: Show) -> str:
    """Write the interval of the beds' middle."""
    return NONE if between.low is None or between.high is None else f"{show(between.low)} to {show(between.high)}"


def _share(share: float | None) -> str:
    return NONE if share is None else percent(share)
