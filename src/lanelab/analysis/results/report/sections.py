"""The parts of the report that are tables and text."""

import datetime
from collections.abc import Sequence

from lanelab.analysis.results import conditions, tables
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.numbers import percent, span
from lanelab.analysis.results.self_tests import told_tests
from lanelab.analysis.results.tables import Row

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
