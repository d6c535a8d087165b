"""Whether the machines had time for the trials: medians of each cell, and the trials that are flagged. Pure."""

import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.analysis.results.model import Cell, Run, Trial
from lanelab.driver.base.amounts import form_for

WATCHED = "cpu_busy"  # a measure of every trial whose machine was watched
TIMES = tuple(f"cpu_{part}_s" for part in ("client", "server", "gateway", "router", "capture", "harness", "other"))
SHARES = (WATCHED, "pressure_cpu_some", "cpu_steal")
REFERENCE = "docs/reference/machine.md"


@dataclass(frozen=True, slots=True)
class MachineRow:
    """One cell: the trials that count, and whose machine was watched."""

    cell: Cell
    trials: int
    flagged: int
    medians: Mapping[str, float]  # by the measure's name; one that no trial has is not there


def rows(run: Run) -> list[MachineRow]:
    """Return one for each cell, in the experiment's order; none where no machine was watched."""
    by_cell = run.by_cell()
    of_cells = [_row(cell, [trial for trial in by_cell[cell.number] if trial.ok]) for cell in run.cells]
    return of_cells if any(row.trials for row in of_cells) else []


def _row(cell: Cell, trials: list[Trial]) -> MachineRow:
    watched = [trial for trial in trials if any(name in trial.measures for name in (*TIMES, *SHARES))]
    values = {name: [trial.measures[name] for trial in watched if name in trial.measures] for name in (*TIMES, *SHARES)}
    medians = {name: statistics.median(known) for name, known in values.items() if known}
    return MachineRow(cell, len(watched), sum(bool(trial.flags) for trial in trials), medians)


def flagged(run: Run) -> list[Trial]:
    """Return the trials that count and are flagged."""
    return [trial for trial in run.ok if trial.flags]


def flag_counts(run: Run) -> dict[str, int]:
    """Return how many trials that count have each flag, the most frequent flag first."""
    names = Counter(name for trial in flagged(run) for name in {flag.name for flag in trial.flags})
    return dict(sorted(names.items(), key=lambda each: (-each[1], each[0])))


def sentence(run: Run) -> str | None:
    """Return how many trials are flagged, and by what. None: no trial is."""
    trials = flagged(run)
    if not trials:
        return None
    flags = ", ".join(f"{name} {number}" for name, number in flag_counts(run).items())
    of_all = f"{len(trials)} of {len(run.ok)} {run.trials_word} that count"
    return f"{of_all} {form_for(len(trials), 'is', 'are')} flagged: {flags} ({REFERENCE})"
