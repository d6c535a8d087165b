"""The head of a run's report: what it is about, what it shows and with what caution, and a few numbers."""

import datetime

from lanelab.analysis.results import conditions, tables
from lanelab.analysis.results.layout.model import Head, Part, Points, Tree, words
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.numbers import percent, span
from lanelab.analysis.results.sections.findings import findings, warnings
from lanelab.analysis.results.sections.seen import Seen
from lanelab.analysis.results.self_tests import tests_before

STATES = {
    "running": "still running: more trials will come",
    "stopped": "stopped before its end",
    "failed": "ended by an error before its end",
    "killed": "killed before its end",
}
LONGEST_TITLE = 90  # characters of a headline


def head(seen: Seen) -> Head:
    """Lay out the head. What takes the meaning from the numbers comes before them."""
    run = seen.run
    alarms = [*warnings(run, seen.rows, seen.compared), *seen.machines.warnings()]
    shown: list[Part] = [Points(words(findings(run, seen.rows, seen.compared, seen.pooled)), style="said")]
    box: list[Part] = [Points(words(alarms), style="warnings")] if alarms else []
    return Head(
        f"lanelab report: {run.name}",
        title_of(run),
        run.description if run.description != title_of(run) else "",
        date_words(run.created_utc),
        tuple(box + shown if conditions.caveats(run) else shown + box),
        STATES.get(run.state, ""),
    )


def title_of(run: Run) -> str:
    """Return what the run is about; its name where that is not said in a line."""
    return run.description if 0 < len(run.description) <= LONGEST_TITLE else run.name


def date_words(text: str) -> str:
    try:
        when = datetime.datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{when.day} {when:%B %Y, %H:%M} {when.tzname() or ''}".strip()


def tiles(seen: Seen) -> Tree:
    """Return a few numbers that say what kind of run this was."""
    run = seen.run
    fit = sum(test.passed for test in tests_before(run))
    facts = {
        f"{run.trials_word} that count": len(run.ok),
        "failed, and do not count": len(run.failed),
        "links within tolerance before their trials": f"{fit} of {len(run.links)}",
        f"standard deviation within a cell {run.over}".strip(): percent(tables.noise_percent(seen.rows)),
        "of trials": span(sum(trial.wall_s for trial in run.trials)),
    }
    return Tree(facts, style="tiles")
