"""beds: N: which rounds share a bed, and that a run changes its bed between them. Real beds are in tests/e2e."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.base.errors import BedLost, InputError
from lanelab.driver.cli import experiments as plan_command
from lanelab.driver.experiment.read import over_beds, parse_experiment
from lanelab.driver.experiment.schedule.blocks import blocks, stages
from lanelab.driver.experiment.schedule.estimate import SiteLoad, estimate
from lanelab.driver.experiment.schedule.warnings import warnings
from lanelab.driver.run.current_bed import BEDS_LOST_IN_A_ROW
from lanelab.driver.run.events import BedUp
from lanelab.driver.run.folder.store import Store
from lanelab.driver.trial.spec import TrialSpec
from tests.kit.experiments import PATIENT, SMALL, read
from tests.kit.played_runs import TWO_ARMS, Play, StandIn
from tests.kit.played_runs import _judged_as_recorded as _judged_as_recorded  # noqa: PLC0414 - a fixture

LOADS = {"dummy": SiteLoad(24, 1, 1_115_300), "shop": SiteLoad(10, 3, 300_000)}


@pytest.fixture
def play(tmp_path: Path) -> Callable[[str], Play]:
    return lambda text: Play(tmp_path / "run", parse_experiment(text, "made.yaml", ["dummy"]))


# --- which rounds share a bed


@PATIENT
@given(st.integers(1, 60), st.data())
def test_every_round_has_a_bed_and_beds_share_the_rounds_evenly(trials: int, data: st.DataObject) -> None:
    beds = data.draw(st.integers(1, trials))
    made = blocks(read(f"{SMALL}trials: {trials}\n").repeat, beds)
    assert [n for first, last in made for n in range(first, last + 1)] == list(range(1, trials + 1))
    lengths = [last - first + 1 for first, last in made]
    assert len(made) == beds
    assert max(lengths) - min(lengths) <= 1


@PATIENT
@given(st.integers(1, 30), st.integers(0, 30), st.data())
def test_until_has_as_many_beds_as_asked_for_however_early_it_ends(fewest: int, more: int, data: st.DataObject) -> None:
    beds = data.draw(st.integers(2, max(2, fewest)))
    if beds > fewest:
        return
    most = fewest + more
    repeat = read(f"{SMALL}until: {{ci: 2%, min: {fewest}, max: {most}}}\n").repeat
    made = blocks(repeat, beds)
    assert [n for first, last in made for n in range(first, last + 1)] == list(range(1, most + 1))
    assert sum(last <= repeat.looks[0].trials for _, last in made) >= beds


def test_sequential_cells_are_measured_on_every_bed() -> None:
    experiment = read(f"{SMALL}trials: 4\nbeds: 2\norder: sequential\n")
    made = [(stage.block, [cell.id for cell in stage.cells], stage.first, stage.last) for stage in stages(experiment)]
    each = [[cell.id] for cell in experiment.cells]
    assert made == [*((1, cell, 1, 2) for cell in each), *((2, cell, 3, 4) for cell in each)]


@pytest.mark.parametrize("text", ["trials: 2\nbeds: 3\n", "until: {ci: 2%, min: 2, max: 9}\nbeds: 3\n"])
def test_more_beds_than_rounds_are_refused_with_the_line(text: str) -> None:
    with pytest.raises(InputError, match=r":5: beds: 3 beds cannot share 2 rounds.*at most 2") as caught:
        read(SMALL + text)
    assert caught.value.exit_status == 2
    with pytest.raises(InputError, match="--beds: 6 beds cannot share 5 rounds"):
        over_beds(read(SMALL), 6, "--beds")
    assert over_beds(read(SMALL), 5).beds == 5


def test_a_plan_counts_beds_and_their_self_tests(tmp_path: Path) -> None:
    one, three = (estimate(read(f"{SMALL}trials: 9\nbeds: {beds}\n"), LOADS) for beds in (1, 3))
    assert (one.beds, three.beds, three.most_beds) == (1, 3, 3)
    assert three.seconds - one.seconds == pytest.approx(2 * (2.5 + 2 * (2 + 1.5)))  # 2 links, before and after
    until = estimate(read(f"{SMALL}until: {{ci: 2%, min: 6, max: 30}}\nbeds: 3\n"), LOADS)
    assert (until.beds, until.most_beds) == (3, 8)  # the first look is after 12 trials: every 4 rounds a bed
    file = tmp_path / "made.yaml"
    file.write_text(f"{SMALL}trials: 10\nbeds: 3\n")
    shown = CliRunner().invoke(plan_command.plan, [str(file)], catch_exceptions=False)
    assert "beds:  3, a fresh one for every 3 or 4 rounds" in shown.stdout
    as_json = json.loads(CliRunner().invoke(plan_command.plan, [str(file), "--json"], catch_exceptions=False).stdout)
    assert as_json["beds"] == {"least": 3, "most": 3}
    assert as_json["blocks"] == [[1, 3], [4, 6], [7, 10]]


def test_two_beds_are_warned_of() -> None:
    for beds, warned in ((1, False), (2, True), (3, False)):
        experiment = read(f"{SMALL}trials: 6\nbeds: {beds}\n")
        assert any("2 beds" in line for line in warnings(experiment, estimate(experiment, LOADS))) is warned


# --- a run over several


def good() -> StandIn:
    return StandIn(lambda _arm, _number: 100.0)


def beds_of(run: Play) -> dict[int, set[int]]:
    """Round -> the beds that its trials were made on, of those that count."""
    found: dict[int, set[int]] = {}
    for trial in read_run(run.folder).trials:
        if trial.ok:
            found.setdefault(trial.round, set()).add(trial.bed)
    return found


def test_each_block_of_rounds_has_a_bed_of_its_own(play: Callable[[str], Play]) -> None:
    run, beds = play(f"{TWO_ARMS}trials: 4\nbeds: 2\n"), [good(), good()]
    run.on(*beds)
    assert [len(bed.loads) for bed in beds] == [4, 4]
    assert [bed.self_tests for bed in beds] == [1, 1]
    assert beds_of(run) == {1: {1}, 2: {1}, 3: {2}, 4: {2}}
    assert [event.bed for event in run.events if isinstance(event, BedUp)] == [1, 2]
    assert {test.bed for test in read_run(run.folder).self_tests} == {1, 2}
    assert {"bed", "bed 2", "tc_at_the_end", "tc_at_the_end 2"} <= set(read_run(run.folder).sessions[0].provenance)


def test_no_trial_is_prepared_on_a_bed_that_is_about_to_end(play: Callable[[str], Play]) -> None:
    """The next trial's server and browser start while one is stored, but not across a change of beds."""
    run = play(f"{TWO_ARMS}trials: 3\nbeds: 3\n")
    prepared: list[tuple[int, str]] = []

    class Counting(StandIn):
        def prepare_trial(self, spec: TrialSpec) -> None:
            prepared.append((id(self), spec.arm.name))
            super().prepare_trial(spec)

    beds = [Counting(lambda _arm, _number: 100.0) for _ in range(3)]
    run.on(*beds)
    assert [bed for bed, _ in prepared] == [id(bed) for bed in beds for _ in range(2)]


