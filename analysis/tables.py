"""The result of a run as rows: each cell in numbers, and each arm against the first. Pure."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from analysis import stats
from analysis.between_beds import BedsOfRun, beds_of_run
from analysis.drift import Drift, drift
from analysis.model import Arm, Cell, Run, Trial
from analysis.stats import Change, Comparison, Summary, compare, holm, summarise
from model.metrics import Metric, metrics_of

BOUND = "bound_ms"


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

    def to_json(self) -> dict[str, Any]:
        return {
            "site": self.cell.site,
            "link": self.cell.link.label,
            "arm": self.cell.arm.name,
            "cell": self.cell.id,
            "ok": self.ok,
            "failed": self.failed,
            **self.medians,
            "ratio_to_bound": self.ratio,
            "outliers": list(self.outliers),
            self.primary.name: summary_json(self.summary),
        }


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """An arm against the run's first arm, on the same site and link."""

    cell: Cell
    base: Arm
    primary: Metric
    comparison: Comparison | None

    def to_json(self) -> dict[str, Any]:
        comparison = self.comparison
        return {
            "site": self.cell.site,
            "link": self.cell.link.label,
            "arm": self.cell.arm.name,
            "base": self.base.name,
            "rounds": comparison.n if comparison else 0,
            "ratio": change_json(comparison.ratio) if comparison else None,
            self._difference: change_json(comparison.difference) if comparison else None,
            "rounds_faster": comparison.faster if comparison else 0,
            "rounds_slower": comparison.slower if comparison else 0,
            "rounds_left_out": comparison.left_out if comparison else 0,
            "rounds_both_timed_out": comparison.both_timed_out if comparison else 0,
            "p": comparison.ratio.p if comparison else None,
            "p_adjusted": comparison.adjusted_p if comparison else None,
            "verdict": comparison.verdict if comparison else "no pairs",
        }

    @property
    def _difference(self) -> str:
        return "difference_ms" if self.primary.unit == "ms" else "difference"


def estimate_json(estimate: stats.Estimate) -> dict[str, Any]:
    return {
        "n": estimate.n,
        "median": estimate.median,
        "low": estimate.low,
        "high": estimate.high,
        "confidence": estimate.confidence,
        "meaning": estimate.meaning(),
    }


def change_json(change: Change) -> dict[str, Any]:
    return {
        "n": change.n,
        "value": change.value,
        "low": change.low,
        "high": change.high,
        "confidence": change.confidence,
        "p": change.p,
        "meaning": change.meaning(),
    }


def summary_json(summary: Summary | None) -> dict[str, Any] | None:
    if summary is None:
        return None
    return {
        **estimate_json(summary.estimate),
        "quartile_1": summary.quartile_1,
        "quartile_3": summary.quartile_3,
        "min": summary.low,
        "max": summary.high,
        "mean": summary.mean,
        "stdev": summary.stdev,
        "stdev_percent": summary.stdev_percent,
    }


def rows(run: Run) -> list[Row]:
    """One for each cell, in the experiment's order."""
    trials = run.by_cell()
    return [_row(run, cell, trials[cell.number]) for cell in run.cells]


def _row(run: Run, cell: Cell, trials: list[Trial]) -> Row:
    counted = [(trial, trial.value) for trial in trials if trial.ok and trial.value is not None]
    values = [value for _, value in counted]
    summary = summarise(values)
    others = [metric.name for metric in metrics_of(run.workload) if metric != run.primary]
    medians = {name: _median((trial for trial, _ in counted), name) for name in others}
    bound = medians.get(BOUND)
    return Row(
        cell=cell,
        ok=len(counted),
        failed=len(trials) - len(counted),
        primary=run.primary,
        summary=summary,
        medians=medians,
        ratio=summary.median / bound if summary and bound else None,
        outliers=tuple(counted[i][0].number for i in stats.outliers(values)),
    )


def columns(run: Run) -> list[Metric]:
    """The metrics beside the primary one that tables show."""
    return [metric for metric in metrics_of(run.workload) if metric.column]


def has_bound(run: Run) -> bool:
    """Whether trials of this run have a time that the link allows at best."""
    return any(metric.name == BOUND for metric in metrics_of(run.workload))


def _median(trials: Iterable[Trial], name: str) -> float | None:
    values = [trial.measures[name] for trial in trials if name in trial.measures]
    return statistics.median(values) if values else None


def comparisons(run: Run) -> list[ComparisonRow]:
    """Every further arm against the first, paired by round."""
    if len(run.arms) < 2:
        return []
    base = run.arms[0]
    values = run.values()
    bases = {cell.group: cell for cell in run.cells if cell.arm == base}
    better = run.primary.higher_is_better
    compared = [
        ComparisonRow(
            cell,
            base,
            run.primary,
            compare(values[bases[cell.group].number], values[cell.number], higher_is_better=better),
        )
        for cell in run.cells
        if cell.arm != base and cell.group in bases
    ]
    return _adjusted(compared, so_far=run.state != "finished")


def _adjusted(compared: list[ComparisonRow], *, so_far: bool) -> list[ComparisonRow]:
    """The same with p values that hold for all comparisons of the run together."""
    made = [row.comparison for row in compared if row.comparison]
    adjusted = iter(holm([comparison.ratio.p for comparison in made]))
    return [
        replace(row, comparison=replace(row.comparison, adjusted_p=next(adjusted), so_far=so_far))
        if row.comparison
        else row
        for row in compared
    ]


def beds(run: Run, compared: Iterable[ComparisonRow]) -> BedsOfRun:
    """What the run's beds say, one by one and together."""
    return beds_of_run(run, [(row.cell, row.base) for row in compared])


def median_trial(trials: Iterable[Trial]) -> Trial | None:
    """The one whose primary metric is nearest to the median; the lower of the two middle ones where n is even."""
    counted = sorted(
        (trial for trial in trials if trial.ok and trial.value is not None),
        key=lambda trial: (trial.value or 0.0, trial.number),
    )
    return counted[(len(counted) - 1) // 2] if counted else None


def failure_counts(run: Run) -> Counter[str]:
    """How many trials failed for each reason; a trial may have several."""
    return Counter(reason for trial in run.failed for reason in {failure.reason for failure in trial.failures})


def run_drift(run: Run) -> Drift:
    """Whether the run got slower or faster as it went on."""
    return drift(timed(run), what=run.trials_word, higher_is_better=run.primary.higher_is_better)


def timed(run: Run) -> list[tuple[int, float, float]]:
    """(cell, seconds since the first trial, primary metric) of the trials that count."""
    if not run.ok:
        return []
    began = min(trial.started for trial in run.ok)
    return [(t.cell.number, (t.started - began).total_seconds(), t.value or 0.0) for t in run.ok]


def noise_percent(rows: Iterable[Row]) -> float | None:
    """The standard deviation within a cell, pooled over all: the root of the mean square, by degrees of freedom."""
    known = [
        (row.summary.n - 1, row.summary.stdev_percent)
        for row in rows
        if row.summary and row.summary.stdev_percent is not None
    ]
    freedom = sum(weight for weight, _ in known)
    return math.sqrt(sum(weight * percent**2 for weight, percent in known) / freedom) if freedom else None
