"""Which figures a study's run plays next, what it takes, and with which seeds and trials. Pure."""

from pathlib import Path

import pytest

from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.studies import AskedStudy, begin_study
from lanelab.driver.base.errors import ArgumentError, InputError
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.results import History
from lanelab.driver.record.reasons import Reason
from lanelab.driver.run.events import unheard
from lanelab.driver.run.folder.content import attempt_of
from lanelab.driver.run.study.figures import (
    Standing,
    State,
    Wishes,
    chosen,
    chosen_variant,
    figure_seed,
    remaining_s,
    state_of,
    still_to_run,
    too_few_for_verdicts,
)
from lanelab.driver.run.study.read import StudyFolder, read_study_folder
from tests.kit.studies import texts, write_study


@pytest.fixture(name="read")
def _read(tmp_path: Path) -> StudyFolder:
    return read_study_folder(str(write_study(tmp_path)))


@pytest.fixture(name="experiment")
def _experiment(read: StudyFolder) -> Experiment:
    return read.experiments("period")[1]


def standing(figure: int, state: State, done: int = 0) -> Standing:
    return Standing(figure, state, done, trials=10, seconds=100.0)


THREE = [standing(1, "finished", 10), standing(2, "unfinished", 4), standing(3, "not begun")]


def test_finished_figures_stay_and_the_others_go_on_in_order() -> None:
    assert still_to_run(THREE, ()) == [2, 3]
    assert still_to_run(THREE, (3,)) == [3]
    assert still_to_run(THREE, (1,)) == []
    assert still_to_run(THREE, (3, 2, 1)) == [2, 3]


def test_what_remains_is_what_has_no_trials_yet() -> None:
    assert remaining_s(THREE, [1, 2, 3]) == pytest.approx(60 + 100)
    assert remaining_s(THREE, [2]) == pytest.approx(60)
    assert remaining_s(THREE, [2, 3], pace=1.5) == pytest.approx(240)


def history(experiment: Experiment, reason: str = "") -> History:
    """Every round of every cell counts; `reason`: of the first trial of the first cell, which then does not."""
    rounds = {
        (cell.id, number): [attempt_of(ok=True, value=1000.0, reasons=[])]
        for cell in experiment.cells
        for number in (1, 2)
    }
    if reason:
        rounds[experiment.cells[0].id, 1] = [attempt_of(ok=False, value=None, reasons=[reason])]
    return rounds


def test_a_figure_is_finished_when_its_run_says_so_and_going_on_makes_nothing(experiment: Experiment) -> None:
    assert state_of(experiment, "finished", history(experiment)) == "finished"
    assert state_of(experiment, "running", history(experiment)) == "unfinished"
    assert state_of(experiment, "stopped", {}) == "unfinished"


def test_a_refused_link_is_tried_again(experiment: Experiment) -> None:
    refused = history(experiment, reason=Reason.LINK_OUT_OF_TOLERANCE)
    assert state_of(experiment, "finished", refused) == "unfinished"


def test_a_trial_whose_retries_are_used_up_is_not(experiment: Experiment) -> None:
    attempts = [attempt_of(ok=False, value=None, reasons=["http-error"])] * (experiment.retries + 1)
    failed = {**history(experiment), (experiment.cells[0].id, 1): attempts}
    assert state_of(experiment, "finished", failed) == "finished"


def test_trials_replace_what_the_experiment_says_and_limit_the_beds(experiment: Experiment) -> None:
    more = Wishes(trials=7, beds=3).of(experiment)
    assert (more.repeat.trials, more.repeat.max, more.beds) == (7, 7, 3)
    assert Wishes(trials=2).of(Wishes(beds=2).of(experiment)).beds == 2
    assert Wishes(trials=1).of(Wishes(beds=2).of(experiment)).beds == 1
    assert Wishes().of(experiment) == experiment
    with pytest.raises(InputError, match="--beds"):
        Wishes(trials=2, beds=3).of(experiment)


@pytest.mark.parametrize(
    ("trials", "beds", "enough"), [(5, 1, False), (6, 1, True), (3, 3, True), (4, 2, False), (1, 1, False)]
)
def test_too_few_rounds_for_verdicts_are_known_beforehand(
    experiment: Experiment, trials: int, beds: int, enough: bool
) -> None:
    asked = Wishes(trials, beds).of(experiment)
    assert too_few_for_verdicts({1: asked}) == ([] if enough else [1])


def test_figures_and_variants_are_known(read: StudyFolder) -> None:
    study = read.study
    assert chosen(study, (2, 2)) == (2,)
    assert chosen(study, (2, 1)) == (1, 2)
    with pytest.raises(InputError, match=r"--figure: the study has no figure 3\. .*There are 1, 2"):
        chosen(study, (3,))
    assert chosen_variant(study, None) == "period"
    assert chosen_variant(study, "today") == "today"
    with pytest.raises(InputError, match="Did you mean today"):
        chosen_variant(study, "todya")


def test_each_figure_has_a_seed_of_its_own_that_is_always_the_same() -> None:
    seeds = [figure_seed(7, figure) for figure in range(1, 9)]
    assert len(set(seeds)) == 8
    assert seeds == [figure_seed(7, figure) for figure in range(1, 9)]
    assert figure_seed(8, 1) not in seeds


LOAD_FIGURE = """\
workload: {kind: load, script: object, users: [1, 10], duration: 10s}
sites: dummy
links: {rtt: 20ms}
arms: {http: {}, h2: {tls: 1.3, protocol: h2}}
variants: {period: {links: {initial_window: 3}}, today: {}}
"""


def test_a_scale_that_cannot_be_is_told_as_such_before_there_is_a_folder(tmp_path: Path) -> None:
    study = read_study_folder(str(write_study(tmp_path, {**texts(), "two.yaml": LOAD_FIGURE})))
    asked = AskedStudy(Wishes(scale=0.1), None, (), None, tmp_path / "run", BedOptions())
    with pytest.raises(ArgumentError, match="'1 users' and '10 users'") as raised:
        begin_study(study, asked, unheard)
    assert raised.value.key == "scale"
    assert not (tmp_path / "run").exists()
