"""A run's claims are judged as it keeps them, whatever was edited since."""

from dataclasses import replace

import pytest

from lanelab.analysis.results.claims.judge import judge, judge_as_kept
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.run_folder import read_run
from tests.kit.made_run import Made, make_run
from tests.kit.made_study import claims


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return read_run(make_run(tmp_path_factory.mktemp("kept") / "run", Made(rounds=6, beds=3, claims=claims(1))))


def test_without_a_file_nothing_is_called_changed(run: Run) -> None:
    assert judge_as_kept(run, None) == judge(run)
    assert not any(one.changed for one in judge_as_kept(run, run.claims))


def test_an_edited_margin_changes_no_verdict_and_is_told(run: Run) -> None:
    generous = replace(run.claims[0], margin="40pp", low=0.3, high=1.0)
    found = judge_as_kept(run, [generous, run.claims[1]])
    assert [one.changed for one in found] == [True, False]
    assert [(one.claim, one.verdict) for one in found] == [(one.claim, one.verdict) for one in judge(run)]


def test_other_cells_of_the_same_claim_are_no_edit(run: Run) -> None:
    """As after an edit of the link's settings in the experiment."""
    (place,) = run.claims[1].places
    elsewhere = replace(place, points=tuple(replace(point, cell="f" * 16) for point in place.points))
    found = judge_as_kept(run, [run.claims[0], replace(run.claims[1], places=(elsewhere,))])
    assert [one.changed for one in found] == [False, False]


def test_a_place_that_is_named_with_more_words_is_no_edit(run: Run) -> None:
    """A run of before keeps the shorter ones. Another link is an edit, whatever the place is called."""
    kept = run.claims[0]
    longer = replace(kept, places=tuple(replace(place, words=f"{place.words}, loss 0%") for place in kept.places))
    assert not judge_as_kept(run, [longer, *run.claims[1:]])[0].changed
    points = tuple(replace(point, words="dummy, 50mbit 5ms") for point in kept.places[0].points)
    moved = replace(kept, places=(replace(kept.places[0], points=points), *kept.places[1:]))
    assert judge_as_kept(run, [moved, *run.claims[1:]])[0].changed


def test_what_was_taken_out_or_added_is_told(run: Run) -> None:
    added = replace(run.claims[1], name="added")
    found = judge_as_kept(run, [run.claims[0], added])
    assert [(one.claim.name, one.changed) for one in found] == [
        ("h2-faster-1", False), ("connections-1", True), ("added", True)
    ]  # fmt: skip
    assert found[2].verdict == found[1].verdict
