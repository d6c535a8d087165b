"""The result of a run as rows: each cell in numbers, and each arm against the first. Pure."""

import datetime
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, cast

from lanelab.analysis import statistics as stats
from lanelab.analysis.results.between_beds import BedsOfRun, beds_of_run
from lanelab.analysis.results.comparisons import ComparisonRow, comparisons
from lanelab.analysis.results.drift import Drift, Series, Timed, drift
from lanelab.analysis.results.machines import MachinesOfRun, machines_of_run
from lanelab.analysis.results.model import Cell, Identity, Run, Trial
from lanelab.analysis.results.numbers import shown, values_of
from lanelab.analysis.results.refusals import Refusal, Refused, refusals
from lanelab.analysis.statistics import Summary, summarise
from lanelab.analysis.statistics.looks import look_after
from lanelab.driver.base.amounts import counted
from lanelab.driver.record.metrics import LOAD, OF_VITALS, Metric, metrics_of

__all__ = ["ComparisonRow", "comparisons"]  # for those who ask the tables
BOUND = "bound_ms"
MOST_BROKEN = 4  # cells of which it is said that their loads broke


class RowJson(Identity):
    """One cell. Besides these it has each metric by its name: of the primary one the summary, of others the median. A
    cell that is refused has neither."""

    ok: int
    failed: int
    timed_out: int
    failures: Mapping[str, int]
    rounds: int
    rounds_broken: int
    refused: tuple[Refusal, ...]
    ratio_to_bound: float | None
    outliers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One cell. Numbers are of the trials that count; None where there is nothing to take them from."""

    cell: Cell
    ok: int
    failed: int
    primary: Metric
    summary: Summary | None  # of the primary metric
    medians: Mapping[str, float | None]  # of the other metrics, by name
    ratio: float | None  # of the median page load time to what the link allows at best
    outliers: tuple[int, ...]  # trials
    timed_out: int = 0  # of those that failed: they are in the summary
    limit: float = math.inf  # of the primary metric: what timed out is beyond it
    refused: tuple[Refusal, ...] = ()  # why its numbers cannot be used: then there is no summary
    failures: Mapping[str, int] = field(default_factory=dict)  # reason -> trials that failed for it, most first
    rounds: int = 0  # in which it has trials
    broken: int = 0  # of these, in which a load broke, and was tried again

    MORE: ClassVar = Summary | float | None  # what further keys of its JSON have

    def shown(self, value: float | None) -> str:
        """Return a value of the primary metric."""
        return (
            shown(self.primary, value)
            if value is None or math.isfinite(value)
            else f"> {shown(self.primary, self.limit)}"
        )

    def to_json(self) -> RowJson:
        whole = {
            **self.cell.names,
            "cell": self.cell.id,
            "ok": self.ok,
            "failed": self.failed,
            "timed_out": self.timed_out,
            "failures": self.failures,
            "rounds": self.rounds,
            "rounds_broken": self.broken,
            "refused": self.refused,
            **self.medians,
            "ratio_to_bound": self.ratio,
            "outliers": self.outliers,
            self.primary.name: self.summary,
        }
        return cast("RowJson", whole)


def rows(run: Run, refused: Refused | None = None) -> list[Row]:
    """Return one for each cell, in the experiment's order."""
    trials, outcomes, limit = run.by_cell(), run.outcomes(), run.limit_of(run.primary.name)
    refused, broken = refusals(run) if refused is None else refused, run.broken_rounds()
    return [
        replace(
            _row(run, cell, trials[cell.number], outcomes[cell.number], refused.get(cell.number, ()), limit),
            broken=len(broken[cell.number]),
        )
        for cell in run.cells
    ]


def _row(
    run: Run,
    cell: Cell,
    trials: list[Trial],
    outcomes: Mapping[int, float],
    refused: tuple[Refusal, ...],
    limit: float,
) -> Row:
    counted = [(trial, trial.value) for trial in trials if trial.ok and trial.value is not None]
    look = look_after(run.plan.looks, max(outcomes, default=0))
    summary = None if refused else summarise(outcomes.values(), look.alpha, len(run.plan.looks))
    others = [metric.name for metric in metrics_of(run.workload) if metric != run.primary]
    measures = [trial.measures for trial, _ in counted]
    had = set[str]() if refused else set[str]().union(*measures)  # of all metrics a trial has a few
    medians = {name: _median(measures, name) if name in had else None for name in others}
    bound = medians.get(BOUND)
    return Row(
        cell=cell,
        ok=len(counted),
        failed=len(trials) - len(counted),
        primary=run.primary,
        summary=summary,
        medians=medians,
        ratio=summary.median / bound if summary and bound and math.isfinite(summary.median) else None,
        outliers=tuple(_outliers(counted)),
        timed_out=sum(trial.timed_out for trial in trials),
        limit=limit,
        refused=refused,
        failures=dict(_failure_counts(trials).most_common()),
        rounds=len({trial.round for trial in trials}),
    )


def _outliers(counted: Sequence[tuple[Trial, float]]) -> list[int]:
    """Return trials that are far from the others of their cell on their machine."""
    numbers = []
    for machine in {trial.machine for trial, _ in counted}:
        values = [(trial.number, value) for trial, value in counted if trial.machine == machine]
        numbers += [values[i][0] for i in stats.outliers([value for _, value in values])]
    return sorted(numbers)


