"""What is said of links that were measured again after their trials."""

import json
from pathlib import Path
from typing import Any

import pytest

from lanelab.analysis.results import conditions, export, link_drift
from lanelab.analysis.results.report import page
from lanelab.analysis.results.run_folder import read_run
from tests.kit.changed_run import changing
from tests.kit.made_run import Made, make_run
from tests.kit.made_trials import self_test
from tests.kit.stored_run import stamp


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two links on one bed, each measured before its 12 trials or so that count."""
    return make_run(tmp_path / "run", Made(rounds=3))


def measured(folder: Path, link: int, moment: str = "after", **changed: float) -> None:
    """Another self-test of that link; `changed`: properties that were found to be so much, out of tolerance."""
    data = self_test(settings(folder, link))
    for result in data["results"]:
        value = changed.get(result["name"].replace(" ", "_"))
        if value is not None:
            result |= {"achieved": value, "verdict": "out"}
    add(folder, link, data, moment, passed=not changed)


def add(folder: Path, link: int, data: dict[str, Any], moment: str, *, passed: bool) -> None:
    with changing(folder) as database:
        database.execute(
            "INSERT INTO self_tests (session, bed, link, moment, at_utc, passed, data) VALUES (1, 1, ?, ?, ?, ?, ?)",
            (link, moment, stamp(590 + link), int(passed), json.dumps(data)),
        )


def settings(folder: Path, link: int) -> dict[str, str]:
    found = next(each for each in read_run(folder).links if each.number == link)
    return {str(key): str(value) for key, value in found.settings.items()}


def test_a_link_that_stayed_is_told_with_its_largest_change_and_doubts_nothing(folder: Path) -> None:
    for link in (1, 2):
        measured(folder, link)
    run = read_run(folder)
    assert conditions.caveats(run) == []
    drifts = link_drift.drifts(run)
    assert [(drift.link.number, drift.bed, bool(drift.after)) for drift in drifts] == [(1, 1, True), (2, 1, True)]
    assert sum(drift.trials for drift in drifts) == len(run.ok)
    assert {each.name: each.change for each in link_drift.largest(run)}["rtt"] == 0
    text = page(run)
    assert "Measured again after their trials" in text
    assert "All 2 links were what was asked for." in text


def test_a_link_that_is_out_afterwards_makes_its_trials_doubtful(folder: Path) -> None:
    measured(folder, 1, rtt=25.5)
    measured(folder, 2)
    run = read_run(folder)
    label = run.links[0].label
    trials = sum(trial.cell.link.number == 1 for trial in run.ok)
    (caveat,) = conditions.caveats(run)
    assert caveat == (
        f"The link {label} was no longer what was asked for when bed 1 measured it again after its trials: rtt was "
        f"20.11 ms before and 25.5 ms after (19.5 to 20.5 is tolerated). It changed somewhere between, so {trials} "
        "trials on it are doubtful."
    )
    assert caveat in page(run)
    assert export.results(run)["caveats"] == [caveat]
    assert {row["link_in_tolerance"] for row in export.trial_rows(run)} == {True}  # before them it was


def test_what_was_out_before_too_is_not_told_as_drift(folder: Path) -> None:
    measured(folder, 1, "before", rtt=25.0)
    measured(folder, 1, rtt=25.5)
    assert link_drift.sentences(read_run(folder)) == []


def test_a_link_that_was_not_measured_again_is_named(folder: Path) -> None:
    measured(folder, 2)
    run = read_run(folder)
    assert [drift.link.number for drift in link_drift.not_measured_again(run)] == [1]
    assert f"1 of 2 were not measured again after their trials: {run.links[0].label} (bed 1)." in page(run)


def test_the_report_names_what_was_not_measured(folder: Path) -> None:
    data = self_test(settings(folder, 1))
    data["results"].append(
        {"name": "queue down", "unit": "packets", "target": 900, "achieved": None, "low": None, "high": None,
         "verdict": "not measured", "note": "a full queue takes 9 s to drain"}
    )  # fmt: skip
    add(folder, 1, data, "before", passed=True)
    run = read_run(folder)
    text = page(run)
    told = f"what was asked for as far as it was measured. Not measured: queue down ({run.links[0].label})."
    assert told in text
    assert "All 2 links were what was asked for." not in text