def test_a_run_that_goes_on_begins_a_bed_and_changes_it_where_its_block_ends(play: Callable[[str], Play]) -> None:
    run = play(f"{TWO_ARMS}trials: 6\nbeds: 3\n")
    killed = StandIn(lambda _arm, number: 100.0 if number < 2 else RuntimeError("stand-in for a kill"))
    with pytest.raises(RuntimeError):
        run.on(good(), killed)  # in round 4: the second bed's
    assert run.on(good(), good()) == {"a": [True] * 6, "b": [True] * 6}
    assert beds_of(run) == {1: {1}, 2: {1}, 3: {2}, 4: {3}, 5: {4}, 6: {4}}


def test_a_lost_bed_within_a_block_is_followed_by_one_with_a_new_number(play: Callable[[str], Play]) -> None:
    run = play(f"{TWO_ARMS}trials: 4\nbeds: 2\norder: sequential\n")
    lost = StandIn(lambda arm, _number: BedLost("the bed process died") if arm == "b" else 100.0)
    run.on(lost, good(), good())
    trials = read_run(run.folder).trials
    assert [(trial.cell.arm.name, trial.round, trial.bed) for trial in trials if trial.ok] == [
        ("a", 1, 1), ("a", 2, 1), ("b", 1, 2), ("b", 2, 2), ("a", 3, 3), ("a", 4, 3), ("b", 3, 3), ("b", 4, 3),
    ]  # fmt: skip


def test_a_bed_that_does_not_come_up_in_the_middle_is_asked_for_again(play: Callable[[str], Play]) -> None:
    run = play(f"{TWO_ARMS}trials: 2\nbeds: 2\nretries: 0\n")
    refused = [BedLost("the bed process died during its start")] * (BEDS_LOST_IN_A_ROW - 1)
    found = run.on(good(), *refused, good())
    assert [sum(ok) for ok in found.values()] == [2, 2]
    assert beds_of(run)[1] == {1}


def test_what_was_given_up_is_made_on_the_last_bed(play: Callable[[str], Play]) -> None:
    """Its link was refused on the first bed: no further bed is made for it."""
    run = play(f"{TWO_ARMS}trials: 2\nbeds: 2\n")
    refusing = StandIn(lambda _arm, _number: 100.0, link_is_right=False)
    found = run.on(refusing, good())
    assert [sum(ok) for ok in found.values()] == [2, 2]
    assert beds_of(run) == {1: {2}, 2: {2}}


def test_the_number_of_beds_is_part_of_the_run(tmp_path: Path) -> None:
    from lanelab.driver.run import start  # noqa: PLC0415

    path = tmp_path / "made.yaml"
    path.write_text(f"{TWO_ARMS}trials: 6\n")
    experiment = over_beds(parse_experiment(path.read_text(), str(path), ["dummy"]), 3)
    begun = start.begin(experiment, "0", tmp_path / "run", 1, {})
    begun.store.close()
    again = start.resume(tmp_path / "run")
    assert again.experiment.beds == 3
    again.store.close()
    store = Store.open(tmp_path / "run")
    assert store.meta("beds") == "3"
    store.close()
