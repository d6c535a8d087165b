"""What was tried so far, and what it gave. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lanelab.analysis.statistics.looks import Look
from lanelab.driver.experiment.model import Cell, Experiment
from lanelab.driver.experiment.schedule.order import PlannedTrial
from lanelab.driver.experiment.schedule.stopping import Statistics, unknown_cells, unknown_changes
from lanelab.driver.record.metrics import primary_of

History = Mapping[tuple[str, int], Sequence["Attempt"]]  # (cell id, round) -> attempts, in order


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution of a planned trial. `value`: the workload's primary metric, where the trial counts."""

    ok: bool
    value: float | None = None
    uses_retry: bool = True  # False: it failed for a reason that is not the trial's, such as a lost bed
    timed_out: bool = False
    machine: int = 1  # the number of the one that made it

    @property
    def is_result(self) -> bool:
        """Return whether the round has what it asks for in this cell. A time-out is not tried again: of the trials that
        were, only those that were fast enough would be left."""
        return self.ok or self.timed_out

    def result(self, worst: float) -> float | None:
        return worst if self.timed_out else self.value


def is_needed(attempts: Sequence[Attempt], retries: int) -> bool:
    """Return whether a trial with these attempts is made (again)."""
    if any(attempt.is_result for attempt in attempts):
        return False
    return sum(attempt.uses_retry for attempt in attempts) <= retries


class Results:
    """The attempts of an experiment, and whether they are enough."""

    def __init__(self, experiment: Experiment, statistics: Statistics, history: History) -> None:
        self._experiment, self._statistics = experiment, statistics
        self._worst = primary_of(experiment.workload).worst
        self._attempts = {key: list(attempts) for key, attempts in history.items()}
        self._values: dict[str, dict[int, float]] = {}
        self._made_on: dict[str, dict[int, int]] = {}
        for (cell, number), attempts in self._attempts.items():
            for attempt in attempts:
                self._note(cell, number, attempt)

    def of(self, key: tuple[str, int]) -> Sequence[Attempt]:
        return self._attempts.get(key, ())

    def add(self, planned: PlannedTrial, attempt: Attempt) -> None:
        """Take note of an attempt that was stored."""
        self._attempts.setdefault(planned.key, []).append(attempt)
        self._note(planned.cell.id, planned.round, attempt)

    def _note(self, cell: str, number: int, attempt: Attempt) -> None:
        """The value of a round is its first result. A run of a fixed number of trials asks for none."""
        if self._experiment.repeat.ci is None:
            return
        value = attempt.result(self._worst)
        if value is not None:
            self._values.setdefault(cell, {}).setdefault(number, value)
            self._made_on.setdefault(cell, {}).setdefault(number, attempt.machine)

    def forget(self, key: tuple[str, int]) -> None:
        """Nobody will ask for this trial again: a run of very many must not keep all of them."""
        self._attempts.pop(key, None)

    def is_needed(self, planned: PlannedTrial) -> bool:
        return is_needed(self.of(planned.key), self._experiment.retries)

    def has_begun(self, phase: Sequence[Cell], number: int) -> bool:
        return any((cell.id, number) in self._attempts for cell in phase)

    def is_enough(self, phase: Sequence[Cell], look: Look) -> bool:
        repeat, statistics = self._experiment.repeat, self._statistics
        if repeat.of == "change":
            pairs = [(base.id, arm.id) for base, arm in self._experiment.pairs.cells]
            return not unknown_changes(pairs, self._values, repeat, look, statistics, self._made_on, self._worst)
        values = {cell.id: self._values.get(cell.id, {}) for cell in phase}
        return not unknown_cells(values, repeat, look, statistics)


def short_cells(experiment: Experiment, history: History) -> list[Cell]:
    """The cells that have fewer results than the experiment asks for, or nothing but time-outs."""
    results: dict[str, int] = {}
    counting: set[str] = set()
    for (cell, _), attempts in history.items():
        results[cell] = results.get(cell, 0) + any(attempt.is_result for attempt in attempts)
        counting |= {cell for attempt in attempts if attempt.ok}
    least = experiment.repeat.min
    return [cell for cell in experiment.cells if results.get(cell.id, 0) < least or cell.id not in counting]
