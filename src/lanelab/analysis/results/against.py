"""A run and another one that is held against it: what came of it, as data and in words. Pure."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from lanelab.analysis.results import conditions as conditions_of
from lanelab.analysis.results.claims.claim_family import wrong_by_chance
from lanelab.analysis.results.layout.data import key, spread
from lanelab.analysis.results.model import Cell, Identity, Run, identity_of
from lanelab.analysis.results.numbers import values_of
from lanelab.analysis.statistics import ALPHA, Change, Estimate
from lanelab.analysis.statistics.two_samples import TwoSamples
from lanelab.driver.base.amounts import counted

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


def status(all_of_them: Sequence[Against]) -> Verdict:
    """Return the verdict of all comparisons together: they differ where one does, and agree where every one does and
    nothing was left out."""
    verdicts = [verdict for each in all_of_them for verdict in each.verdicts]
    if "differ" in verdicts:
        return "differ"
    everything = verdicts and all(each.is_whole for each in all_of_them)
    return "agree" if everything and set(verdicts) == {"agree"} else "not told"


# --- in words


def sentences(both: Against) -> list[str]:
    """Return what the comparison says, in order of importance."""
    of_both = (*_of_run(both.first, "first"), *_of_run(both.other, "other"))
    return [*_of_cells(both), *_of_changes(both), *_of_many(both), *_of_few(both), *_of_matching(both), *of_both]


def _of_run(run: Run, which: str) -> Iterable[str]:
    """Return what keeps the numbers of one of them from being believed."""
    if not run.is_finished:
        yield f"The {which} run is not finished ({run.state}): all of this is so far."
    if run.over:
        yield f"Absolute numbers of the {which} run are {run.over}; its changes are within machines."
    if late := sum(trial.timed_out for trial in run.trials):
        yield f"{counted(late, 'trial')} of the {which} run timed out: they took longer than every other."
    if broken := [rounds for rounds in run.broken_rounds().values() if rounds]:
        rounds, cells = counted(sum(map(len, broken)), "round"), counted(len(broken), "cell")
        yield f"In {rounds} of {cells} of the {which} run loads broke and were tried again: these are in no number."
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


def _shifts(both: Against) -> list[TwoSamples]:
    return [*(row.ratio for row in both.cells), *(row.points for row in both.changes)]


def _of_many(both: Against) -> list[str]:
    """Say how many verdicts chance makes wrong. Each goes by an interval that misses in 5% of runs, on either side."""
    tested = sum(one.is_enough for one in _shifts(both))
    wrong = wrong_by_chance(ALPHA * tested, tested)
    return [f"Each is judged by itself, however many there are. {wrong}"] if wrong else []


def _of_few(both: Against) -> list[str]:
    few = [one for one in _shifts(both) if not one.is_enough]
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
