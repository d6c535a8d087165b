"""What the trials of each cell say of their link: by how many it was proven, losses, the error of the emulation. Pure.

docs/reference/verdicts.md#the-link-of-each-trial says what each of these is.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from lanelab.analysis.results.model import Cell, Run, Trial
from lanelab.analysis.results.refusals import Pooled, Refusal, pooled, refusals, results_of
from lanelab.driver.record.metrics import OVER_LINK

# A trial whose own capture tells of its link has one of these measures: it knows a round trip, or losses.
TELLS = ("capture_rtt_ms", "told_packets_down")
ERROR, ERROR_99 = "emulation_error_ms", "emulation_error_99_ms"
REFERENCE = "docs/reference/verdicts.md#the-link-of-each-trial"


@dataclass(frozen=True, slots=True)
class LinkRow:
    """One cell: the trials that count, and its losses. None: no trial has it."""

    cell: Cell
    trials: int
    proven: int  # by their own captures
    down: Pooled
    up: Pooled
    error_ms: float | None  # medians of the trials
    error_99_ms: float | None
    refused: tuple[Refusal, ...]


def rows(run: Run) -> list[LinkRow]:
    """Return one for each cell, in the experiment's order; none where no trial's capture tells of its link."""
    by_cell, refused = run.by_cell(), refusals(run)
    of_cells = [_row(cell, by_cell[cell.number], refused.get(cell.number, ())) for cell in run.cells]
    return of_cells if any(row.proven for row in of_cells) else []


def _row(cell: Cell, of_cell: Sequence[Trial], refused: tuple[Refusal, ...]) -> LinkRow:
    trials, results = [trial for trial in of_cell if trial.ok], results_of(of_cell)
    return LinkRow(
        cell=cell,
        trials=len(trials),
        proven=sum(_proves(trial) for trial in trials),
        down=pooled(results, "down"),
        up=pooled(results, "up"),
        error_ms=_median(trials, ERROR),
        error_99_ms=_median(trials, ERROR_99),
        refused=refused,
    )


def _proves(trial: Trial) -> bool:
    return any(name in trial.measures for name in TELLS)


def _median(trials: Sequence[Trial], name: str) -> float | None:
    values = [trial.measures[name] for trial in trials if name in trial.measures]
    return statistics.median(values) if values else None


def sentences(run: Run) -> list[str]:
    """Return cells that are refused, and trials whose link nothing but the self-test has measured."""
    refused = refusals(run)
    texts = [
        f"{cell} is refused: {each.reason}: {each.detail}"
        for cell in run.cells
        for each in refused.get(cell.number, ())
    ]
    loads = run.ok if run.workload in OVER_LINK else []
    unproven = [trial for trial in loads if not _proves(trial)]
    if unproven:
        count = f"{len(unproven)} of {len(loads)} {run.trials_word} that count"
        texts.append(f"In {count} no capture proves the link: the self-test alone measured it ({REFERENCE})")
    return texts
