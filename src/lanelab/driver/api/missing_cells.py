"""The cells of a run that have fewer trials that count than were asked for."""

from lanelab.analysis.results.model import Run
from lanelab.driver.experiment.schedule.results import Attempt
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.content import attempt_of
from lanelab.driver.run.missing import MissingCell, Reasons, trials_missing
from lanelab.driver.run.start import read_back
from lanelab.driver.site.load import site_names


def missing_cells(run: Run) -> tuple[MissingCell, ...]:
    """Return them, in the order of the experiment."""
    experiment = read_back(run.folder / run_format.EXPERIMENT, run.meta, site_names())
    history: dict[tuple[str, int], list[Attempt]] = {}
    for trial in run.trials:
        reasons = [failure.reason for failure in trial.failures]
        attempt = attempt_of(trial.ok, trial.value, reasons, trial.machine)
        history.setdefault((trial.cell.id, trial.round), []).append(attempt)
    missing = trials_missing(experiment, history, _reasons(run), run.folder)
    return missing.cells if missing else ()


def _reasons(run: Run) -> Reasons:
    reasons: dict[str, dict[str, int]] = {}
    for trial in run.trials:
        for reason in {failure.reason for failure in trial.failures}:
            of_cell = reasons.setdefault(trial.cell.id, {})
            of_cell[reason] = of_cell.get(reason, 0) + 1
    return reasons
