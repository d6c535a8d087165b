"""The comparisons of a run: those that its experiment asks for, each with what all of them together allow to be said,
and one test per arm over all sites and links. Pure.

Cells that are not compared are there too, with why: nothing vanishes silently.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analysis.model import Arm, Cell, Run
from analysis.numbers import counted
from analysis.refusals import refusals
from analysis.stats import ENOUGH, Change, Comparison, Pooled, compare, holm, pool, strata
from analysis.stats.median import percent
from model.looks import ALPHA, look_after
from model.metrics import Metric

NO_PAIRS = "no round has both"
NO_PAIRS_ON_ONE = "no machine has both in one round"
NOT_INTERLEAVED = (
    "Arms were not interleaved (order: sequential), so none are compared: a machine that became slower or faster "
    "meanwhile would look like a difference between them."
)


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """An arm against a base, on the same site and link."""

    cell: Cell
    base: Arm
    primary: Metric
    comparison: Comparison | None
    why: str = NO_PAIRS  # where there is no comparison

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
            "rounds_across_machines": comparison.across_machines if comparison else 0,
            "rounds_both_timed_out": comparison.both_timed_out if comparison else 0,
            "machines": comparison.machines if comparison else 0,
            "p": comparison.ratio.p if comparison else None,
            "p_adjusted": comparison.adjusted_p if comparison else None,
            "verdict": comparison.verdict if comparison else "not compared",
            "why_not": None if comparison else self.why,
        }

    @property
    def _difference(self) -> str:
        return "difference_ms" if self.primary.unit == "ms" else "difference"


@dataclass(frozen=True, slots=True)
class PooledRow:
    """An arm against a base, over all sites and links that have both."""

    arm: Arm
    base: Arm
    primary: Metric
    pooled: Pooled
    adjusted_p: float
    alpha: float
    so_far: bool

    @property
    def is_shown(self) -> bool:
        return self.adjusted_p <= self.alpha

    def to_json(self) -> dict[str, Any]:
        return {
            "arm": self.arm.name,
            "base": self.base.name,
            "groups": self.pooled.strata,
            "machines": self.pooled.machines,
            "ratio": change_json(self.pooled.ratio),
            "p": self.pooled.ratio.p,
            "p_adjusted": self.adjusted_p,
            "words": self.words(),
        }

    def words(self) -> str:
        """One sentence."""
        ratio, where = self.pooled.ratio, f"Over all {self.pooled.strata} sites and links together"
        where += f", within {self.pooled.machines} machines" if self.pooled.machines > 1 else ""
        so_far = " so far" if self.so_far else ""
        changed = f"{100 * (ratio.value - 1):+.1f}%"
        if ratio.low is not None and ratio.high is not None and math.isfinite(ratio.high):
            changed += f" (95% interval {100 * (ratio.low - 1):+.1f}% to {100 * (ratio.high - 1):+.1f}%)"
        p = f"p = {self.adjusted_p:.2g}" if self.adjusted_p >= 0.0001 else "p < 0.0001"
        if not self.is_shown:
            return (
                f"{where}, no difference between {self.arm.name} and {self.base.name} is shown{so_far}: {changed}, {p}."
            )
        way = "faster" if (ratio.value < 1) != self.primary.higher_is_better else "slower"
        return f"{where}, {self.arm.name} was {way} than {self.base.name}{so_far}: {changed}, {p}."


def change_json(change: Change) -> dict[str, Any]:
    """JSON has no infinity: an end that time-outs leave open is null."""
    return {
        "n": change.n,
        "value": finite(change.value),
        "low": finite(change.low),
        "high": finite(change.high),
        "confidence": change.confidence,
        "p": change.p,
        "meaning": change.meaning(),
    }


def finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def comparisons(run: Run) -> list[ComparisonRow]:
    """What the experiment compares, by round, with p values that hold for all of it together."""
    if not run.plan.is_interleaved:
        return []
    values, refused, made_on = run.outcomes(), refusals(run), run.made_on()
    rows = []
    for base, cell in run.plan.compared:
        why = next((f"refused: {each[0].reason}" for one in (cell, base) if (each := refused.get(one.number))), "")
        found = None
        if not why:
            better, alpha = run.primary.higher_is_better, alpha_of(run, (base, cell), values)
            looks, machines = len(run.plan.looks), (made_on[base.number], made_on[cell.number])
            found = compare(
                values[base.number],
                values[cell.number],
                higher_is_better=better,
                alpha=alpha,
                looks=looks,
                machines=machines,
            )
            if found is None and strata(values[base.number], values[cell.number], machines).across:
                why = NO_PAIRS_ON_ONE
        rows.append(ComparisonRow(cell, base.arm, run.primary, found, why or NO_PAIRS))
    return _adjusted(rows, so_far=not run.is_finished)


def _adjusted(rows: Sequence[ComparisonRow], *, so_far: bool) -> list[ComparisonRow]:
    """The same with p values that hold for all comparisons of the run together."""
    made = [row.comparison for row in rows if row.comparison]
    adjusted = iter(holm([comparison.ratio.p for comparison in made]))
    return [
        replace(row, comparison=replace(row.comparison, adjusted_p=next(adjusted), so_far=so_far))
        if row.comparison
        else row
        for row in rows
    ]


def alpha_of(run: Run, cells: Sequence[Cell], values: Mapping[int, Mapping[int, float]]) -> float:
    """What may be claimed after that many rounds."""
    rounds = max((max(values[cell.number], default=0) for cell in cells), default=0)
    return look_after(run.plan.looks, rounds).alpha


def pooled(run: Run) -> list[PooledRow]:
    """One test per pair of arms that is compared on several sites and links."""
    if not run.plan.is_interleaved:
        return []
    values, refused, made_on = run.outcomes(), refusals(run), run.made_on()
    by_arms: dict[tuple[int, int], list[tuple[Cell, Cell]]] = {}
    for base, cell in run.plan.compared:
        if base.number not in refused and cell.number not in refused:
            by_arms.setdefault((cell.arm.number, base.arm.number), []).append((base, cell))
    found = []
    for pairs in by_arms.values():
        alpha = alpha_of(run, [cell for pair in pairs for cell in pair], values)
        made = pool(
            [(values[base.number], values[cell.number]) for base, cell in pairs],
            alpha,
            [(made_on[base.number], made_on[cell.number]) for base, cell in pairs],
        )
        if made and made.strata > 1 and made.ratio.n >= ENOUGH:
            found.append((pairs[0], replace(made, ratio=made.ratio.of_looks(len(run.plan.looks), alpha)), alpha))
    adjusted = holm([made.ratio.p for _, made, _ in found])
    return [
        PooledRow(cell.arm, base.arm, run.primary, made, p, alpha, so_far=not run.is_finished)
        for ((base, cell), made, alpha), p in zip(found, adjusted, strict=True)
    ]


def not_compared(run: Run) -> list[str]:
    """What is compared with nothing, and why."""
    if not run.plan.is_interleaved:
        return [NOT_INTERLEAVED] if len(run.arms) > 1 else []
    return [f"{sentence[:1].upper()}{sentence[1:]}." for sentence in run.plan.not_compared]


def together(rows: Sequence[ComparisonRow]) -> str:
    """What a reader of intervals must know of all of them; nothing where there is one comparison."""
    made = [row.comparison for row in rows if row.comparison]
    if len(made) < 2:
        return ""
    few = [one for one in made if one.n >= ENOUGH and len(made) * 2.0 ** (1 - one.n) > one.alpha]
    words = (
        f"Intervals are of each comparison by itself. Verdicts and p count all {len(made)} of them (Holm): at most "
        f"{percent(ALPHA)} of such runs have even one wrong verdict."
    )
    if few:
        words += f" With {max(one.n for one in few)} rounds none of {len(made)} comparisons can be told from chance."
    return words


def across_machines(rows: Sequence[ComparisonRow]) -> str:
    """What is said of pairs where several machines made them; nothing of one machine."""
    made = [row.comparison for row in rows if row.comparison]
    machines, shared = max((one.machines for one in made), default=1), sum(one.across_machines for one in made)
    if machines < 2 and not shared:
        return ""
    words = f"Pairs are within one machine; their changes are pooled over {machines} machines." if machines > 1 else ""
    if shared:
        left_out = f"Left out: {counted(shared, 'round')} whose two trials were made on different machines."
        words = f"{words} {left_out}".strip()
    return words


def bases(rows: Sequence[ComparisonRow]) -> list[str]:
    return list(dict.fromkeys(row.base.name for row in rows))
