"""The schedule of a run on several beds: which portion a bed makes next, and how a bed makes it. Pure.

A portion is what one bed makes, one trial after the other: all arms of one site over one link in one round; with
`order: random` a whole round, since there its arms are anywhere in it. So what is compared by round always comes from
one bed, and pairs are pairs.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Cell, Experiment
from lanelab.driver.experiment.schedule.blocks import blocks
from lanelab.driver.experiment.schedule.order import PlannedTrial, round_order
from lanelab.driver.experiment.schedule.results import Attempt, History, Results, is_needed
from lanelab.driver.experiment.schedule.stopping import Statistics

Group = tuple[str, str]  # site and label of the link


@dataclass(frozen=True, slots=True)
class PlannedPortion:
    """Cells of one round, in their order. Some may be made already, where a run goes on."""

    round: int
    block: int  # of rounds: those of another block want a fresh bed
    cells: tuple[Cell, ...]

    @property
    def key(self) -> tuple[int, str]:
        return self.round, self.cells[0].id

    @property
    def trials(self) -> list[PlannedTrial]:
        return [PlannedTrial(cell, self.round) for cell in self.cells]


def require_portions(experiment: Experiment) -> None:
    """Raises InputError where the experiment cannot be divided among beds."""
    if experiment.order == "sequential":
        what = "order: sequential asks for one bed that makes a cell after the other, and here are several beds"
        raise InputError(what, "Write order: interleaved, or run it on one bed", key="order")


def portions_of_round(experiment: Experiment, seed: int, number: int, block: int) -> list[PlannedPortion]:
    """Return all portions of a round, in the order in which one bed would make them."""
    order = [planned.cell for planned in round_order(experiment, seed, number)]
    if experiment.order == "random":
        return [PlannedPortion(number, block, tuple(order))]
    groups: dict[Group, list[Cell]] = {}
    for cell in order:
        groups.setdefault((cell.site, cell.link.label), []).append(cell)
    return [PlannedPortion(number, block, tuple(cells)) for cells in groups.values()]


class Spread:
    """The portions of an experiment that remain, for as many beds as there are at a time."""

    def __init__(self, experiment: Experiment, seed: int, statistics: Statistics, history: History) -> None:
        require_portions(experiment)
        self._experiment, self._seed = experiment, seed
        self.results = Results(experiment, statistics, history)
        self._rounds = self._all_rounds()
        self._opened = 0  # the last round whose portions are among those below
        self._waiting: list[PlannedPortion] = []  # in order
        self._under_way: dict[tuple[int, str], PlannedPortion] = {}
        self._number_done: Counter[tuple[str, tuple[str, ...]]] = Counter()  # by machine and cells

    def _all_rounds(self) -> Iterator[tuple[int, int]]:
        """Number and block of each."""
        for block, (first, last) in enumerate(blocks(self._experiment.repeat, self._experiment.beds), 1):
            for number in range(first, last + 1):
                yield number, block

    # --- what comes next

    def next(self, machine: str, can: Callable[[Cell], bool], block: int = 0) -> PlannedPortion | None:
        """Return a portion for a bed of this machine, which is under way from now on; None: there is none now. `can`:
        whether the bed can have the cell's link. `block`: the block that the bed was used for."""
        while True:
            able = [portion for portion in self._candidates() if all(map(can, portion.cells))]
            if able:
                chosen = min(able, key=lambda portion: self._rank(portion, machine, block))
                self._waiting.remove(chosen)
                self._under_way[chosen.key] = chosen
                return chosen
            if not self._open_next_round():
                return None

    def _candidates(self) -> list[PlannedPortion]:
        """Return the waiting portions of the first two rounds: a bed that cannot have a link must not run far ahead,
        and one that can has enough to choose from."""
        rounds = list(itertools.islice(dict.fromkeys(portion.round for portion in self._waiting), 2))
        return list(itertools.takewhile(lambda portion: portion.round in rounds, self._waiting)) or self._waiting

    def _rank(self, portion: PlannedPortion, machine: str, block: int) -> tuple[bool, int, int]:
        """Rank the bed's own block first, then the round; of a round what this machine has made least often, so that
        every machine can say something of every comparison."""
        cells = tuple(sorted(cell.id for cell in portion.cells))
        return bool(block) and portion.block != block, portion.round, self._number_done[machine, cells]

    def _open_next_round(self) -> bool:
        """Open another round, and return whether there was one that may begin now."""
        if self._is_over_at_a_look(self._opened):
            return False
        for number, block in self._rounds:
            self._opened = number
            for portion in portions_of_round(self._experiment, self._seed, number, block):
                remaining = self._remaining(portion)
                if remaining:
                    self._waiting.append(remaining)
                else:
                    self._forget(portion)
            return True
        return False

    def _is_over_at_a_look(self, number: int) -> bool:
        """Return whether no round after this one may begin: it is the last, or results are looked at after it. Then all
        before it have to be there, and the run ends if they are enough. A round that has begun is finished."""
        repeat, cells = self._experiment.repeat, self._experiment.cells
        look = next((look for look in repeat.looks if look.trials == number), None)
        if look is None or self.results.has_begun(cells, number + 1):
            return False
        return bool(self._waiting or self._under_way) or self.results.is_enough(cells, look)

    def _remaining(self, portion: PlannedPortion) -> PlannedPortion | None:
        """Return the portion with the cells that still have to be made; None where there is none."""
        cells = tuple(each.cell for each in portion.trials if self.results.is_needed(each))
        return PlannedPortion(portion.round, portion.block, cells) if cells else None

    # --- what became of it

    def add(self, planned: PlannedTrial, attempt: Attempt) -> None:
        """Take note of an attempt that was stored."""
        self.results.add(planned, attempt)

    def finish(self, portion: PlannedPortion, machine: str) -> None:
        """All its attempts are stored. What is still needed, since the bed was to blame, is made again."""
        self._under_way.pop(portion.key)
        self._number_done[machine, tuple(sorted(cell.id for cell in portion.cells))] += 1
        self._put_back(portion)

    def lose(self, portion: PlannedPortion) -> None:
        """Nothing of it is stored: another bed begins it anew."""
        self._under_way.pop(portion.key)
        self._put_back(portion)

    def _put_back(self, portion: PlannedPortion) -> None:
        remaining = self._remaining(portion)
        if remaining:
            place = sum(each.round <= portion.round for each in self._waiting)
            self._waiting.insert(place, remaining)
        else:
            self._forget(portion)

    def _forget(self, portion: PlannedPortion) -> None:
        """Forget what is made. A run that ends when enough is known still asks for its values, and whether rounds
        began."""
        if self._experiment.repeat.ci is None:
            for planned in portion.trials:
                self.results.forget(planned.key)

    def give_up(self, can: Callable[[Cell], bool]) -> list[PlannedPortion]:
        """Leave out what waits and no bed can make: all of it. A later session tries again."""
        left_out = [portion for portion in self._waiting if not all(map(can, portion.cells))]
        self._waiting = [portion for portion in self._waiting if portion not in left_out]
        return left_out

    @property
    def under_way(self) -> int:
        return len(self._under_way)

    def has_more(self) -> bool:
        """Return whether there are, or may begin, portions that no bed has begun."""
        while not self._waiting:
            if not self._open_next_round():
                return False
        return True

    @property
    def is_waiting(self) -> bool:
        """Return whether there are portions that no bed has begun, in rounds that may begin."""
        return bool(self._waiting)


