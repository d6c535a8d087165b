"""What the machines of a run say, one by one and together: medians and changes of each, how their speeds compare, and
how much of what trials differ by is the machines', their beds' and the trials' own. Pure.

Absolute times of several machines are several numbers. What is shown over all of them says so.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from lanelab.analysis.results.between_beds import (
    CellRow,
    ChangeRow,
    Result,
    alpha_of_run,
    between,
    by_bed,
    hodges_lehmann,
    results,
)
from lanelab.analysis.results.layout.data import LEFT_OUT, Fields, fields_of, key, spread
from lanelab.analysis.results.model import Arm, Cell, Machine, Run, name_of
from lanelab.analysis.statistics.median import logarithm
from lanelab.analysis.statistics.paired import log_ratios
from lanelab.analysis.statistics.strata import neither_ended
from lanelab.analysis.statistics.two_samples import TwoSamples, shift
from lanelab.driver.record.metrics import Metric

Logs = Mapping[int, Mapping[int, float]]  # machine -> round -> logarithm of a ratio


def _rounds(ratio: TwoSamples) -> Fields:
    others = fields_of(ratio, "n_first", "n_other", "value")
    return {"rounds": [ratio.n_other, ratio.n_first], "ratio": ratio.value, **others}


@dataclass(frozen=True, slots=True)
class Speed:
    """Says how many times as long a machine takes as another one, over all cells that both have. Of what is better the
    more there is of it, how many times as much it has."""

    machine: Machine = field(metadata=key("machine", name_of))
    against: Machine = field(metadata=key("against", name_of))
    ratio: TwoSamples = field(metadata=spread(_rounds))  # of rounds
    more_of: str = field(metadata=LEFT_OUT)  # the values, where more is better; "": times

    ALSO: ClassVar = ("differs",)

    @property
    def differs(self) -> bool:
        return self.ratio.is_enough and not self.ratio.low <= 1 <= self.ratio.high


@dataclass(frozen=True, slots=True)
class Levels:
    """Standard deviations as shares, pooled over cells; None where a level cannot be told from another."""

    trials: float  # of one bed
    beds: float | None  # of one machine
    machines: float | None  # with their beds', where every machine has one


def medians(run: Run, by_cell: Mapping[int, Mapping[int, Result]]) -> list[CellRow]:
    """Of each cell, what each machine gives: the numbers of "beds" are those of machines."""
    rows, alpha = [], alpha_of_run(run)
    for cell in run.cells:
        values = by_bed((one.machine, one.value) for one in by_cell[cell.number].values())
        if values:
            rows.append(CellRow(cell, between(values, statistics.median, alpha)))
    return rows


def changes_by_machine(base: Cell, cell: Cell, by_cell: Mapping[int, Mapping[int, Result]], worst: float) -> Logs:
    """Return the logarithms of the ratios of all rounds that one machine made. `worst`: the value of a trial that did
    not come to its end; where neither did, a round says nothing."""
    of_cell, other = by_cell[cell.number], by_cell[base.number]
    by_machine: dict[int, dict[int, float]] = {}
    for number in sorted(of_cell.keys() & other.keys()):
        one, two = other[number], of_cell[number]
        if one.machine == two.machine and not neither_ended(one.value, two.value, worst):
            by_machine.setdefault(one.machine, {})[number] = log_ratios([(one.value, two.value)])[0]
    return dict(sorted(by_machine.items()))


def changes(run: Run, pairs: Iterable[tuple[Cell, Arm]], values: Mapping[int, Mapping[int, Result]]) -> list[ChangeRow]:
    """Return for each comparison what each machine's pairs say."""
    numbers, rows = {(cell.group, cell.arm.name): cell for cell in run.cells}, []
    for cell, arm in pairs:
        base = numbers[cell.group, arm.name]
        logs = changes_by_machine(base, cell, values, run.primary.worst)
        if logs:
            ratios = {machine: [math.exp(log) for log in by_round.values()] for machine, by_round in logs.items()}
            shared = values[cell.number].keys() & values[base.number].keys()
            across = sum(values[cell.number][n].machine != values[base.number][n].machine for n in shared)
            rows.append(ChangeRow(cell, arm, between(ratios, hodges_lehmann, alpha_of_run(run)), across))
    return rows


def speeds(run: Run) -> list[Speed]:
    """Return every machine against the one with most trials. A round is one observation: what slows a machine for a
    while slows all its trials."""
    by_cell = results(run)
    count = {machine.number: 0 for machine in run.machines_used}
    for by_round in by_cell.values():
        for one in by_round.values():
            count[one.machine] += 1
    named = {machine.number: machine for machine in run.machines_used if count[machine.number]}
    if len(named) < 2:
        return []
    first = max(named, key=lambda number: (count[number], -number))
    rows = (_speed(by_cell, named[number], named[first], run.primary) for number in named if number != first)
    return [speed for speed in rows if speed]


