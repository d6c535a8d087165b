"""Which trials come next, from the attempts that are stored. Pure: a resumed run is scheduled like any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from driver.experiment.model import Cell, Experiment
from driver.schedule.blocks import Stage, stages
from driver.schedule.order import PlannedTrial, round_order
from driver.schedule.until import Statistics, unknown_cells, unknown_changes
from model.looks import Look
from model.metrics import primary_of

History = Mapping[tuple[str, int], Sequence["Attempt"]]  # (cell id, round) -> attempts, in order


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution of a planned trial. `value`: the workload's primary metric, where the trial counts."""

    ok: bool
    value: float | None = None
    uses_retry: bool = True  # False: it failed for a reason that is not the trial's, such as a lost bed
    timed_out: bool = False

    @property
    def is_result(self) -> bool:
        """Whether the round has what it asks for in this cell. A time-out is not tried again: of the trials that were,
        only those that were fast enough would be left."""
        return self.ok or self.timed_out

    def result(self, worst: float) -> float | None:
        return worst if self.timed_out else self.value


class Schedule:
    """The trials of an experiment that remain to be made, round by round."""

    def __init__(self, experiment: Experiment, seed: int, statistics: Statistics, history: History) -> None:
        self._experiment, self._seed, self._statistics = experiment, seed, statistics
        self._worst = primary_of(experiment.workload).worst
        self._attempts = {key: list(attempts) for key, attempts in history.items()}
        self._given_up: set[tuple[str, int]] = set()
        self._is_second_pass = False
        self._stages = stages(experiment)
        self._stage, self._round = 0, 1  # of the round that is under way: all before it are complete
        self._values: dict[str, dict[int, float]] = {}
        for (cell, number), attempts in self._attempts.items():
            for attempt in attempts:
                self._note(cell, number, attempt)

    def batch(self) -> list[PlannedTrial]:
        """What remains of the first round that is not complete, in its order. Empty: the experiment has what it asks
        for. A trial that failed is in the next batch again, while it has retries left. One that was given up is in a
        batch once more when all others are made."""
        while self._stage < len(self._stages) or self._begin_second_pass():
            stage = self._stages[self._stage]
            self._round = max(self._round, stage.first)
            if self._round > stage.last:
                self._stage, self._round = self._stage + 1, 1
                continue
            if self._is_last_round_over(stage.cells):
                self._leave_out_the_rest_of(stage)
                continue
            order = round_order(self._experiment, self._seed, self._round, stage.cells)
            remaining = [planned for planned in order if self._is_needed(planned)]
            if remaining:
                return remaining
            self._round += 1
        return []

    def _leave_out_the_rest_of(self, stage: Stage) -> None:
        """Its cells are known: they need no rounds on this bed or on any further one."""
        later = (one for one in self._stages[self._stage + 1 :] if one.cells != stage.cells)
        self._stages = [*self._stages[: self._stage + 1], *later]
        self._stage, self._round = self._stage + 1, 1

    def _begin_second_pass(self) -> bool:
        if self._is_second_pass or not self._given_up:
            return False
        self._is_second_pass = True
        self._given_up.clear()
        self._stage, self._round = 0, 1
        return True

    @property
    def block(self) -> int:
        """The block of rounds that the batch belongs to: each has a bed of its own. 0: any bed will do, for what was
        given up before."""
        return 0 if self._is_second_pass else self._stages[self._stage].block

    def attempts(self, planned: PlannedTrial) -> int:
        """How many attempts were made."""
        return len(self._attempts.get(planned.key, ()))

    def add(self, planned: PlannedTrial, attempt: Attempt) -> None:
        """Take note of an attempt that was stored."""
        self._attempts.setdefault(planned.key, []).append(attempt)
        self._note(planned.cell.id, planned.round, attempt)

    def _note(self, cell: str, number: int, attempt: Attempt) -> None:
        """The value of a round is its first result."""
        value = attempt.result(self._worst)
        if value is not None:
            self._values.setdefault(cell, {}).setdefault(number, value)

    def give_up(self, planned: PlannedTrial) -> None:
        """Leave out a trial that cannot be made now. This is not stored, so a later session tries again."""
        self._given_up.add(planned.key)

    def _is_last_round_over(self, phase: Sequence[Cell]) -> bool:
        """A run ends at a planned look. A round that has begun is finished, so that arms stay paired by round."""
        repeat = self._experiment.repeat
        if self._round > repeat.max:
            return True
        past = [look for look in repeat.looks if look.trials < self._round]
        return any(not self._has_begun(phase, look.trials + 1) and self._is_enough(phase, look) for look in past)

    def _has_begun(self, phase: Sequence[Cell], number: int) -> bool:
        return any((cell.id, number) in self._attempts for cell in phase)

    def _is_enough(self, phase: Sequence[Cell], look: Look) -> bool:
        repeat, statistics = self._experiment.repeat, self._statistics
        if repeat.of == "change":
            pairs = [(base.id, arm.id) for base, arm in self._experiment.pairs.made]
            return not unknown_changes(pairs, self._values, repeat, look, statistics)
        values = {cell.id: self._values.get(cell.id, {}) for cell in phase}
        return not unknown_cells(values, repeat, look, statistics)

    def _is_needed(self, planned: PlannedTrial) -> bool:
        if planned.key in self._given_up:
            return False
        attempts = self._attempts.get(planned.key, ())
        if any(attempt.is_result for attempt in attempts):
            return False
        return sum(attempt.uses_retry for attempt in attempts) <= self._experiment.retries


def short_cells(experiment: Experiment, history: History) -> list[Cell]:
    """The cells that have fewer results than the experiment asks for, or nothing but time-outs."""
    results: dict[str, int] = {}
    counting: set[str] = set()
    for (cell, _), attempts in history.items():
        results[cell] = results.get(cell, 0) + any(attempt.is_result for attempt in attempts)
        counting |= {cell for attempt in attempts if attempt.ok}
    least = experiment.repeat.min
    return [cell for cell in experiment.cells if results.get(cell.id, 0) < least or cell.id not in counting]
