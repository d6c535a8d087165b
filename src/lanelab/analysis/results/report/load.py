"""The part of the report that says what a load did: what began, ended and failed, how long it took, what limited it."""

from collections.abc import Sequence

from lanelab.analysis.results.charts import chart
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import scroll
from lanelab.analysis.results.load_reports import (
    Reported,
    health,
    left_out_sentences,
    reported,
    script_rows,
    service_levels,
    tallies,
    threshold_sentences,
    times,
    times_drawing,
)
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.render import inline_svg
from lanelab.analysis.results.report.sections import head_of, section
from lanelab.driver.record.evidence.load import ErrorCount, Latency, Tally

NOTE = (
    "Of each cell the trial nearest to its median. Times are of what ended well: what failed or had not ended is in "
    "the first table and in no percentile. docs/reference/load.md says how users and arrivals differ in it."
)
TALLY = ("", "begun", "ended well", "failed", "timed out", "not ended", "longest of these")
TIMES = ("ms", "least", "mean", "median", "90%", "95%", "99%", "99.9%", "most", "count")


def section_of(run: Run) -> Html | None:
    """Return the section; None of a run of another workload, or where no trial counts."""
    found = reported(run)
    if not found:
        return None
    pictures = [
        el("figure", el("figcaption", el("b", drawing.title)), scroll(Html(inline_svg(made, drawing.title, name))))
        for name, pages in (("lp", True), ("lr", False))
        if (drawing := times_drawing(run, found, pages=pages)) and (made := chart(drawing))
    ]
    cells = [el("details", el("summary", str(each.cell)), _of_cell(each), open=len(found) <= 2) for each in found]
    said = (*service_levels(run), *threshold_sentences(found), *left_out_sentences(found))
    return section(
        "load",
        "Load",
        el("ul", [el("li", each) for each in said]),
        el("p", NOTE, class_="note"),
        pictures,
        cells,
    )


def _of_cell(each: Reported) -> list[Html]:
    report = each.report
    spoken = f"{report.protocol}, TLS {report.tls}" if report.tls != "off" else f"{report.protocol} in clear"
    parts = [
        el("p", f"Trial {each.trial.number}: {report.generator}, {spoken}, {report.seconds:,.4g} s."),
        _table(TALLY, [_tally(name, tally) for name, tally in tallies(report)]),
    ]
    if rows := [_times(name, latency) for name, latency in times(report)]:
        parts.append(_table(TIMES, rows))
    if report.errors:
        heads = ("failed requests", "count", "median ms until then", "most")
        parts.append(_table(heads, [_error(name, error) for name, error in report.errors.items()]))
    if rows := [list(row) for row in script_rows(each)]:
        parts.append(_table(("measured by the script", "median of the trials"), rows))
    if rows := [list(row) for row in health(report)]:
        parts.append(_table(("the generator", ""), rows))
    placed = ", ".join(f"{node}: {where}" for node, where in each.evidence.placement.items())
    parts.append(el("p", f"Processors: {placed or 'programs ran wherever there was room'}.", class_="note"))
    return parts


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Html:
    body = [el("tr", el("th", row[0], scope="row"), [el("td", text, class_="num") for text in row[1:]]) for row in rows]
    return scroll(el("table", el("thead", el("tr", [head_of(head) for head in heads])), el("tbody", body)))


def _tally(name: str, tally: Tally) -> list[str]:
    counts = (tally.begun, tally.ended, tally.failed, tally.timed_out, tally.unfinished)
    longest = f"{tally.unfinished_longest_ms / 1000:,.3g} s" if tally.unfinished else "-"
    return [name, *(f"{number:,}" for number in counts), longest]


def _times(name: str, ms: Latency) -> list[str]:
    values = (ms.min, ms.mean, ms.p50, ms.p90, ms.p95, ms.p99, ms.p99_9, ms.max)
    return [name, *(f"{value:,.4g}" for value in values), f"{ms.count:,}"]


def _error(name: str, error: ErrorCount) -> list[str]:
    times = ("-" if ms is None else f"{ms:,.4g}" for ms in (error.p50_ms, error.max_ms))
    return [name, f"{error.count:,}", *times]
