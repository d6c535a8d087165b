"""A run that was opened, for programs: its trials as objects, its verdicts, its report."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanelab.analysis.results import export
from lanelab.analysis.results.claims.judge import judge
from lanelab.analysis.results.claims.verdict import Judged
from lanelab.analysis.results.model import Cell, Run, State, Trial
from lanelab.analysis.results.report import write_report
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.runs import LATEST, find_run
from lanelab.driver.experiment.schedule.results import Attempt
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.content import attempt_of
from lanelab.driver.run.folder.trial_content import artifact_path
from lanelab.driver.run.folder.trial_records import read_record
from lanelab.driver.run.missing import MissingCell, Reasons, trials_missing
from lanelab.driver.run.start import read_back
from lanelab.driver.site.load import site_names


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run as its folder had it when it was opened. `data` has all that the run folder says of it."""

    data: Run

    @property
    def folder(self) -> Path:
        return self.data.folder

    @property
    def name(self) -> str:
        return self.data.name

    @property
    def state(self) -> State:
        """running, finished, stopped, failed or killed."""
        return self.data.state

    @property
    def cells(self) -> Sequence[Cell]:
        return self.data.cells

    @property
    def trials(self) -> Sequence[Trial]:
        """All of them; those with `ok` count."""
        return self.data.trials

    @property
    def missing(self) -> tuple[MissingCell, ...]:
        """The cells that have fewer trials that count than asked for."""
        path = self.folder / run_format.EXPERIMENT
        experiment = read_back(path, self.data.meta, site_names())
        history: dict[tuple[str, int], list[Attempt]] = {}
        for trial in self.trials:
            reasons = [failure.reason for failure in trial.failures]
            attempt = attempt_of(trial.ok, trial.value, reasons, trial.machine)
            history.setdefault((trial.cell.id, trial.round), []).append(attempt)
        missing = trials_missing(experiment, history, self._reasons(), self.folder)
        return missing.cells if missing else ()

    def _reasons(self) -> Reasons:
        reasons: dict[str, dict[str, int]] = {}
        for trial in self.trials:
            for reason in {failure.reason for failure in trial.failures}:
                of_cell = reasons.setdefault(trial.cell.id, {})
                of_cell[reason] = of_cell.get(reason, 0) + 1
        return reasons

    def record(self, trial: int) -> TrialRecord:
        """Return everything that is recorded of a trial, its requests and its evidence included."""
        return read_record(self.folder, trial)

    def artifact(self, trial: int, name: str) -> Path:
        """Return the file of a trial: a capture, a HAR, a screenshot."""
        return artifact_path(self.folder, trial, name)

    def claims(self) -> Sequence[Judged]:
        """Return the verdict on each claim of the experiment, as the claims were when the run began."""
        return judge(self.data)

    def results(self) -> dict[str, Any]:
        """Return what `lanelab show --json` prints: medians with intervals, comparisons, failures, caveats."""
        return export.results(self.data)

    def report(self, path: str | Path | None = None) -> Path:
        """Write the report: one page, in the run folder unless `path` says otherwise."""
        return write_report(self.folder, None if path is None else Path(path))


def open_run(name: str | Path = LATEST) -> OpenRun:
    """Return the run in a folder, of a name in ./runs, or the latest there. Raises InputError where there is none."""
    return OpenRun(read_run(find_run(str(name))))
