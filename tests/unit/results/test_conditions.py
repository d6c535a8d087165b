"""What takes the meaning from a run's numbers is told in table, report, JSON and CSV."""

import datetime
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lanelab.analysis.results import conditions, export, tables
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.report import page
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.findings import warnings
from lanelab.analysis.results.sections.of_run import results_on_terminal
from tests.kit.changed_run import change
from tests.kit.made_run import Made, make_run
from tests.kit.made_trials import self_test
from tests.kit.stored_run import PROVENANCE, stamp

ALL = "The nodes' processors were emulated: page load times tell how slow these machines are"
SOME = "The nodes' processors were emulated in session 2: page load times tell how slow these machines are"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two links, four arms, 25 trials from second 4 to second 52; links measured in seconds 1 and 2."""
    return make_run(tmp_path / "run", Made(rounds=3))


def measured(folder: Path, link: int, second: float, *, passed: bool, session: int = 1) -> None:
    data = json.dumps({**self_test({"rtt": "20ms"}), "passed": passed})
    change(
        folder,
        "INSERT INTO self_tests (session, bed, link, moment, at_utc, passed, data) VALUES (?, 1, ?, 'before', ?, ?, ?)",
        session,
        link,
        stamp(second),
        int(passed),
        data,
    )


def provenance(folder: Path, session: int, **facts: object) -> None:
    text = json.dumps({**PROVENANCE, **facts})
    change(folder, "UPDATE sessions SET provenance = ? WHERE session = ?", text, session)


def shown(run: Run) -> str:
    """What a terminal has, wide enough for every sentence."""
    console = Console(width=400, file=io.StringIO())
    with console.capture() as capture:
        console.print(results_on_terminal(run))
    return capture.get()


def test_a_run_on_real_processors_and_links_as_asked_for_has_no_caveat(folder: Path) -> None:
    assert conditions.caveats(read_run(folder)) == []
    provenance(folder, 1, emulated_processors=False)
    run = read_run(folder)
    assert conditions.caveats(run) == []
    assert {(row["link_in_tolerance"], row["emulated"]) for row in export.trial_rows(run)} == {(True, False)}


def test_emulated_processors_are_told_everywhere(folder: Path) -> None:
    provenance(folder, 1, emulated_processors=True, patience=6.0)
    run = read_run(folder)
    (caveat,) = conditions.caveats(run)
    assert caveat.startswith(ALL)
    assert ALL in shown(run)
    assert warnings(run, tables.rows(run), tables.comparisons(run))[0] == caveat
    assert ALL in page(run).replace("&#x27;", "'").replace("&#39;", "'")
    assert export.results(run)["caveats"] == [caveat]
    assert {row["emulated"] for row in export.trial_rows(run)} == {True}


def test_emulated_in_one_session_only(folder: Path) -> None:
    change(folder, "INSERT INTO sessions VALUES (2, ?, NULL, NULL, '{}')", stamp(600))
    provenance(folder, 2, emulated_processors=True)
    assert conditions.caveats(read_run(folder)) == []  # no trial was made in it
    change(folder, "UPDATE trials SET session = 2 WHERE trial > 20")
    assert conditions.caveats(read_run(folder))[0].startswith(SOME)


def test_another_kernel_in_a_later_session_is_told_and_another_time_is_not(folder: Path) -> None:
    change(folder, "INSERT INTO sessions VALUES (2, ?, NULL, NULL, '{}')", stamp(600))
    provenance(folder, 1, bed={"kernel": "6.1", "began_utc": stamp(1), "bring_up_s": 1.0})
    provenance(folder, 2, bed={"kernel": "6.1", "began_utc": stamp(601), "bring_up_s": 2.0})
    assert conditions.changes(read_run(folder)) == []
    provenance(folder, 2, bed={"kernel": "6.2", "began_utc": stamp(601), "bring_up_s": 2.0})
    assert conditions.changes(read_run(folder)) == [
        "The bed kernel changed within the run: 6.1 in session 1, 6.2 in session 2."
    ]


def test_another_client_of_a_load_in_a_later_session_is_told(folder: Path) -> None:
    change(folder, "INSERT INTO sessions VALUES (2, ?, NULL, NULL, '{}')", stamp(600))
    provenance(folder, 1, **{"spdy-load": {"sha256": "a"}})
    provenance(folder, 2, **{"spdy-load": {"sha256": "b"}})
    (change_of_client,) = conditions.changes(read_run(folder))
    assert change_of_client == "Spdy-load sha256 changed within the run: a in session 1, b in session 2."


def test_a_link_that_was_accepted_is_told_though_it_passes_on_the_next_bed(folder: Path) -> None:
    change(folder, "UPDATE self_tests SET passed = 0 WHERE link = 1")
    measured(folder, 1, 30.5, passed=True)
    run = read_run(folder)
    used = conditions.used_out_of_tolerance(run)
    assert list(used) == ["10mbit 20ms"]
    assert 0 < used["10mbit 20ms"] < 12
    told = f"(--accept-links): 10mbit 20ms ({used['10mbit 20ms']} of 12 trials)."
    assert told in conditions.caveats(run)[0]
    assert told in shown(run)
    text = page(run)
    assert told in text
    assert "Out of tolerance: 10mbit 20ms." in text
    assert ">1 of 2<" in text
    rows = list(export.trial_rows(run))
    assert {row["link"] for row in rows if not row["link_in_tolerance"]} == {"10mbit 20ms"}
    assert sum(not row["link_in_tolerance"] and row["status"] == "ok" for row in rows) == used["10mbit 20ms"]


def test_a_link_is_that_of_the_bed_also_where_beds_are_used_at_once(folder: Path) -> None:
    """In a sweep another bed measures the link a moment later, and it passes there."""
    run = read_run(folder)
    own = next(test for test in run.self_tests if test.link.number == 1)
    other = replace(own, number=99, bed=2, at=own.at + datetime.timedelta(seconds=1))
    trials = tuple(replace(trial, bed=1 + trial.round % 2) for trial in run.trials if trial.cell.link.number == 1)
    run = replace(run, self_tests=(replace(own, passed=False), other), trials=trials)
    assert conditions.in_tolerance(run) == {trial.number: trial.bed == 2 for trial in trials}
    assert len({trial.bed for trial in trials}) == 2


def test_a_link_that_passed_in_the_end_was_not_accepted(folder: Path) -> None:
    """Three attempts: what failed in a busy moment is not used before it passes."""
    measured(folder, 1, 2.5, passed=False)
    measured(folder, 1, 3.0, passed=True)
    assert conditions.caveats(read_run(folder)) == []


def test_a_link_that_was_refused_was_not_used(folder: Path) -> None:
    """Without --accept-links its trials failed, and do not count."""
    measured(folder, 1, 30.5, passed=False)
    own = "SELECT trial FROM trials JOIN cells USING (cell) WHERE link = 1 AND started_utc > ?"
    change(folder, f"UPDATE trials SET status = 'failed' WHERE trial IN ({own})", stamp(30.5))  # noqa: S608
    run = read_run(folder)
    assert conditions.caveats(run) == []
    assert False in {row["link_in_tolerance"] for row in export.trial_rows(run)}
