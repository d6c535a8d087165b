"""The parts of the report that are tables and text."""

import datetime
from collections.abc import Sequence

from lanelab.analysis.results import conditions, tables
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.page import scroll
from lanelab.analysis.results.model import Cell, Run
from lanelab.analysis.results.numbers import percent, span
from lanelab.analysis.results.report.links_again import links_again
from lanelab.analysis.results.report.sentences import noise_sentence
from lanelab.analysis.results.self_tests import HEADS, NUMERIC, Told, outcome, told, told_tests
from lanelab.analysis.results.tables import Row
from lanelab.driver.base.amounts import counted

STATES = {
    "running": "still running: more trials will come",
    "stopped": "stopped before its end",
    "failed": "ended by an error before its end",
    "killed": "killed before its end",
}
MOST_DETAILS = 8
LONGEST_TITLE = 90  # characters of a headline


def section(name: str, title: str, *children: object) -> Html:
    return el("section", el("h2", title), *children, id=name)


def title_of(run: Run) -> str:
    """Return what the run is about; its name where that is not said in a line."""
    return run.description if 0 < len(run.description) <= LONGEST_TITLE else run.name


def header(run: Run, findings: Sequence[str], warnings: Sequence[str]) -> Html:
    badge = el("span", STATES[run.state], class_="badge") if run.state in STATES else None
    said = el("ul", [el("li", sentence) for sentence in findings], class_="said")
    box = el("ul", [el("li", sentence) for sentence in warnings], class_="warnings") if warnings else None
    return el(
        "header",
        el("p", f"lanelab report: {run.name}", class_="eyebrow"),
        el("h1", title_of(run)),
        el("p", run.description, class_="lead") if run.description not in ("", title_of(run)) else None,
        el("p", date_words(run.created_utc), badge and join(" ", badge), class_="date"),
        [box, said] if conditions.caveats(run) else [said, box],
    )


def date_words(text: str) -> str:
    try:
        when = datetime.datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{when.day} {when:%B %Y, %H:%M} {when.tzname() or ''}".strip()


def tiles(run: Run, rows: Sequence[Row]) -> Html:
    """Return a few numbers that say what kind of run this was."""
    noise = tables.noise_percent(rows)
    fit = sum(test.passed for test in told_tests(run))
    took = sum(trial.wall_s for trial in run.trials)
    facts = [
        (str(len(run.ok)), f"{run.trials_word} that count"),
        (str(len(run.failed)), "failed, and do not count"),
        (f"{fit} of {len(run.links)}", "links within tolerance before their trials"),
        (percent(noise), " ".join(filter(None, ["standard deviation within a cell", run.over]))),
        (span(took), "of trials"),
    ]
    return el("dl", [el("div", el("dt", words), el("dd", number)) for number, words in facts], class_="tiles")


def place_of(cell: Cell, *, several: bool) -> str:
    """Of a row in a table that has all cells: two sites may have a link of the same label."""
    return f"{cell.site}, {cell.link.label}" if several else cell.link.label


def head_of(word: str) -> Html:
    return el("th", word, scope="col", class_=None if word in ("arm", "", "verdict") else "num")


def failures(run: Run) -> Html | None:
    return section("failures", "Failures", failure_parts(run)) if run.failed else None


def failure_parts(run: Run) -> Html:
    """Return every reason with its count and examples."""
    parts: list[Html] = []
    for reason, number in tables.failure_counts(run).most_common():
        hits = [(t, f.detail) for t in run.failed for f in t.failures if f.reason == reason]
        shown = [
            el("li", el("b", f"trial {trial.number}"), f" ({trial.cell}, round {trial.round}): {detail}")
            for trial, detail in hits[:MOST_DETAILS]
        ]
        more = el("li", f"and {len(hits) - MOST_DETAILS} more", class_="muted") if len(hits) > MOST_DETAILS else None
        summary = el("summary", el("code", reason), f" {counted(number, 'trial')}")
        parts.append(el("details", summary, el("ul", shown, more), open=number <= 3 or not parts))
    note = f"{len(run.failed)} of {len(run.trials)} trials failed a check. They are kept, but not used" + (
        "." if not any(trial.timed_out for trial in run.failed) else "; a trial that timed out counts as slower."
    )
    return join(el("p", note), parts)


def self_tests(run: Run) -> Html:
    return section("links", "The links, measured", self_test_parts(run))


def self_test_parts(run: Run) -> Html:
    """Return one test of each link, property by property."""
    tests = told_tests(run)
    if not tests:
        return el("p", "No link was measured.")
    head = el("tr", [el("th", word, scope="col", class_="num" if word in NUMERIC else None) for word in HEADS])
    table = el("table", el("thead", head), el("tbody", [_self_test(each) for each in told(tests)]))
    note = "Measured from inside the bed, before trials used the link."
    return join(el("p", outcome(tests), " ", note), scroll(table), links_again(run))


def _self_test(each: Told) -> Html:
    return el(
        "tr",
        el("td", el("b", each.link if each.is_first else "")),
        el("td", each.name, title=each.note or None),
        *(el("td", value, class_="num") for value in (each.target, each.measured, each.tolerated)),
        el("td", each.unit),
        el("td", each.verdict, class_={"ok": "good", "out": "bad"}.get(each.verdict, "muted")),
    )


def noise(run: Run, rows: Sequence[Row], chart: Html | None) -> Html:
    far = [(row.cell, number) for row in rows for number in row.outliers]
    outliers = (
        el(
            "p",
            "Far from their cell's median, and kept: ",
            ", ".join(f"trial {n} ({cell})" for cell, n in far[:12]),
            ".",
        )
        if far
        else el("p", "No trial is far from its cell's median.")
    )
    return section(
        "noise",
        "Noise and drift",
        el("p", noise_sentence(rows, run.over)),
        el("p", tables.run_drift(run).words()),
        chart,
        outliers,
    )
