"""What the figures of a study are expected to take, and how far those of a run are, by what is on disk."""

from collections.abc import Mapping

from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.estimate import Estimate
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.store import Store
from lanelab.driver.run.run_duration import expected
from lanelab.driver.run.study.figures import Standing, state_of
from lanelab.driver.run.study.run_folder import OpenStudyRun


def costs(experiments: Mapping[int, Experiment]) -> dict[int, Estimate]:
    """Return what each figure is expected to take."""
    return {number: expected(experiment) for number, experiment in experiments.items()}


def standings_of(run: OpenStudyRun, estimates: Mapping[int, Estimate]) -> list[Standing]:
    """Return the standing of each figure, in the study's order."""
    return [_standing(run, number, estimates[number]) for number in run.experiments]


def _standing(run: OpenStudyRun, number: int, cost: Estimate) -> Standing:
    folder = run.figure_folder(number)
    if not (folder / run_format.DATABASE).is_file():
        return Standing(number, "not begun", 0, cost.trials, cost.seconds)
    store = Store.open(folder)
    try:
        history = store.history()
        state = state_of(run.experiments[number], store.meta("state"), history)
    finally:
        store.close()
    done = sum(attempt.ok for attempts in history.values() for attempt in attempts)
    return Standing(number, state, done, cost.trials, cost.seconds)
