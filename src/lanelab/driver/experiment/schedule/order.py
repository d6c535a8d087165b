"""The order of trials: phases, and the cells of a round. Pure.

The order within a round depends on the seed and the round's number alone, so a resumed run repeats it.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from lanelab.driver.experiment.model import Cell, Experiment


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    cell: Cell
    round: int  # the first is 1

    @property
    def key(self) -> tuple[str, int]:
        """The key of its attempts in a History."""
        return self.cell.id, self.round


def phases(experiment: Experiment) -> list[tuple[Cell, ...]]:
    """Return cells whose rounds run together: all of them, or one after the other."""
    if experiment.order == "sequential":
        return [(cell,) for cell in experiment.cells]
    return [experiment.cells]


def round_order(
    experiment: Experiment,
    seed: int,
    round: int,  # noqa: A002 - its name in everything else here
    phase: Sequence[Cell] | None = None,
) -> list[PlannedTrial]:
    """Return every cell of the phase once, in the order of that round."""
    cells = list(experiment.cells if phase is None else phase)
    chance = random.Random(f"{seed}/{round}")  # noqa: S311 - an order, not a secret
    if experiment.order == "random":
        chance.shuffle(cells)
    elif experiment.order == "interleaved":
        groups: dict[tuple[str, str], list[Cell]] = {}
        for cell in cells:
            groups.setdefault((cell.site, cell.link.label), []).append(cell)
        order = list(groups.values())
        chance.shuffle(order)
        for group in order:
            chance.shuffle(group)
        cells = [cell for group in order for cell in group]
    return [PlannedTrial(cell, round) for cell in cells]
