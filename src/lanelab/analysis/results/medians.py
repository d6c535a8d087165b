"""Medians of a metric over groups of trials, as one table. Pure.

They are those that `lanelab show` has of its cells: of the primary metric a trial that took too long is a result, worse
than every other; a cell that is refused has no median of any metric.
"""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lanelab.analysis.results.export import flat
from lanelab.analysis.results.export_tables import Cell as Value
from lanelab.analysis.results.export_tables import Row
from lanelab.analysis.results.model import Cell, Run, Trial
from lanelab.analysis.results.refusals import refusals
from lanelab.driver.base.errors import ArgumentError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.record.metrics import Metric, metric_named, metrics_of

OF_TRIALS = ("round", "attempt", "session", "bed", "machine", "origin")


@dataclass(slots=True)
class _Group:
    values: list[float] = field(default_factory=list)
    left_out: int = 0


def medians(run: Run, metric: str, by: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each group of trials that have the same values `by` these columns. InputError where there is no
    such metric, or no such column."""
    name = measure_named(run, metric)
    of_cells = {cell.number: _of_cell(cell) for cell in run.cells}
    _require_columns(of_cells.values(), by)
    groups: dict[tuple[Value, ...], _Group] = {}
    counted = dict(_counted(run, name))
    for trial in sorted(run.trials, key=lambda trial: trial.cell.number):  # in the order of the experiment
        group = groups.setdefault(tuple(_value(trial, of_cells, column) for column in by), _Group())
        if trial.number in counted:
            group.values.append(counted[trial.number])
        else:
            group.left_out += 1
    for values, group in groups.items():
        middle = statistics.median(group.values) if group.values else None
        yield {**dict(zip(by, values, strict=True)), name: middle, "trials": len(group.values),
               "left_out": group.left_out}  # fmt: skip


def measure_named(run: Run, metric: str) -> str:
    """Return the name of the measure that a metric is called by: `plt` and `plt_ms` are one."""
    known = metric_named(metric)
    if known and run.workload in known.workloads:
        return known.name
    others = {name for trial in run.trials for name in trial.measures}
    if metric in others:
        return metric
    keys = [each.key for each in metrics_of(run.workload)]
    raise ArgumentError(
        f"trials of this run have no {metric!r}", f"{near_miss(metric, keys)}It has {', '.join(keys)}", key="metric"
    )


def _counted(run: Run, name: str) -> Iterator[tuple[int, float]]:
    """Yield the trials that count, with their values."""
    refused = refusals(run)
    if name == run.primary.name:
        for cell, rounds in run.first_results().items():
            if cell not in refused:
                yield from ((trial.number, _outcome(run.primary, trial)) for trial in rounds.values())
        return
    for trial in run.ok:
        if trial.cell.number not in refused and name in trial.measures:
            yield trial.number, trial.measures[name]


def _outcome(primary: Metric, trial: Trial) -> float:
    return primary.worst if trial.timed_out or trial.value is None else trial.value


def _require_columns(of_cells: Iterable[Mapping[str, Value]], by: Sequence[str]) -> None:
    known = {column for cell in of_cells for column in cell}
    for column in by:
        if column not in known and column not in OF_TRIALS:
            ending = sorted(name for name in known if name.endswith(f".{column}"))
            near = f"Did you mean {' or '.join(ending)}? " if ending else near_miss(column, [*known, *OF_TRIALS])
            remedy = f"{near}Write site, link, arm, or a setting like link.rtt; trials() has all columns"
            raise ArgumentError(f"there is no column {column!r} to tell trials apart by", remedy, key="by")


def _value(trial: Trial, of_cells: Mapping[int, Mapping[str, Value]], column: str) -> Value:
    if column in OF_TRIALS:
        value: Value = getattr(trial, column)
        return value
    return of_cells[trial.cell.number].get(column)


def _of_cell(cell: Cell) -> Mapping[str, Value]:
    of_arm = {f"arm.{key}": flat(value) for key, value in cell.arm.settings.items() if key != "name"}
    names: Row = {"site": cell.site, "link": cell.link.label, "arm": cell.arm.name, "cell": cell.id}
    return {**names, **{f"link.{key}": flat(value) for key, value in cell.link.settings.items()}, **of_arm}
