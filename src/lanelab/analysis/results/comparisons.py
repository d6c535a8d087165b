"""The comparisons of a run: those that its experiment asks for, each with what all of them together allow to be said.
Pure.

Cells that are not compared are there too, with why: nothing vanishes silently.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NotRequired, cast

from lanelab.analysis.results.model import Arm, Cell, Names, Run
from lanelab.analysis.results.refusals import Refused, refusals
from lanelab.analysis.statistics import Change, Comparison, Strata, compare, holm, strata
from lanelab.analysis.statistics.looks import look_after
from lanelab.driver.record.metrics import Metric

NO_PAIRS = "no round has both"
NO_PAIRS_ON_ONE = "no machine has both in one round"
NEITHER = "both timed out in each round that has both"
NOT_INTERLEAVED = (
    "Arms were not interleaved (order: sequential), so none are compared: a machine that became slower or faster "
    "meanwhile would look like a difference between them."
)


class ComparisonJson(Names):
    """An arm against a base, on the same site and link; numbers are None where they are not compared."""

    base: str
    rounds: int
    ratio: Change | None
    difference_ms: NotRequired[Change | None]  # of a metric in ms
    difference: NotRequired[Change | None]  # of another one
    rounds_faster: int
    rounds_slower: int
    rounds_left_out: int
    rounds_across_machines: int
    rounds_both_timed_out: int
    rounds_broken: int
    rounds_broken_base: int
    ratio_with_broken: Change | None
    machines: int
    p: float | None
    p_adjusted: float | None
    verdict: str
    why_not: str | None


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """An arm against a base, on the same site and link."""

    cell: Cell
    base_cell: Cell
    primary: Metric
    comparison: Comparison | None
    why: str = NO_PAIRS  # where there is no comparison
    broken: int = 0  # rounds in which a load of the arm broke, and was tried again
    broken_base: int = 0

    @property
    def base(self) -> Arm:
        return self.base_cell.arm

    def to_json(self) -> ComparisonJson:
        comparison = self.comparison
        whole = {
            **self.cell.names,
            "base": self.base.name,
            "rounds": comparison.n if comparison else 0,
            "ratio": comparison.ratio if comparison else None,
            self._difference: comparison.difference if comparison else None,
            "rounds_faster": comparison.faster if comparison else 0,
            "rounds_slower": comparison.slower if comparison else 0,
            "rounds_left_out": comparison.left_out if comparison else 0,
            "rounds_across_machines": comparison.across_machines if comparison else 0,
            "rounds_both_timed_out": comparison.both_timed_out if comparison else 0,
            "rounds_broken": self.broken,
            "rounds_broken_base": self.broken_base,
            "ratio_with_broken": comparison.with_broken if comparison else None,
            "machines": comparison.machines if comparison else 0,
            "p": comparison.p if comparison else None,
            "p_adjusted": comparison.adjusted_p if comparison else None,
            "verdict": comparison.verdict if comparison else "not compared",
            "why_not": None if comparison else self.why,
        }
        return cast("ComparisonJson", whole)

    @property
    def _difference(self) -> str:
        return "difference_ms" if self.primary.unit == "ms" else "difference"


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outcome and the machine of each cell, by round."""

    values: Mapping[int, Mapping[int, float]]
    made_on: Mapping[int, Mapping[int, int]]

    @classmethod
    def of(cls, run: Run, *, broken: bool = False) -> "Outcomes":
        """Return those of a run. `broken`: as if no load that broke had been tried again."""
        return cls(run.outcomes(broken=broken), run.made_on(broken=broken))

    def compared(self, run: Run, base: Cell, cell: Cell, alpha: float) -> Comparison | None:
        """Compare a cell with its base; None where no round has both."""
        return compare(
            self.values[base.number],
            self.values[cell.number],
            higher_is_better=run.primary.higher_is_better,
            alpha=alpha,
            looks=len(run.plan.looks),
            machines=(self.made_on[base.number], self.made_on[cell.number]),
            worst=run.primary.worst,
        )

    def why_no_pairs(self, run: Run, base: Cell, cell: Cell) -> str:
        """Return why two cells have no pairs, where they have none."""
        machines = (self.made_on[base.number], self.made_on[cell.number])
        return why_no_pairs(strata(self.values[base.number], self.values[cell.number], machines, run.primary.worst))


