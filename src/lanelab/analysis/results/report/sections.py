"""The parts of the report that are tables and text."""

import datetime
import math
from collections.abc import Sequence

from lanelab.analysis.results import conditions, tables
from lanelab.analysis.results.model import Cell, Run
from lanelab.analysis.results.numbers import in_unit, percent, ratio, shown, span
from lanelab.analysis.results.report import plots
from lanelab.analysis.results.report.links_again import links_again
from lanelab.analysis.results.report.markup import Html, el, join
from lanelab.analysis.results.report.sentences import noise_sentence
from lanelab.analysis.results.self_tests import HEADS, NUMERIC, Told, outcome, told, told_tests
from lanelab.analysis.results.tables import Row
from lanelab.analysis.statistics import interval_name

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
    """What the run is about; its name where that is not said in a line."""
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
    """A few numbers that say what kind of run this was."""
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


def results(run: Run, rows: Sequence[Row]) -> Html:
    """One line for each cell. Arms of a group share a scale only with all others, so that links can be compared."""
    ends = [value for row in rows if row.summary for value in (row.summary.low, row.summary.high)]
    top = max(filter(math.isfinite, ends), default=1.0) * 1.03
    values = run.values()
    arms = [arm.name for arm in run.arms]
    interval = interval_name(row.summary.estimate for row in rows if row.summary)
    columns, bound = tables.columns(run), tables.has_bound(run)
    over = f" {run.over}" if run.over else ""
    heads = ["arm", "trials", f"median{over}", interval, "", "quartiles", "sd", *(metric.column for metric in columns)]
    heads += ["of bound"] if bound else []
    body: list[Html] = []
    group: tuple[str, str] | None = None
    for row in rows:
        if row.cell.group != group:
            group = row.cell.group
            head = join(el("b", group[1]), " ", el("span", group[0]))
            body.append(el("tr", el("th", head, colspan=len(heads), scope="rowgroup"), class_="group"))
        cells = [el("td", shown(metric, row.medians[metric.name]), class_="num") for metric in columns]
        cells += [el("td", ratio(row.ratio), class_="num")] if bound else []
        body.append(_result(row, top, arms.index(row.cell.arm.name), list(values[row.cell.number].values()), cells))
    table = el("table", el("thead", el("tr", [head_of(word) for word in heads])), el("tbody", body), class_="results")
    of_bound = " Of bound: how many times as long as the link needs at best." if bound else ""
    machines = ""
    if run.over:
        machines = f" All numbers are {run.over}, which differ in speed: the section Machines has those of each."
    note = (
        f"{in_unit(run.primary)}. Bars show the interval of the median, dots single trials; all rows share "
        f"one scale, from 0.{of_bound} Failed trials are in brackets.{machines}"
    )
    return section("results", "Results", scroll(table), el("p", note, class_="note"))


def place_of(cell: Cell, *, several: bool) -> str:
    """Of a row in a table that has all cells: two sites may have a link of the same label."""
    return f"{cell.site}, {cell.link.label}" if several else cell.link.label


def head_of(word: str) -> Html:
    return el("th", word, scope="col", class_=None if word in ("arm", "", "verdict") else "num")


def _result(row: Row, top: float, colour: int, values: list[float], others: Sequence[Html]) -> Html:
    failed = el("span", f" ({row.failed} failed)", class_="warn") if row.failed else None
    arm = join(el("i", class_=f"dot s{colour % 8}"), row.cell.arm.name)
    if row.refused:
        why = "; ".join(f"{each.reason}: {each.detail}" for each in row.refused)
        nothing = el("td", f"refused: {why}", colspan=5 + len(others), class_="bad")
        return el("tr", el("td", arm), el("td", row.ok, failed, class_="num"), nothing)
    if row.summary is None:
        nothing = el("td", "no trial counts", colspan=5 + len(others), class_="muted")
        return el("tr", el("td", arm), el("td", "0", failed, class_="num"), nothing)
    estimate = row.summary.estimate
    words = f"{row.cell}: {estimate.meaning()}"
    between = "-" if estimate.low is None else f"{row.shown(estimate.low)} to {row.shown(estimate.high)}"
    quartiles = f"{row.shown(row.summary.quartile_1)} to {row.shown(row.summary.quartile_3)}"
    return el(
        "tr",
        el("td", arm),
        el("td", row.ok, failed, class_="num"),
        el("td", el("b", row.shown(estimate.median)), class_="num"),
        el("td", between, class_="num", title=estimate.meaning()),
        el("td", plots.interval(row.summary, top, colour, values, words)),
        el("td", quartiles, class_="num"),
        el("td", percent(row.summary.stdev_percent), class_="num"),
        *others,
    )


def scroll(table: Html) -> Html:
    """Wide content scrolls within itself, not the page."""
    return el("div", table, class_="scroll", tabindex=0)


def failures(run: Run) -> Html | None:
    return section("failures", "Failures", failure_parts(run)) if run.failed else None


def failure_parts(run: Run) -> Html:
    """Every reason with its count and examples."""
    parts: list[Html] = []
    for reason, number in tables.failure_counts(run).most_common():
        hits = [(t, f.detail) for t in run.failed for f in t.failures if f.reason == reason]
        shown = [
            el("li", el("b", f"trial {trial.number}"), f" ({trial.cell}, round {trial.round}): {detail}")
            for trial, detail in hits[:MOST_DETAILS]
        ]
        more = el("li", f"and {len(hits) - MOST_DETAILS} more", class_="muted") if len(hits) > MOST_DETAILS else None
        trials = "trial" if number == 1 else "trials"
        summary = el("summary", el("code", reason), f" {number} {trials}")
        parts.append(el("details", summary, el("ul", shown, more), open=number <= 3 or not parts))
    note = f"{len(run.failed)} of {len(run.trials)} trials failed a check. They are kept, but not used" + (
        "." if not any(trial.timed_out for trial in run.failed) else "; a trial that timed out counts as slower."
    )
    return join(el("p", note), parts)


def self_tests(run: Run) -> Html:
    return section("links", "The links, measured", self_test_parts(run))


def self_test_parts(run: Run) -> Html:
    """One test of each link, property by property."""
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
