"""Which rounds are made on which of an experiment's beds. Pure.

`beds: N` divides the rounds into N blocks, as equal as can be, one after the other, and each block gets a fresh bed.
With `until` nobody knows how many rounds there will be: then a block has an Nth of those before the first look, so that
a run that ends as early as it may has N beds already, and one that goes on has more.
"""

import itertools
from dataclasses import dataclass

from lanelab.driver.experiment.model import Cell, Experiment, Repeat
from lanelab.driver.experiment.schedule.order import phases


@dataclass(frozen=True, slots=True)
class Stage:
    """Rounds of a phase that are made on one bed."""

    block: int  # the first is 1
    cells: tuple[Cell, ...]
    first: int  # round
    last: int


def blocks(repeat: Repeat, beds: int) -> list[tuple[int, int]]:
    """Return the first and the last round of each block."""
    if beds == 1:
        return [(1, repeat.max)]
    if repeat.ci is None:
        ends = [repeat.max * number // beds for number in range(beds + 1)]
        return [(before + 1, end) for before, end in itertools.pairwise(ends)]
    length = max(1, repeat.looks[0].trials // beds)
    return [(first, min(first + length - 1, repeat.max)) for first in range(1, repeat.max + 1, length)]


def stages(experiment: Experiment) -> list[Stage]:
    """Return all rounds in their order: a block at a time, and within it phase by phase. So every cell has trials on
    every bed, also where cells come one after the other."""
    return [
        Stage(number, phase, first, last)
        for number, (first, last) in enumerate(blocks(experiment.repeat, experiment.beds), 1)
        for phase in phases(experiment)
    ]


def beds_used(experiment: Experiment, rounds: int) -> int:
    """Return how many beds that many rounds take, where none is lost."""
    return sum(first <= rounds for first, _ in blocks(experiment.repeat, experiment.beds))
