"""What a run measured of a claim in one place: an effect for each round, with the bed that it was measured on. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from analysis.model import Cell, Run, Trial
from analysis.refusals import refusals
from analysis.stats.paired import log_ratios
from model.claims import Claim, Place, Point
from model.metrics import metric_named

Combine = Callable[[Sequence[float]], float]  # makes one effect of the points of a round
Rounds = Mapping[int, Trial]  # round -> the trial that is its result


@dataclass(frozen=True, slots=True)
class Sample:
    """An effect's logarithm by round, or of a value the metric itself."""

    values: tuple[float, ...]
    beds: tuple[int | None, ...]  # of each; None where its trials were made on different beds
    trials: tuple[int, ...]  # all that it was made of
    lacking: str = ""  # why there is none

    def by_bed(self) -> list[list[float]]:
        """The values of each bed that counts. One with less than half as many as usual was cut short."""
        found: dict[int, list[float]] = {}
        for value, bed in zip(self.values, self.beds, strict=True):
            if bed is not None:
                found.setdefault(bed, []).append(value)
        sizes = sorted(map(len, found.values()))
        usual = sizes[len(sizes) // 2] if sizes else 0
        return [values for _, values in sorted(found.items()) if 2 * len(values) >= usual]


class Evidence:
    """A run's results by cell, round and metric."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.cells = {cell.id: cell for cell in run.cells}
        self._refused = refusals(run)
        self._results: dict[int, dict[int, Trial]] = {cell.number: {} for cell in run.cells}
        for trial in run.trials:
            if trial.timed_out or trial.ok:
                self._results[trial.cell.number].setdefault(trial.round, trial)

    def sample(self, claim: Claim, place: Place) -> Sample:
        """What the run has of the claim there."""
        cells = [cell for point in place.points for cell in (point.cell, point.base) if cell]
        for name in cells:
            if why := self._unusable(name):
                return Sample((), (), (), why)
        if claim.kind == "change":
            return self._made(claim, place.points, lambda logs: logs[0])
        if claim.kind == "trend":
            xs = [point.x or 0.0 for point in place.points]
            return self._made(claim, place.points, lambda logs: trend_of(xs, logs))
        if claim.kind == "spike":
            xs = [point.x or 0.0 for point in place.points]
            return self._made(claim, place.points, lambda logs: spike_of(xs, logs))
        return self._values(claim, place.points[0])

    def _unusable(self, cell: str) -> str:
        if cell not in self.cells:
            return "the run has no such cell"
        refused = self._refused.get(self.cells[cell].number)
        return f"{self.cells[cell]} is refused: {refused[0].reason}" if refused else ""

    def results(self, cell: str) -> Rounds:
        return self._results[self.cells[cell].number]

    def value(self, trial: Trial, metric: str) -> float | None:
        """Of a trial that timed out the primary metric is known: it is worse than all others. Others are not."""
        primary = self.run.primary
        if trial.timed_out:
            return primary.worst if metric == primary.name else None
        return trial.measures.get(metric)

    def _values(self, claim: Claim, point: Point) -> Sample:
        known = [(trial, self.value(trial, claim.metric)) for _, trial in sorted(self.results(point.cell).items())]
        having = [(trial, value) for trial, value in known if value is not None]
        lacking = "" if having else _nothing(self.cells[point.cell], claim)
        return Sample(
            tuple(value for _, value in having),
            tuple(trial.bed for trial, _ in having),
            tuple(trial.number for trial, _ in having),
            lacking,
        )

    def _made(self, claim: Claim, points: Sequence[Point], combine: Combine) -> Sample:
        """An effect of each round that has all points."""
        needed = [cell for point in points for cell in (point.cell, point.base) if cell]
        common = set.intersection(*({*self.results(cell)} for cell in needed))
        values: list[float] = []
        beds: list[int | None] = []
        trials: list[int] = []
        for number in sorted(common):
            used = [self.results(cell)[number] for cell in needed]
            logs = [self._log(claim, point, number) for point in points]
            effect = combine([log for log in logs if log is not None]) if None not in logs else math.nan
            if math.isnan(effect):
                continue
            values.append(effect)
            on = {trial.bed for trial in used}
            beds.append(on.pop() if len(on) == 1 else None)
            trials += [trial.number for trial in used]
        lacking = "" if values else f"no round has {claim.metric} of all its cells"
        return Sample(tuple(values), tuple(beds), tuple(trials), lacking)

    def _log(self, claim: Claim, point: Point, number: int) -> float | None:
        """The logarithm of a point in a round; None where it is unknown."""
        own = self.value(self.results(point.cell)[number], claim.metric)
        base = self.value(self.results(point.base)[number], claim.metric) if point.base else 1.0
        if own is None or base is None or own == base == math.inf:
            return None
        return log_ratios([(base, own)])[0]


def trend_of(xs: Sequence[float], logs: Sequence[float]) -> float:
    """By how much the logarithm grows from the first x to the last, along the least-squares line."""
    middle, mean = sum(xs) / len(xs), sum(logs) / len(logs)
    spread = sum((x - middle) ** 2 for x in xs)
    slope = sum((x - middle) * (log - mean) for x, log in zip(xs, logs, strict=True)) / spread
    return slope * (xs[-1] - xs[0])


def spike_of(xs: Sequence[float], logs: Sequence[float]) -> float:
    """By how much the middle one lies above the line between its neighbours."""
    share = (xs[1] - xs[0]) / (xs[2] - xs[0])
    return logs[1] - (logs[0] + share * (logs[2] - logs[0]))


def _nothing(cell: Cell, claim: Claim) -> str:
    metric = metric_named(claim.metric)
    return f"no trial of {cell} has {metric.words if metric else claim.metric}"
