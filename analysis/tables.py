"""The result of a run as rows: each cell in numbers, and each arm against the first. Pure."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from analysis import stats
from analysis.drift import Drift, drift
from analysis.model import Arm, Cell, Run, Trial
from analysis.stats import Comparison, Summary, compare, summarise


@dataclass(frozen=True, slots=True)
class Row:
    """One cell. Numbers are medians over the trials that count; None where there is nothing to take them from."""

    cell: Cell
    ok: int
    failed: int
    plt: Summary | None
    bytes_down: float | None
    connections: float | None
    requests: float | None
    bound_ms: float | None
    ratio: float | None  # of the median page load time to what the link allows at best
    outliers: tuple[int, ...]  # trials

    def to_json(self) -> dict[str, Any]:
        found = {
            "site": self.cell.site,
            "link": self.cell.link.label,
            "arm": self.cell.arm.name,
            "cell": self.cell.id,
            "ok": self.ok,
            "failed": self.failed,
            "bytes_down": self.bytes_down,
            "connections": self.connections,
            "requests": self.requests,
            "bound_ms": self.bound_ms,
            "ratio_to_bound": self.ratio,
            "outliers": list(self.outliers),
        }
        return {**found, "plt_ms": summary_json(self.plt)}


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """An arm against the run's first arm, on the same site and link."""

    cell: Cell
    base: Arm
    comparison: Comparison | None

    def to_json(self) -> dict[str, Any]:
        found = self.comparison
        return {
            "site": self.cell.site,
            "link": self.cell.link.label,
            "arm": self.cell.arm.name,
            "base": self.base.name,
            "rounds": found.n if found else 0,
            "ratio": estimate_json(found.ratio) if found else None,
            "difference_ms": estimate_json(found.difference) if found else None,
            "rounds_faster": found.lower if found else 0,
            "rounds_slower": found.higher if found else 0,
            "sign_test_p": found.sign_p if found else None,
            "verdict": found.verdict if found else "no pairs",
        }


def estimate_json(estimate: stats.Estimate) -> dict[str, Any]:
    return {
        "n": estimate.n,
        "median": estimate.median,
        "low": estimate.low,
        "high": estimate.high,
        "confidence": estimate.confidence,
        "meaning": estimate.meaning(),
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
    return [_row(cell, trials[cell.number]) for cell in run.cells]


def _row(cell: Cell, trials: list[Trial]) -> Row:
    counted = [trial for trial in trials if trial.ok and trial.plt_ms is not None]
    plts = [float(trial.plt_ms or 0) for trial in counted]
    summary = summarise(plts)
    bound = _median(counted, "bound_ms")
    return Row(
        cell=cell,
        ok=len(counted),
        failed=len(trials) - len(counted),
        plt=summary,
        bytes_down=_median(counted, "bytes_down"),
        connections=_median(counted, "connections"),
        requests=_median(counted, "requests"),
        bound_ms=bound,
        ratio=summary.median / bound if summary and bound else None,
        outliers=tuple(counted[i].number for i in stats.outliers(plts)),
    )


def _median(trials: Iterable[Trial], column: str) -> float | None:
    values = [float(value) for trial in trials if (value := trial.metrics[column]) is not None]
    return statistics.median(values) if values else None


def comparisons(run: Run) -> list[ComparisonRow]:
    """Every further arm against the first, paired by round."""
    if len(run.arms) < 2:
        return []
    base = run.arms[0]
    values = run.values()
    bases = {cell.group: cell for cell in run.cells if cell.arm == base}
    return [
        ComparisonRow(cell, base, compare(values[bases[cell.group].number], values[cell.number]))
        for cell in run.cells
        if cell.arm != base and cell.group in bases
    ]


def median_trial(trials: Iterable[Trial]) -> Trial | None:
    """The one whose page load time is nearest to the median; the lower of the two middle ones where n is even."""
    counted = sorted(
        (trial for trial in trials if trial.ok and trial.plt_ms is not None),
        key=lambda trial: (trial.plt_ms or 0.0, trial.number),
    )
    return counted[(len(counted) - 1) // 2] if counted else None


def failure_counts(run: Run) -> Counter[str]:
    """How many trials failed for each reason; a trial may have several."""
    return Counter(reason for trial in run.failed for reason in {failure.reason for failure in trial.failures})


def run_drift(run: Run) -> Drift:
    """Whether the run got slower or faster as it went on."""
    return drift(timed(run))


def timed(run: Run) -> list[tuple[int, float, float]]:
    """(cell, seconds since the first trial, page load time) of the trials that count."""
    if not run.ok:
        return []
    began = min(trial.started for trial in run.ok)
    return [(t.cell.number, (t.started - began).total_seconds(), float(t.plt_ms or 0)) for t in run.ok]


def noise_percent(found: Iterable[Row]) -> float | None:
    """The median of the cells' standard deviations."""
    deviations = [row.plt.stdev_percent for row in found if row.plt and row.plt.stdev_percent is not None]
    return statistics.median(deviations) if deviations else None
