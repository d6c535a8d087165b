"""Whether runs agree: the same cells on two machines, or on two dates. Pure.

Each further run is held against the first. Trials of two runs have nothing in common, so nothing is paired between
them: medians are compared by the shift of the logarithms of all trials, and a paired change by the shift of the rounds'
changes, each with the exact interval of Hodges and Lehmann. Two runs agree within a margin where the whole interval
lies within it, and differ by more where the whole of it lies beyond: two one-sided tests, each at 2.5%.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lanelab.analysis.results import tables
from lanelab.analysis.results.against import Against, CellPair, CellRow, ChangeRow, Verdict
from lanelab.analysis.results.comparisons import ComparisonRow
from lanelab.analysis.results.model import Cell, Run
from lanelab.analysis.results.refusals import refusals
from lanelab.analysis.statistics import Comparison, Estimate, compare, estimate, strata
from lanelab.analysis.statistics.looks import look_after
from lanelab.analysis.statistics.median import logarithm
from lanelab.analysis.statistics.paired import ratio_of
from lanelab.analysis.statistics.two_samples import TwoSamples, shift
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss


@dataclass(frozen=True, slots=True)
class _Results:
    """A run with the outcome and the machine of each cell, by round. What timed out is an outcome; cells that are
    refused have none."""

    run: Run
    values: Mapping[int, Mapping[int, float]]
    made_on: Mapping[int, Mapping[int, int]]
    refused: Container[int]

    @classmethod
    def of(cls, run: Run) -> "_Results":
        refused = refusals(run)
        values = {cell: {} if cell in refused else values for cell, values in run.outcomes().items()}
        return cls(run, values, run.made_on(), refused)


def against(first: Run, other: Run, margin: float, conditions: Sequence[tuple[str, str, str]]) -> Against:
    """Raises InputError where the two have nothing to compare."""
    if first.workload != other.workload:
        what = f"{first.folder} has {first.trials_word}, and {other.folder} has {other.trials_word}"
        raise InputError(f"these runs measured different things: {what}", "Compare runs of the same workload")
    pairs = _matched(first, other)
    if not pairs:
        raise _nothing_in_common(first, other)
    ours, theirs, compared = _Results.of(first), _Results.of(other), tables.comparisons(first)
    changes = tuple(_changes(ours, theirs, compared, pairs, margin))
    known = {(row.cell.number, row.base) for row in changes}
    matched = {pair.first.number for pair in pairs}
    taken = {pair.other.number for pair in pairs}
    return Against(
        first=first,
        other=other,
        margin=margin,
        cells=tuple(_cells(ours, theirs, pairs, margin)),
        changes=changes,
        changes_not_compared=tuple(
            f"{row.cell}: change against {row.base.name}"
            for row in compared
            if (row.cell.number, row.base.name) not in known
        ),
        unlike=tuple(pair for pair in pairs if pair.first.id != pair.other.id),
        refused=tuple(
            pair.first for pair in pairs if pair.first.number in ours.refused or pair.other.number in theirs.refused
        ),
        only_first=tuple(cell for cell in first.cells if cell.number not in matched),
        only_other=tuple(cell for cell in other.cells if cell.number not in taken),
        conditions=tuple(conditions),
    )


def _matched(first: Run, other: Run) -> list[CellPair]:
    """Cells with the same settings, else those with the same names."""
    by_id = {cell.id: cell for cell in other.cells}
    by_name = {(*cell.group, cell.arm.name): cell for cell in other.cells}
    taken = {cell.id for cell in first.cells} & by_id.keys()
    pairs = []
    for cell in first.cells:
        same = by_id.get(cell.id)
        named = by_name.get((*cell.group, cell.arm.name))
        if same:
            pairs.append(CellPair(cell, same, ()))
        elif named and named.id not in taken:
            pairs.append(CellPair(cell, named, tuple(_differing(cell, named))))
    return pairs


def _differing(cell: Cell, other: Cell) -> Iterable[str]:
    for what, one, two in (
        ("link", cell.link.settings, other.link.settings),
        ("arm", cell.arm.settings, other.arm.settings),
    ):
        for name in dict.fromkeys([*one, *two]):
            if one.get(name) != two.get(name):
                yield f"{what} {name}: {_written(one.get(name))} and {_written(two.get(name))}"


def _written(value: object) -> str:
    return "none" if value is None else str(value)


def _nothing_in_common(first: Run, other: Run) -> InputError:
    names = [str(cell) for cell in other.cells]
    near = next((meant for cell in first.cells if (meant := near_miss(str(cell), names))), "")
    example = f"the first has {first.cells[0]}" if first.cells else "the first has no cells"
    remedy = f"{near}Cells are the same by their settings, or by the names of site, link and arm"
    return InputError(f"{first.folder} and {other.folder} have no cell in common: {example}", remedy)


def _cells(ours: _Results, theirs: _Results, pairs: Iterable[CellPair], margin: float) -> Iterable[CellRow]:
    for pair in pairs:
        one, two = list(ours.values[pair.first.number].values()), list(theirs.values[pair.other.number].values())
        if one and two:
            ratio = shift([*map(logarithm, one)], [*map(logarithm, two)]).exponential()
            verdict = _verdict(ratio, 1 / (1 + margin), 1 + margin)
            yield CellRow(pair.first, _estimate(ours.run, one), _estimate(theirs.run, two), ratio, verdict)


def _estimate(run: Run, values: Sequence[float]) -> Estimate:
    return estimate(values, look_after(run.plan.looks, len(values)).alpha, len(run.plan.looks))


def _changes(
    ours: _Results, theirs: _Results, compared: Iterable[ComparisonRow], pairs: Iterable[CellPair], margin: float
) -> Iterable[ChangeRow]:
    if not theirs.run.plan.is_interleaved:
        return
    pair_of = {(pair.first.group, pair.first.arm.name): pair for pair in pairs}
    for row in compared:
        arm, base = pair_of.get((row.cell.group, row.cell.arm.name)), pair_of.get((row.cell.group, row.base.name))
        if not arm or not base:
            continue
        in_first, in_other = _compared(ours, base.first, arm.first), _compared(theirs, base.other, arm.other)
        if in_first and in_other:
            points = shift(
                _changes_in_points(ours, base.first, arm.first), _changes_in_points(theirs, base.other, arm.other)
            )
            verdict = _verdict(points, -100 * margin, 100 * margin)
            yield ChangeRow(row.cell, row.base.name, in_first.ratio, in_other.ratio, points, verdict)


def _compared(results: _Results, base: Cell, arm: Cell) -> Comparison | None:
    of_base, of_arm, looks = results.values[base.number], results.values[arm.number], results.run.plan.looks
    look = look_after(looks, max(len(of_base), len(of_arm)))
    machines, worst = (results.made_on[base.number], results.made_on[arm.number]), results.run.primary.worst
    return compare(of_base, of_arm, alpha=look.alpha, looks=len(looks), machines=machines, worst=worst)


def _changes_in_points(results: _Results, base: Cell, arm: Cell) -> list[float]:
    """Of each round that has both, made by one machine; where neither came to its end, a round says nothing."""
    made_on, of_base, of_arm = results.made_on, results.values[base.number], results.values[arm.number]
    machines = made_on[base.number], made_on[arm.number]
    rounds = strata(of_base, of_arm, machines, results.run.primary.worst).rounds
    return [100 * (ratio_of(of_base[number], of_arm[number]) - 1) for stratum in rounds for number in stratum]


def _verdict(samples: TwoSamples, low: float, high: float) -> Verdict:
    if not samples.is_enough:
        return "not told"
    if low <= samples.low and samples.high <= high:
        return "agree"
    return "differ" if samples.high < low or samples.low > high else "not told"
