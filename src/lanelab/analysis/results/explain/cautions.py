"""What a reader must know before the explanations of a run: what keeps them from being believed. Pure."""

from collections.abc import Iterable, Iterator

from lanelab.analysis.results import conditions, machine
from lanelab.analysis.results.model import Cell, Run
from lanelab.driver.base.amounts import counted


def cautions(run: Run, cells: Iterable[Cell]) -> Iterator[str]:
    """Yield cautions about the run, and about these cells."""
    if run.state == "running":
        yield "The run is not finished: all of this is provisional."
    elif not run.is_finished:
        yield f"The run was not finished ({run.state}): all of this is provisional."
    trials = run.by_cell()
    for cell in {cell.number: cell for cell in cells}.values():
        late = sum(trial.timed_out for trial in trials[cell.number])
        if late:
            yield (
                f"{cell}: {counted(late, 'load')} timed out. They have no parts, so the numbers below are of the "
                "other loads, and are too short. `lanelab show` counts all loads."
            )
    yield from (f"{sentence.rstrip('.')}." for sentence in conditions.caveats(run))
    if flagged := machine.sentence(run):
        yield f"{flagged}."
