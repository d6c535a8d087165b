"""Whether runs agree: the same cells on two machines, or on two dates. Pure.

Each further run is held against the first. Trials of two runs have nothing in common, so nothing is paired between
them: medians are compared by the shift of the logarithms of all trials, and a paired change by the shift of the rounds'
changes, each with the exact interval of Hodges and Lehmann. Two runs agree within a margin where the whole interval
lies within it, and differ by more where the whole of it lies beyond: two one-sided tests, each at 2.5%.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from lanelab.analysis.results import conditions as conditions_of
from lanelab.analysis.results import tables
from lanelab.analysis.results.comparisons import ComparisonRow
from lanelab.analysis.results.layout.data import key, spread
from lanelab.analysis.results.model import Cell, Identity, Run, identity_of
from lanelab.analysis.results.numbers import values_of
from lanelab.analysis.results.refusals import refusals
from lanelab.analysis.statistics import Change, Comparison, Estimate, compare, estimate, strata
from lanelab.analysis.statistics.looks import look_after
from lanelab.analysis.statistics.two_samples import TwoSamples, shift
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss

Verdict = Literal["agree", "differ", "not told"]
TITLES: Mapping[Verdict, str] = {
    "agree": "agree within",
    "differ": "differ by more than",
    "not told": "cannot be told apart",
}


@dataclass(frozen=True, slots=True)
class CellPair:
    """A cell of the first run and the same cell of another one."""

    first: Cell
    other: Cell
    settings: tuple[str, ...]  # which settings differ, where the cells are the same by name only


@dataclass(frozen=True, slots=True)
class CellRow:
    """The primary metric of a cell in both runs."""

    cell: Cell = field(metadata=spread(identity_of))
    first: Estimate
    other: Estimate
    ratio: TwoSamples  # of the other run to the first
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """The change of an arm against a base, in both runs."""

    cell: Cell = field(metadata=spread(identity_of))
    base: str
    first: Change
    other: Change
    # the change in the other run minus that in the first, in percentage points
    points: TwoSamples = field(metadata=key("difference_points"))
    verdict: Verdict


class AboutRun(TypedDict):
    """One of the runs that are compared."""

    folder: str
    name: str
    state: str
    created_utc: str


class UnlikeCell(Identity):
    """A cell that is the same by its names only, with the settings that differ."""

    settings: list[str]


class Condition(TypedDict):
    """A condition that differs, with its value in each run."""

    name: str
    first: str
    other: str


class AgainstJson(TypedDict):
    """The comparison of another run with the first one."""

    run: AboutRun
    words: list[str]
    cells: tuple[CellRow, ...]
    changes: tuple[ChangeRow, ...]
    unlike: list[UnlikeCell]
    refused: list[Identity]
    only_in_first: list[Identity]
    only_in_other: list[Identity]
    conditions: list[Condition]


class AgreementJson(TypedDict):
    """Runs, each held against the first one."""

    first: AboutRun
    within: float  # a share
    verdict: Verdict
    compared: list["Against"]


@dataclass(frozen=True, slots=True)
class Against:
    """The first run and another one."""

    first: Run
    other: Run
    margin: float  # a share
    cells: tuple[CellRow, ...]
    changes: tuple[ChangeRow, ...]
    # comparisons of the first run that have no counterpart: a cell is missing in the other run, its arms have no round
    # in common, or it was not interleaved
    changes_not_compared: tuple[str, ...]
    unlike: tuple[CellPair, ...]  # cells that are the same by name only
    refused: tuple[Cell, ...]  # in one of the runs: they are not compared
    only_first: tuple[Cell, ...]
    only_other: tuple[Cell, ...]
    conditions: tuple[tuple[str, str, str], ...]  # what differs: its name, its value in each

    @property
    def verdicts(self) -> list[Verdict]:
        return [*(row.verdict for row in self.cells), *(row.verdict for row in self.changes)]

    @property
    def is_whole(self) -> bool:
        """Return whether everything that both runs were asked for was compared, with the same settings."""
        lacking = (self.refused, self.without_trials, self.only_first, self.only_other, self.unlike)
        return not any(lacking) and not self.changes_not_compared

    @property
    def without_trials(self) -> tuple[Cell, ...]:
        """Return the cells that both runs have and that are compared in neither: one has no trial that counts."""
        known = {cell.number for cell in (*(row.cell for row in self.cells), *self.refused, *self.only_first)}
        return tuple(cell for cell in self.first.cells if cell.number not in known)

    def to_json(self) -> AgainstJson:
        return {
            "run": about_run(self.other),
            "words": sentences(self),
            "cells": self.cells,
            "changes": self.changes,
            "unlike": [{**pair.first.identity, "settings": list(pair.settings)} for pair in self.unlike],
            "refused": [cell.identity for cell in self.refused],
            "only_in_first": [cell.identity for cell in self.only_first],
            "only_in_other": [cell.identity for cell in self.only_other],
            "conditions": [{"name": name, "first": one, "other": other} for name, one, other in self.conditions],
        }


def about_run(run: Run) -> AboutRun:
    return {"folder": str(run.folder), "name": run.name, "state": run.state, "created_utc": run.created_utc}


# --- comparing


def against(first: Run, other: Run, margin: float, conditions: Sequence[tuple[str, str, str]]) -> Against:
    """Raises InputError where the two have nothing to compare."""
    if first.workload != other.workload:
        what = f"{first.folder} has {first.trials_word}, and {other.folder} has {other.trials_word}"
        raise InputError(f"these runs measured different things: {what}", "Compare runs of the same workload")
    pairs = _matched(first, other)
    if not pairs:
        raise _nothing_in_common(first, other)
    compared = tables.comparisons(first)
    changes = tuple(_changes(first, other, compared, pairs, margin))
    known = {(row.cell.number, row.base) for row in changes}
    matched = {pair.first.number for pair in pairs}
    taken = {pair.other.number for pair in pairs}
    return Against(
        first=first,
        other=other,
        margin=margin,
        cells=tuple(_cells(first, other, pairs, margin)),
        changes=changes,
        changes_not_compared=tuple(
            f"{row.cell}: change against {row.base.name}"
            for row in compared
            if (row.cell.number, row.base.name) not in known
        ),
        unlike=tuple(pair for pair in pairs if pair.first.id != pair.other.id),
        refused=tuple(_refused(first, other, pairs)),
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


def _cells(first: Run, other: Run, pairs: Iterable[CellPair], margin: float) -> Iterable[CellRow]:
    ours, theirs = _outcomes(first), _outcomes(other)
    for pair in pairs:
        one, two = list(ours[pair.first.number].values()), list(theirs[pair.other.number].values())
        if one and two:
            ratio = shift(_logarithms(one), _logarithms(two)).exponential()
            verdict = _verdict(ratio, 1 / (1 + margin), 1 + margin)
            yield CellRow(pair.first, _estimate(first, one), _estimate(other, two), ratio, verdict)


def _outcomes(run: Run) -> dict[int, dict[int, float]]:
    """Return outcomes by cell and round, with what timed out; nothing of cells that are refused."""
    refused = refusals(run)
    return {cell: {} if cell in refused else values for cell, values in run.outcomes().items()}


def _estimate(run: Run, values: Sequence[float]) -> Estimate:
    return estimate(values, look_after(run.plan.looks, len(values)).alpha, len(run.plan.looks))


def _compared(run: Run, values: Mapping[int, Mapping[int, float]], base: Cell, arm: Cell) -> Comparison | None:
    of_base, of_arm, made_on = values[base.number], values[arm.number], run.made_on()
    look = look_after(run.plan.looks, max(len(of_base), len(of_arm)))
    machines = made_on[base.number], made_on[arm.number]
    return compare(of_base, of_arm, alpha=look.alpha, looks=len(run.plan.looks), machines=machines)


def _refused(first: Run, other: Run, pairs: Iterable[CellPair]) -> Iterable[Cell]:
    ours, theirs = refusals(first), refusals(other)
    return (pair.first for pair in pairs if pair.first.number in ours or pair.other.number in theirs)


def _changes(
    first: Run, other: Run, compared: Iterable[ComparisonRow], pairs: Iterable[CellPair], margin: float
) -> Iterable[ChangeRow]:
    ours, theirs = _outcomes(first), _outcomes(other)
    if not other.plan.is_interleaved:
        return
    pair_of = {(pair.first.group, pair.first.arm.name): pair for pair in pairs}
    for row in compared:
        arm, base = pair_of.get((row.cell.group, row.cell.arm.name)), pair_of.get((row.cell.group, row.base.name))
        if not arm or not base:
            continue
        in_first = _compared(first, ours, base.first, arm.first)
        in_other = _compared(other, theirs, base.other, arm.other)
        if in_first and in_other:
            points = shift(
                _changes_in_points(first, ours, base.first, arm.first),
                _changes_in_points(other, theirs, base.other, arm.other),
            )
            verdict = _verdict(points, -100 * margin, 100 * margin)
            yield ChangeRow(row.cell, row.base.name, in_first.ratio, in_other.ratio, points, verdict)


def _logarithms(values: Iterable[float]) -> list[float]:
    return [math.log(value) if value > 0 else -math.inf for value in values]


def _changes_in_points(run: Run, values: Mapping[int, Mapping[int, float]], base: Cell, arm: Cell) -> list[float]:
    """Of each round that has both, made by one machine; where neither came to its end, a round says nothing."""
    made_on, of_base, of_arm = run.made_on(), values[base.number], values[arm.number]
    rounds = strata(of_base, of_arm, (made_on[base.number], made_on[arm.number])).rounds
    both = ((of_base[number], of_arm[number]) for stratum in rounds for number in stratum)
    return [100 * (of_base / one - 1) for one, of_base in both if one > 0 and not one == of_base == math.inf]


def _verdict(samples: TwoSamples, low: float, high: float) -> Verdict:
    if not samples.is_enough:
        return "not told"
    if low <= samples.low and samples.high <= high:
        return "agree"
    return "differ" if samples.high < low or samples.low > high else "not told"


# --- in words


def sentences(both: Against) -> list[str]:
    """Return what the comparison says, in order of importance."""
    of_both = (*_of_run(both.first, "first"), *_of_run(both.other, "other"))
    return [*_of_cells(both), *_of_changes(both), *_of_few(both), *_of_matching(both), *of_both]


def _of_run(run: Run, which: str) -> Iterable[str]:
    """Return what keeps the numbers of one of them from being believed."""
    if not run.is_finished:
        yield f"The {which} run is not finished ({run.state}): all of this is so far."
    if run.over:
        yield f"Absolute numbers of the {which} run are {run.over}; its changes are within machines."
    if late := sum(trial.timed_out for trial in run.trials):
        yield f"{counted(late, 'trial')} of the {which} run timed out: they took longer than every other."
    yield from (f"The {which} run: {sentence}" for sentence in conditions_of.caveats(run))


def _of_cells(both: Against) -> list[str]:
    if not both.cells:
        return ["No cell has a trial that counts in both runs."]
    sizes = sorted(abs(row.ratio.value - 1) for row in both.cells)
    what = values_of(both.first.primary)
    return [
        f"Absolute {what} differ by {_range(sizes, '%')}. {_verdicts(both.cells, f'{100 * both.margin:g}%', 'cell')}"
    ]


def _of_changes(both: Against) -> list[str]:
    if not both.changes:
        return []
    sizes = sorted(abs(row.points.value) / 100 for row in both.changes)
    margin = f"{100 * both.margin:g} points"
    return [f"Paired changes differ by {_range(sizes, ' points')}. {_verdicts(both.changes, margin, 'comparison')}"]


def _range(sizes: Sequence[float], unit: str) -> str:
    """Return sizes in order. Where the half of a cell timed out in one run only, the difference has no size."""
    known = [_size(size) for size in sizes if math.isfinite(size)]
    endless = "more than can be told, where trials timed out"
    if not known:
        return endless
    low, high = known[0], known[-1]
    words = f"{low}{unit}" if low == high else f"{low} to {high}{unit}"
    return words if len(known) == len(sizes) else f"{words}, and {endless}"


def _size(size: float) -> str:
    return f"{100 * size:.1f}" if size < 0.0995 else f"{100 * size:.0f}"


def _verdicts(rows: Sequence[CellRow | ChangeRow], margin: str, what: str) -> str:
    total = len(rows)
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in TITLES}
    of = counted(total, what)
    texts = [f"they agree within {margin} in {counts['agree']} of {of}"]
    if counts["differ"]:
        texts.append(f"differ by more in {counts['differ']}")
    if counts["not told"]:
        texts.append(f"{counts['not told']} cannot be told apart: too few trials for how much they vary")
    return f"{texts[0][0].upper()}{texts[0][1:]}{''.join(f', {words}' for words in texts[1:])}."


def _of_few(both: Against) -> list[str]:
    shifts = [*(row.ratio for row in both.cells), *(row.points for row in both.changes)]
    few = [one for one in shifts if not one.is_enough]
    if not few:
        return []
    least = min(one.n for one in few)
    trials = counted(least, "trial")
    return [f"There is no 95% interval for {len(few)} of them, with {trials} in one run: 4 in each are the fewest."]


def _of_matching(both: Against) -> list[str]:
    texts = []
    if both.refused:
        cells = counted(len(both.refused), "cell is", "cells are")
        texts.append(f"Not compared: {cells} refused in one of the runs, {both.refused[0]} first.")
    if not (both.first.plan.is_interleaved and both.other.plan.is_interleaved):
        texts.append("Paired changes are not compared: in one of the runs arms were not interleaved.")
    if both.unlike:
        settings = list(dict.fromkeys(words for pair in both.unlike for words in pair.settings))
        shown = "; ".join(settings[:4]) + (f"; and {len(settings) - 4} more" if len(settings) > 4 else "")
        cells = counted(len(both.unlike), "cell")
        texts.append(f"{cells} match by name only, and their settings differ: {shown or 'in what neither run notes'}.")
    left = [(len(both.only_first), "first"), (len(both.only_other), "other")]
    if any(number for number, _ in left):
        words = " and ".join(f"{number} of the {which} run" for number, which in left if number)
        texts.append(f"Without a match: cells {words}.")
    return texts


def status(all_of_them: Sequence[Against]) -> Verdict:
    """Return the verdict of all comparisons together: they differ where one does, and agree where every one does and
    nothing was left out."""
    verdicts = [verdict for each in all_of_them for verdict in each.verdicts]
    if "differ" in verdicts:
        return "differ"
    everything = verdicts and all(each.is_whole for each in all_of_them)
    return "agree" if everything and set(verdicts) == {"agree"} else "not told"
