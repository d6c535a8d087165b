"""Which trials come next, from the attempts that are stored. Pure: a resumed run is scheduled like any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from driver.experiment.model import Cell, Experiment
from driver.schedule.blocks import Stage, stages
from driver.schedule.order import PlannedTrial, round_order
from driver.schedule.until import Interval, needs_more

History = Mapping[tuple[str, int], Sequence["Attempt"]]  # (cell id, round) -> attempts, in order


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution of a planned trial. `value`: the workload's primary metric, where the trial counts."""

    ok: bool
    value: float | None = None
    uses_retry: bool = True  # False: it failed for a reason that is not the trial's, such as a lost bed


class Schedule:
    """The trials of an experiment that remain to be made, round by round."""

    def __init__(self, experiment: Experiment, seed: int, interval: Interval, history: History) -> None:
        self._experiment, self._seed, self._interval = experiment, seed, interval
        self._attempts = {key: list(attempts) for key, attempts in history.items()}
        self._given_up: set[tuple[str, int]] = set()
        self._is_second_pass = False
        self._stages = stages(experiment)
        self._stage, self._round = 0, 1  # of the round that is under way: all before it are complete
        self._values: dict[str, list[float]] = {}
        for (cell, _), attempts in self._attempts.items():
            self._values.setdefault(cell, []).extend(each.value for each in attempts if each.value is not None)

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
        if attempt.value is not None:
            self._values.setdefault(planned.cell.id, []).append(attempt.value)

    def give_up(self, planned: PlannedTrial) -> None:
        """Leave out a trial that cannot be made now. This is not stored, so a later session tries again."""
        self._given_up.add(planned.key)

    def _is_last_round_over(self, phase: Sequence[Cell]) -> bool:
        """A round that has begun is finished, so that arms stay paired by round."""
        repeat = self._experiment.repeat
        if self._round > repeat.max:
            return True
        begun = any((cell.id, self._round) in self._attempts for cell in phase)
        return self._round > repeat.min and not begun and self._is_enough(phase)

    def _is_enough(self, phase: Sequence[Cell]) -> bool:
        """A cell in which no trial ever counted decides nothing: more trials would not either."""
        values = {cell.id: self._values[cell.id] for cell in phase if self._values.get(cell.id)}
        return not needs_more(values, self._experiment.repeat, self._interval)

    def _is_needed(self, planned: PlannedTrial) -> bool:
        if planned.key in self._given_up:
            return False
        attempts = self._attempts.get(planned.key, ())
        if any(attempt.ok for attempt in attempts):
            return False
        return sum(attempt.uses_retry for attempt in attempts) <= self._experiment.retries


def short_cells(experiment: Experiment, history: History) -> list[Cell]:
    """The cells that have fewer trials that count than the experiment asks for."""
    counted: dict[str, int] = {}
    for (cell, _), attempts in history.items():
        counted[cell] = counted.get(cell, 0) + sum(attempt.ok for attempt in attempts)
    return [cell for cell in experiment.cells if counted.get(cell.id, 0) < experiment.repeat.min]