@dataclass(frozen=True, slots=True)
class BrokenLoads:
    """The loads of a run that broke and were tried again, with what cells would have given with them."""

    without: Outcomes
    with_them: Outcomes
    rounds: Mapping[int, frozenset[int]]  # number of a cell -> rounds in which a load broke
    worst: float

    @classmethod
    def of(cls, run: Run) -> "BrokenLoads":
        without, rounds = Outcomes.of(run), run.broken_rounds()
        with_them = Outcomes.of(run, broken=True) if any(rounds.values()) else without
        return cls(without, with_them, rounds, run.primary.worst)

    def ends(self, pairs: Sequence[tuple[Cell, Cell]]) -> Iterator[Outcomes]:
        """Yield the outcomes of (base, arm) with loads of the arms that broke as slower than all others, and with those
        of the bases; nothing for those of which none broke. Where loads of both broke nobody knows which would have
        been the slower one, so such a round speaks once for the one and once for the other: as in a claim about the
        same cells (claims/broken_loads.py)."""
        for each in ([(cell, base) for base, cell in pairs], pairs):
            if any(self.rounds[slow.number] for slow, _ in each):
                yield self._with_slow(each)

    def _with_slow(self, pairs: Sequence[tuple[Cell, Cell]]) -> Outcomes:
        """Return the outcomes of (slow, other): in each round in which the slow one broke, and that the other has, it
        is worse than anything, and the other one better."""
        plain, best = self.without, 0.0 if self.worst else math.inf
        cells = {cell.number for pair in pairs for cell in pair}
        values = {cell: dict(plain.values[cell]) for cell in cells}
        made_on = {cell: dict(plain.made_on[cell]) for cell in cells}
        for slow, other in ((slow.number, other.number) for slow, other in pairs):
            for number in self.rounds[slow] & self.with_them.values[other].keys():
                if not (number in plain.values[slow] and number in plain.values[other]):
                    for cell in (slow, other):
                        made_on[cell][number] = self.with_them.made_on[cell][number]
                values[slow][number], values[other][number] = self.worst, best
        return Outcomes(values, made_on)


def comparisons(run: Run, refused: Refused | None = None) -> list[ComparisonRow]:
    """What the experiment compares, by round, with p values that hold for all of it together."""
    if not run.plan.is_interleaved:
        return []
    broken = BrokenLoads.of(run)
    results, rounds = broken.without, broken.rounds
    refused = refusals(run) if refused is None else refused
    rows = []
    for base, cell in run.plan.compared:
        why = next((f"refused: {each[0].reason}" for one in (cell, base) if (each := refused.get(one.number))), "")
        comparison: Comparison | None = None
        if not why:
            alpha = alpha_of(run, (base, cell), results.values)
            comparison, why = results.compared(run, base, cell, alpha), results.why_no_pairs(run, base, cell)
            if comparison:
                ends = [end.compared(run, base, cell, alpha) for end in broken.ends([(base, cell)])]
                comparison = replace(comparison, bounds=tuple(filter(None, ends)))
        rows.append(
            ComparisonRow(cell, base, run.primary, comparison, why, len(rounds[cell.number]), len(rounds[base.number]))
        )
    return _adjusted(rows, so_far=not run.is_finished)


def why_no_pairs(matched: Strata) -> str:
    """Return why two cells have no pairs, where they have none."""
    return NO_PAIRS_ON_ONE if matched.across else NEITHER if matched.neither else NO_PAIRS


def _adjusted(rows: Sequence[ComparisonRow], *, so_far: bool) -> list[ComparisonRow]:
    """The same with p values that hold for all comparisons of the run together."""
    known = [row.comparison for row in rows if row.comparison]
    adjusted = iter(holm([comparison.p for comparison in known]))
    return [
        replace(row, comparison=replace(row.comparison, adjusted_p=next(adjusted), so_far=so_far))
        if row.comparison
        else row
        for row in rows
    ]


def alpha_of(run: Run, cells: Sequence[Cell], values: Mapping[int, Mapping[int, float]]) -> float:
    """Return what may be claimed after that many rounds."""
    rounds = max((max(values[cell.number], default=0) for cell in cells), default=0)
    return look_after(run.plan.looks, rounds).alpha


def not_compared(run: Run) -> list[str]:
    """Return what is compared with nothing, and why."""
    if not run.plan.is_interleaved:
        return [NOT_INTERLEAVED] if len(run.arms) > 1 else []
    return [f"{sentence[:1].upper()}{sentence[1:]}." for sentence in run.plan.not_compared]


def bases(rows: Sequence[ComparisonRow]) -> list[str]:
    return list(dict.fromkeys(row.base.name for row in rows))
