"""Which trials come next, from the attempts that are stored. Pure: a resumed run is scheduled like any other."""

from collections.abc import Sequence

from lanelab.driver.experiment.model import Cell, Experiment
from lanelab.driver.experiment.schedule.blocks import Stage, stages
from lanelab.driver.experiment.schedule.order import PlannedTrial, round_order
from lanelab.driver.experiment.schedule.results import Attempt, History, Results
from lanelab.driver.experiment.schedule.stopping import Statistics


class Schedule:
    """The trials of an experiment that remain to be made, round by round."""

    def __init__(self, experiment: Experiment, seed: int, statistics: Statistics, history: History) -> None:
        self._experiment, self._seed = experiment, seed
        self._results = Results(experiment, statistics, history)
        self._given_up: set[tuple[str, int]] = set()
        self._is_second_pass = False
        self._stages = stages(experiment)
        self._stage, self._round = 0, 1  # of the round that is under way: all before it are complete

    def batch(self) -> list[PlannedTrial]:
        """Return what remains of the first round that is not complete, in its order. Empty: the experiment has what it
        asks for. A trial that failed is in the next batch again, while it has retries left. One that was given up is in
        a batch once more when all others are made."""
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

    def next_round(self) -> PlannedTrial | None:
        """Return the first trial of the round after the one that is under way, on the same bed. A planned look may end
        the run before it."""
        if self._stage == len(self._stages) or self._round >= self._stages[self._stage].last:
            return None
        order = round_order(self._experiment, self._seed, self._round + 1, self._stages[self._stage].cells)
        return next((planned for planned in order if self._is_needed(planned)), None)

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
        """Return how many attempts were made."""
        return len(self._results.of(planned.key))

    def add(self, planned: PlannedTrial, attempt: Attempt) -> None:
        """Take note of an attempt that was stored."""
        self._results.add(planned, attempt)

    def give_up(self, planned: PlannedTrial) -> None:
        """Leave out a trial that cannot be made now. This is not stored, so a later session tries again."""
        self._given_up.add(planned.key)

    def _is_last_round_over(self, phase: Sequence[Cell]) -> bool:
        """A run ends at a planned look. A round that has begun is finished, so that arms stay paired by round."""
        repeat = self._experiment.repeat
        if self._round > repeat.max:
            return True
        past = [look for look in repeat.looks if look.trials < self._round]
        return any(
            not self._results.has_begun(phase, look.trials + 1) and self._results.is_enough(phase, look)
            for look in past
        )

    def _is_needed(self, planned: PlannedTrial) -> bool:
        return planned.key not in self._given_up and self._results.is_needed(planned)