def _speed(
    by_cell: Mapping[int, Mapping[int, Result]], machine: Machine, first: Machine, metric: Metric
) -> Speed | None:
    rounds: dict[int, dict[int, list[float]]] = {machine.number: {}, first.number: {}}
    for by_round in by_cell.values():
        logs = {
            number: [(n, logarithm(one.value)) for n, one in by_round.items() if one.machine == number]
            for number in rounds
        }
        middles = [statistics.median([log for _, log in some]) for some in logs.values() if some]
        if len(middles) < 2 or not all(map(math.isfinite, middles)):
            continue
        centre = statistics.fmean(middles)
        for number, some in logs.items():
            for n, log in some:
                rounds[number].setdefault(n, []).append(log - centre)
    values, other = (
        [mean_of(some) for some in each.values()] for each in (rounds[machine.number], rounds[first.number])
    )
    more_of = metric.words if metric.higher_is_better else ""
    return Speed(machine, first, shift(other, values).exponential(), more_of) if values and other else None


def mean_of(values: Sequence[float]) -> float:
    """Return the mean of numbers that may be infinite: time-outs decide, where all of them go one way."""
    endless = {value for value in values if math.isinf(value)}
    if not endless:
        return statistics.fmean(values)
    return endless.pop() if len(endless) == 1 else 0.0


def levels(by_cell: Mapping[int, Mapping[int, Result]]) -> Levels | None:
    """Return the mean of the variances over cells. None where nothing has two trials on a bed."""
    spreads = [spread for by_round in by_cell.values() if (spread := nested(_groups(by_round)))]
    if not spreads:
        return None
    trials = statistics.fmean(each[0] for each in spreads)
    beds, machines = (_mean([each[i] for each in spreads]) for i in (1, 2))
    return Levels(math.sqrt(trials), *(None if one is None else math.sqrt(max(0.0, one)) for one in (beds, machines)))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _groups(by_round: Mapping[int, Result]) -> list[list[list[float]]]:
    """Return machine -> bed -> logarithms; nothing where one has none."""
    logs: dict[int, dict[int, list[float]]] = {}
    for one in by_round.values():
        if not 0 < one.value < math.inf:
            return []
        logs.setdefault(one.machine, {}).setdefault(one.bed, []).append(math.log(one.value))
    return [list(beds.values()) for beds in logs.values()]


def nested(groups: Sequence[Sequence[Sequence[float]]]) -> tuple[float, float | None, float | None] | None:
    """Return the variances of trials within a bed, of beds within a machine and of machines, by the mean squares of a
    nested analysis of variance with unequal sizes (Searle, Casella and McCulloch 1992, appendix F.2). By chance the
    last two may come out below 0. Where every machine has one bed, theirs and the machines' cannot be told apart: the
    second is None, and the third has both."""
    n = sum(len(bed) for machine in groups for bed in machine)
    beds, machines = sum(map(len, groups)), len(groups)
    if n <= beds:
        return None
    all_of = [[value for bed in machine for value in bed] for machine in groups]
    means, middle = (
        [statistics.fmean(values) for values in all_of],
        statistics.fmean(v for some in all_of for v in some),
    )
    inside = sum((v - statistics.fmean(bed)) ** 2 for machine in groups for bed in machine for v in bed)
    trials = inside / (n - beds)
    among_beds = sum(
        len(bed) * (statistics.fmean(bed) - mean) ** 2
        for machine, mean in zip(groups, means, strict=True)
        for bed in machine
    )
    within = sum(sum(len(bed) ** 2 for bed in machine) / sum(map(len, machine)) for machine in groups)
    of_beds = (
        (among_beds / (beds - machines) - trials) / ((n - within) / (beds - machines)) if beds > machines else None
    )
    if machines < 2:
        return trials, of_beds, None
    among = sum(len(values) * (mean - middle) ** 2 for values, mean in zip(all_of, means, strict=True))
    squares = sum(len(bed) ** 2 for machine in groups for bed in machine) / n
    sizes = sum(len(values) ** 2 for values in all_of) / n
    size_of_beds, size = (within - squares) / (machines - 1), (n - sizes) / (machines - 1)
    known = trials + (size_of_beds * of_beds if of_beds is not None else 0.0)
    return trials, of_beds, (among / (machines - 1) - known) / size