def nothing_counts(run: Run) -> str:
    """Return a sentence where no trial counts; "" where one does."""
    if not run.trials:
        return "No trial has been made yet."
    if run.ok:
        return ""
    none = f"None of {len(run.trials)} trials counts: every one failed."
    return f"{none} Nothing can be said about {values_of(run.primary)}."


def are_empty(rows: Iterable[Row]) -> bool:
    """Whether tables of these would have no number: what timed out is one."""
    return not any(row.summary or row.refused for row in rows)


def columns(run: Run) -> list[Metric]:
    """Return the metrics beside the primary one that tables show. Loads of one kind have others than those of another,
    and only pages that were asked for their vitals have these."""
    had = {name for trial in run.ok for name in trial.measures}
    others = [metric for metric in metrics_of(run.workload) if metric.column and metric != run.primary]
    always = run.workload != LOAD
    return [each for each in others if each.name in had or (always and each.name not in OF_VITALS)]


def has_bound(run: Run) -> bool:
    """Return whether trials of this run have a time that the link allows at best."""
    return any(metric.name == BOUND for metric in metrics_of(run.workload))


def _median(measures: Iterable[Mapping[str, float]], name: str) -> float:
    return statistics.median([each[name] for each in measures if name in each])


def beds(run: Run, compared: Iterable[ComparisonRow]) -> BedsOfRun:
    """Return what the run's beds say, one by one and together."""
    return beds_of_run(run, [(row.cell, row.base) for row in compared])


def machines(run: Run, compared: Iterable[ComparisonRow]) -> MachinesOfRun:
    """Return what the run's machines are and say, one by one and together."""
    return machines_of_run(run, [(row.cell, row.base) for row in compared])


def median_trial(trials: Iterable[Trial]) -> Trial | None:
    """Return the one whose primary metric is nearest to the median; the lower of the two middle ones where n is
    even."""
    counted = sorted(
        (trial for trial in trials if trial.ok and trial.value is not None),
        key=lambda trial: (trial.value or 0.0, trial.number),
    )
    return counted[(len(counted) - 1) // 2] if counted else None


def failure_counts(run: Run) -> Counter[str]:
    """How many trials failed for each reason; a trial may have several."""
    return _failure_counts(run.failed)


def _failure_counts(trials: Iterable[Trial]) -> Counter[str]:
    return Counter(reason for trial in trials for reason in dict.fromkeys(each.reason for each in trial.failures))


def broken_words(rows: Sequence[Row]) -> str:
    """Say in which cells loads broke and were tried again, the largest share first, and for which reasons trials of
    these failed; "" where none did."""
    broken = sorted((row for row in rows if row.broken), key=lambda row: -row.broken / row.rounds)
    if not broken:
        return ""
    cells = [
        f"{row.cell} in {row.broken} of {counted(row.rounds, 'round')} "
        f"({', '.join(f'{reason} {number}' for reason, number in row.failures.items())})"
        for row in broken[:MOST_BROKEN]
    ]
    more = len(broken) - len(cells)
    cells += [f"and {counted(more, 'more cell')}"] if more else []
    return (
        f"Loads broke and were tried again: {'; '.join(cells)}. Medians are of loads that did not break. A verdict has "
        "to hold for these, and with the others as slower than all of them."
    )


def run_drift(run: Run) -> Drift:
    """Return whether the run got slower or faster as it went on; of several beds, whether these did, as each was
    used."""
    change = drift(timed(run), what=run.trials_word, higher_is_better=run.primary.higher_is_better)
    return change if run.plan.is_interleaved else replace(change, p=None, is_interleaved=False)


def timed(run: Run) -> list[Timed]:
    """Return the primary metric, over the seconds since the first trial of its bed, of trials that count, and of those
    that timed out: left out, a run that became too slow to end in time would look as steady as the loads that were fast
    enough. A bed has one machine; trials from another run have the clock of a bed of that run."""
    limit = 0.0 if run.primary.higher_is_better else run.limit_of(run.primary.name)
    known = [(trial, limit if trial.timed_out else trial.value) for trial in run.trials if trial.timed_out or trial.ok]
    if not run.ok:
        return []

    def series(trial: Trial) -> Series:
        return Series(trial.cell.number, trial.machine, trial.origin, trial.bed)

    began: dict[tuple[int, str, int], datetime.datetime] = {}
    for trial, _ in known:
        place = series(trial).place
        began[place] = min(trial.started, began.get(place, trial.started))
    return [
        Timed(series(trial), trial.round, (trial.started - began[series(trial).place]).total_seconds(), value)
        for trial, value in known
        if value is not None
    ]


def noise_percent(rows: Iterable[Row]) -> float | None:
    """Return the standard deviation within a cell, pooled over all: the root of the mean square, by degrees of
    freedom."""
    known = [
        (row.summary.n - 1, row.summary.stdev_percent)
        for row in rows
        if row.summary and row.summary.stdev_percent is not None
    ]
    freedom = sum(weight for weight, _ in known)
    return math.sqrt(sum(weight * percent**2 for weight, percent in known) / freedom) if freedom else None
