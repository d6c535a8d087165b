"""What of a run is to be explained: all comparisons, one cell or arm, two arms, one trial."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from analysis import tables
from analysis.explain.difference import Difference, explain_difference, explain_links
from analysis.explain.made_of import MadeOf, made_of, with_parts
from analysis.explain.outliers import Outlier
from analysis.model import Cell, Run
from model.errors import InputError
from model.evidence.parts import Parts
from model.settings.kinds import near_miss

PartsOf = Callable[[int], Parts | None]  # of a trial, by its number


@dataclass(frozen=True, slots=True)
class Explained:
    """What was asked for, in the order in which it is told."""

    cells: tuple[MadeOf, ...]
    differences: tuple[Difference, ...]
    links: tuple[str, ...]
    outliers: tuple[Outlier, ...]

    def paragraphs(self) -> list[list[str]]:
        return [
            *(each.sentences() for each in self.cells),
            *([list(self.links)] if self.links else []),
            *(each.sentences() for each in self.differences),
            *(each.sentences() for each in self.outliers),
        ]

    def to_json(self) -> dict[str, Any]:
        return {
            "cells": [each.to_json() for each in self.cells],
            "links": list(self.links),
            "differences": [each.to_json() for each in self.differences],
            "outliers": [each.to_json() for each in self.outliers],
        }


def explain(run: Run, what: Sequence[str], parts_of: PartsOf, trial: int | None = None) -> Explained:
    """`what`: nothing for all comparisons, a cell or an arm, or two arms. InputError where no trial has parts, or
    where there is no such thing."""
    made = made_of(run)
    if not made:
        raise _no_parts(run, parts_of)
    if trial is not None:
        return Explained((), (), (), (_one_trial(run, made, trial, parts_of),))
    if len(what) == 2:
        base, other = (_arm(run, name) for name in what)
        pairs = [(one, two) for one in run.cells for two in run.cells if one.group == two.group]
        wanted = [(one, two) for one, two in pairs if (one.arm.name, two.arm.name) == (base, other)]
        differences = _differences(run, made, wanted)
        cells = [cell for pair in wanted for cell in pair]
        return Explained((), differences, (), _outliers(run, made, cells, parts_of))
    if len(what) == 1:
        cells = _cells(run, what[0])
        told = [made[cell.number] for cell in cells if cell.number in made]
        by_site = {
            site: [each for each in told if each.cell.site == site] for site in {each.cell.site for each in told}
        }
        links = tuple(line for several in by_site.values() for line in explain_links(several)) if len(told) > 1 else ()
        return Explained(tuple(told), (), links, _outliers(run, made, cells, parts_of))
    compared = [(_base_of(run, row), row.cell) for row in tables.comparisons(run)]
    return Explained(
        tuple(made.values()), _differences(run, made, compared), (), _outliers(run, made, run.cells, parts_of)
    )


def _differences(run: Run, made: dict[int, MadeOf], pairs: Iterable[tuple[Cell, Cell]]) -> tuple[Difference, ...]:
    found = (
        explain_difference(run, made[one.number], made[two.number])
        for one, two in pairs
        if one.number in made and two.number in made
    )
    return tuple(each for each in found if each)


def _base_of(run: Run, row: tables.ComparisonRow) -> Cell:
    return next(cell for cell in run.cells if cell.group == row.cell.group and cell.arm == row.base)


def _outliers(run: Run, made: dict[int, MadeOf], cells: Iterable[Cell], parts_of: PartsOf) -> tuple[Outlier, ...]:
    numbers = {cell.number for cell in cells}
    far = [number for row in tables.rows(run) if row.cell.number in numbers for number in row.outliers]
    trials = {trial.number: trial for trial in with_parts(run.trials)}
    return tuple(
        Outlier(trials[number], made[trials[number].cell.number], parts_of(number))
        for number in far
        if number in trials
    )


def _one_trial(run: Run, made: dict[int, MadeOf], number: int, parts_of: PartsOf) -> Outlier:
    trial = next((one for one in run.trials if one.number == number), None)
    if trial is None:
        raise InputError(f"the run has no trial {number}", f"Its trials are 1 to {len(run.trials)}", key="--trial")
    parts = parts_of(number)
    if not with_parts([trial]):
        why = (parts.absent if parts else None) or "it does not count, or its parts were not worked out"
        raise InputError(f"trial {number} does not say what its load time was made of: {why}", key="--trial")
    return Outlier(trial, made[trial.cell.number], parts)


def _cells(run: Run, name: str) -> list[Cell]:
    """A cell by its id or words, or all cells of an arm."""
    found = [cell for cell in run.cells if name in (cell.id, str(cell), cell.arm.name)]
    if not found:
        known = [*(arm.name for arm in run.arms), *map(str, run.cells)]
        remedy = f"{near_miss(name, known)}Its arms are {', '.join(arm.name for arm in run.arms)}"
        raise InputError(f"the run has no cell and no arm {name!r}", remedy, key="CELL")
    return found


def _arm(run: Run, name: str) -> str:
    names = [arm.name for arm in run.arms]
    if name not in names:
        raise InputError(
            f"the run has no arm {name!r}", f"{near_miss(name, names)}It has {', '.join(names)}", key="ARM"
        )
    return name


def _no_parts(run: Run, parts_of: PartsOf) -> InputError:
    if not run.ok:
        return InputError("no page load of this run counts yet", "See `lanelab show` for why")
    parts = parts_of(run.ok[0].number)
    why = (parts.absent if parts else None) or "it was made before they were worked out, or loaded no page"
    remedy = "Run it again with `capture: client`, which is the default"
    return InputError(f"no trial of this run says what its load time was made of: {why}", remedy)
