"""What a run that has come to its end lacks, cell by cell. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from lanelab.driver.experiment.model import Cell, Experiment
from lanelab.driver.experiment.schedule.results import Attempt, History, short_cells


@dataclass(frozen=True, slots=True)
class Lacking:
    """A cell with fewer trials that count than it should have."""

    cell: Cell
    counted: int
    wanted: int
    again: int  # rounds that the run tries again when it goes on: their link was refused, or their bed lost


def lacking(experiment: Experiment, history: History) -> list[Lacking]:
    """Return the cells that lack trials, in the experiment's order."""
    wanted = experiment.repeat.min
    cells = []
    for cell in short_cells(experiment, history):
        rounds = [history.get((cell.id, number), ()) for number in range(1, wanted + 1)]
        counted = sum(any(attempt.ok for attempt in attempts) for attempts in rounds)
        again = sum(_is_tried_again(attempts, experiment.retries) for attempts in rounds)
        cells.append(Lacking(cell, counted, wanted, again))
    return cells


def _is_tried_again(attempts: Sequence[Attempt], retries: int) -> bool:
    used = sum(attempt.uses_retry for attempt in attempts)
    return not any(attempt.is_result for attempt in attempts) and used <= retries