class PortionAgenda:
    """The trials of one portion, as a runner asks for them. A trial that failed is made again after the others, while
    it has retries left."""

    def __init__(
        self, trials: Sequence[PlannedTrial], block: int, retries: int, before: Mapping[str, tuple[int, int]]
    ) -> None:
        """Begin a schedule. `before` has for each cell the attempts that were made and those that used up a retry."""
        self._trials, self.block, self._retries = list(trials), block, retries
        self._before = before
        self._attempts: dict[tuple[str, int], list[Attempt]] = {}
        self.given_up: list[PlannedTrial] = []

    def batch(self) -> list[PlannedTrial]:
        return [planned for planned in self._trials if self._is_needed(planned)]

    def next_round(self) -> None:
        """Whoever deals portions out may give the next one to another bed."""

    def _is_needed(self, planned: PlannedTrial) -> bool:
        used = self._before.get(planned.cell.id, (0, 0))[1]
        failed = [Attempt(False)] * used
        return planned not in self.given_up and is_needed(
            [*failed, *self._attempts.get(planned.key, ())], self._retries
        )

    def attempts(self, planned: PlannedTrial) -> int:
        count = self._before.get(planned.cell.id, (0, 0))[0]
        return count + len(self._attempts.get(planned.key, ()))

    def add(self, planned: PlannedTrial, attempt: Attempt) -> None:
        self._attempts.setdefault(planned.key, []).append(attempt)

    def give_up(self, planned: PlannedTrial) -> None:
        self.given_up.append(planned)
