"""The part of the report on what the trials' own captures say of their links."""

from lanelab.analysis.results import links
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import scroll
from lanelab.analysis.results.links import LinkRow
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.refusals import Pooled
from lanelab.analysis.results.report.sections import place_of, section

NOTE = (
    "Proven: trials whose round trips, rate, largest packets and initial windows, in their own capture, were the "
    "link's. Lost: of the packets whose loss would show, in all trials of the cell; in brackets what a full queue may "
    "have dropped. Error: how far packets were from when the link should have delivered them, with its queue worked "
    "out packet by packet: the median, and what 99 of 100 stay below; medians of the trials. It needs captures at both "
    f"ends, by one clock. {links.REFERENCE}."
)
HEADS = ("link", "arm", "proven", "lost down", "lost up", "error ms", "99% ms", "")


def section_of(run: Run) -> Html | None:
    """Return the section; None where no trial's capture tells of its link."""
    rows = links.rows(run)
    said = [el("p", f"{sentence}.") for sentence in links.sentences(run)]
    if not rows:
        return section("proofs", "Links by their trials", said) if said else None
    head = el(
        "tr", [el("th", word, scope="col", class_="num" if 1 < at < 7 else None) for at, word in enumerate(HEADS)]
    )
    table = el(
        "table",
        el("thead", head),
        el("tbody", [_row(row, several=len({cell.site for cell in run.cells}) > 1) for row in rows]),
    )
    return section("proofs", "Links by their trials", [*said, scroll(table), el("p", NOTE, class_="note")])


def _row(row: LinkRow, *, several: bool) -> Html:
    numbers = (
        f"{row.proven} of {row.trials}",
        _lost(row.down),
        _lost(row.up),
        _number(row.error_ms),
        _number(row.error_99_ms),
    )
    return el(
        "tr",
        el("td", place_of(row.cell, several=several)),
        el("td", row.cell.arm.name),
        [el("td", number, class_="num") for number in numbers],
        el("td", "refused" if row.refused else ""),
    )


def _lost(pooled: Pooled) -> str:
    if not pooled.told:
        return "-"
    overflowed = f" ({pooled.overflowed:,})" if pooled.overflowed else ""
    return f"{pooled.lost:,}{overflowed} of {pooled.told:,}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
