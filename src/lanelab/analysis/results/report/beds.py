"""The part of the report that says what the beds of a run say together."""

from lanelab.analysis.results import between_beds
from lanelab.analysis.results.beds_table import NUMBERS, Words, numbers, of_bed
from lanelab.analysis.results.between_beds import BedsOfRun, Between
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import scroll
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.numbers import change_words, in_unit, shown
from lanelab.analysis.results.report.sections import section

NOTE = (
    "A bed counts as one observation: the median of its trials, or Hodges and Lehmann's estimate of its changes. The "
    "interval is Student's t over the logarithms of these numbers. docs/reference/between-beds.md says how often it "
    "holds what another bed would say in the long run."
)


def section_of(run: Run, made: BedsOfRun) -> Html | None:
    """Return the section; None where no trial counts."""
    sentences = [el("p", sentence) for sentence in between_beds.sentences(made)]
    if not sentences:
        return None
    if made.beds < 2:
        return section("beds", "Beds", sentences)
    metric = run.primary
    medians = [(f"{row.cell.site}, {row.cell.link.label}", row.cell.arm.name, row.made) for row in made.cells]
    changes = [
        (f"{row.cell.site}, {row.cell.link.label}", f"{row.cell.arm.name} against {row.base.name}", row.made)
        for row in made.changes
    ]
    tables = [_table(medians, f"{in_unit(metric)}: median of each bed", lambda value: shown(metric, value))]
    if changes:
        tables.append(_table(changes, "change of each bed", change_words))
    return section("beds", f"Between {made.beds} beds", sentences, tables, el("p", NOTE, class_="note"))


def _table(rows: list[tuple[str, str, Between]], what: str, words: Words) -> Html:
    heads = ["link", "arm", what, *NUMBERS]
    head = el("tr", [el("th", word, scope="col", class_=None if i < 2 else "num") for i, word in enumerate(heads)])
    return scroll(el("table", el("thead", head), el("tbody", [_row(*row, words) for row in rows])))


def _row(where: str, arm: str, made: Between, words: Words) -> Html:
    each = ", ".join(of_bed(bed, words) for bed in made.beds)
    title = ", ".join(f"bed {bed.bed}: n = {bed.n}" for bed in made.beds)
    return el(
        "tr",
        el("td", where),
        el("td", arm),
        el("td", each, class_="num", title=title),
        [el("td", number, class_="num") for number in numbers(made, words)],
    )
