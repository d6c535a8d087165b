"""What a load did: what began, ended and failed, how long it took, what limited it."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from lanelab.analysis.results import load_reports
from lanelab.analysis.results.charts import chart
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.model import Column, Drawing, Fold, Part, Points, Section, Words, table, words
from lanelab.analysis.results.layout.page import scroll
from lanelab.analysis.results.load_reports import Reported, times_drawing
from lanelab.analysis.results.render import inline_svg
from lanelab.analysis.results.sections.seen import Seen
from lanelab.driver.record.evidence.load import ErrorCount, Latency, Tally

T = TypeVar("T")
Named = tuple[str, T]
NOTE = (
    "Of each cell the trial nearest to its median. Times are of what ended well: what failed or had not ended is in "
    "the first table and in no percentile. docs/reference/load.md says how users and arrivals differ in it."
)


def load_section(seen: Seen) -> Section | None:
    """Lay out what generators reported; None of a run of another workload, or where no trial counts."""
    reported = seen.loads
    if not reported:
        return None
    levels, thresholds = load_reports.service_levels(seen.run), load_reports.threshold_sentences(reported)
    left_out = load_reports.left_out_sentences(reported)
    points = Points(words([*levels, *thresholds, *left_out]), "long")
    cells = [Fold(Words(str(each.cell)), tuple(_of_cell(each)), is_open=len(reported) <= 2) for each in reported]
    parts: tuple[Part, ...] = (
        *_titled("service level", levels),
        *_titled("thresholds", thresholds),
        *_titled("what no percentile has", load_reports.sentences(reported)),
        *words(left_out, "warn", "terminal"),
        *([points] if points.items else []),
        *words([NOTE], "muted", "page"),
        Drawing(lambda: _picture(seen, "lp", pages=True)),
        Drawing(lambda: _picture(seen, "lr", pages=False)),
        *cells,
    )
    return Section("load", "Load", parts)


def _titled(title: str, texts: Sequence[str]) -> tuple[Words, ...]:
    """Return what a terminal says, below a title and a line without words."""
    lines = words(texts, where="terminal")
    return (Words("", where="terminal"), Words(title, "strong", "terminal"), *lines) if lines else ()


def _picture(seen: Seen, name: str, *, pages: bool) -> Html | None:
    drawing = times_drawing(seen.run, seen.loads, pages=pages)
    picture = chart(drawing) if drawing else None
    if drawing is None or picture is None:
        return None
    caption = el("figcaption", el("b", drawing.title))
    return el("figure", caption, scroll(Html(inline_svg(picture, drawing.title, name))))


def _of_cell(each: Reported) -> Iterator[Part]:
    report = each.report
    protocol = f"{report.protocol}, TLS {report.tls}" if report.tls != "off" else f"{report.protocol} in clear"
    yield Words(f"Trial {each.trial.number}: {report.generator}, {protocol}, {report.seconds:,.4g} s.")
    yield table(TALLIES, load_reports.tallies(report))
    if times := load_reports.times(report):
        yield table(TIMES, times)
    if report.errors:
        yield table(ERRORS, report.errors.items())
    if rows := load_reports.script_rows(each):
        yield table(_pairs("measured by the script", "median of the trials"), rows)
    if rows := load_reports.health(report):
        yield table(_pairs("the generator", ""), rows)
    placed = ", ".join(f"{node}: {where}" for node, where in each.evidence.placement.items())
    yield Words(f"Processors: {placed or 'programs ran wherever there was room'}.", "muted")


def _name(each: Named[object]) -> Words:
    return Words(each[0], "strong")


def _number(title: str, value: Callable[[T], float]) -> Column[Named[T]]:
    return Column(title, lambda each: f"{value(each[1]):,.4g}", number=True)


def _count(title: str, value: Callable[[T], int]) -> Column[Named[T]]:
    return Column(title, lambda each: f"{value(each[1]):,}", number=True)


def _longest(each: Named[Tally]) -> str | None:
    return f"{each[1].unfinished_longest_ms / 1000:,.3g} s" if each[1].unfinished else None


TALLIES: Sequence[Column[Named[Tally]]] = (
    Column("", _name),
    _count("begun", lambda tally: tally.begun),
    _count("ended well", lambda tally: tally.ended),
    _count("failed", lambda tally: tally.failed),
    _count("timed out", lambda tally: tally.timed_out),
    _count("not ended", lambda tally: tally.unfinished),
    Column("longest of these", _longest, number=True),
)
TIMES: Sequence[Column[Named[Latency]]] = (
    Column("ms", _name),
    _number("least", lambda ms: ms.min),
    _number("mean", lambda ms: ms.mean),
    _number("median", lambda ms: ms.p50),
    _number("90%", lambda ms: ms.p90),
    _number("95%", lambda ms: ms.p95),
    _number("99%", lambda ms: ms.p99),
    _number("99.9%", lambda ms: ms.p99_9),
    _number("most", lambda ms: ms.max),
    _count("count", lambda ms: ms.count),
)


def _time(ms: float | None) -> str | None:
    return None if ms is None else f"{ms:,.4g}"


ERRORS: Sequence[Column[Named[ErrorCount]]] = (
    Column("failed requests", _name),
    _count("count", lambda error: error.count),
    Column("median ms until then", lambda each: _time(each[1].p50_ms), number=True),
    Column("most", lambda each: _time(each[1].max_ms), number=True),
)


def _pairs(name: str, value: str) -> Sequence[Column[tuple[str, str]]]:
    return (Column(name, _name), Column(value, lambda pair: pair[1], number=True))
