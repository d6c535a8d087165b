"""One test for each pair of arms over all sites and links that have both. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from lanelab.analysis.results.comparisons import BrokenLoads, Outcomes, alpha_of
from lanelab.analysis.results.model import Arm, Cell, Run
from lanelab.analysis.results.numbers import change_words, probability
from lanelab.analysis.results.refusals import Refused, refusals
from lanelab.analysis.statistics import ENOUGH, Change, Pooled, pool
from lanelab.analysis.statistics.looks import ALPHA
from lanelab.analysis.statistics.median import percent
from lanelab.analysis.statistics.paired import p_of_all
from lanelab.driver.record.metrics import Metric


class PooledJson(TypedDict):
    """A pair of arms over all sites and links together."""

    arm: str
    base: str
    groups: int
    machines: int
    ratio: Change
    p: float
    p_adjusted: float
    words: str


@dataclass(frozen=True, slots=True)
class PooledRow:
    """An arm against a base, over all sites and links that have both."""

    arm: Arm
    base: Arm
    primary: Metric
    pooled: Pooled
    pairs: int  # of arms, for which the interval and p are as sure as one test would be
    alpha: float
    so_far: bool
    bounds: tuple[Pooled, ...] = ()  # with loads that broke as worse than all others: those of the arm, of the base

    @property
    def p(self) -> float:
        """Return the p of all pairs together, by Bonferroni's method: so it belongs to the interval beside it. Where
        loads broke it is at least that."""
        return min(1.0, self.pairs * p_of_all(self.pooled.ratio, [each.ratio for each in self.bounds]))

    @property
    def is_shown(self) -> bool:
        return self.p <= self.alpha

    @property
    def can_be_shown(self) -> bool:
        """Return whether so many rounds can show a difference at all: if all went one way."""
        return self.pairs * 2.0 ** (1 - self.pooled.ratio.n) <= self.alpha

    def to_json(self) -> PooledJson:
        return {
            "arm": self.arm.name,
            "base": self.base.name,
            "groups": self.pooled.strata,
            "machines": self.pooled.machines,
            "ratio": self.pooled.ratio,
            "p": self.pooled.ratio.p,
            "p_adjusted": self.p,
            "words": self.words(),
        }

    def words(self) -> str:
        """Return one sentence."""
        ratio, where = self.pooled.ratio, f"Over all {self.pooled.strata} sites and links together"
        where += f", within {self.pooled.machines} machines" if self.pooled.machines > 1 else ""
        so_far = " so far" if self.so_far else ""
        numbers = change_words(ratio.value)
        if ratio.low is not None and ratio.high is not None:
            ends = f"{change_words(ratio.low)} to {change_words(ratio.high)}"
            numbers += f", {percent(ratio.confidence)} interval {ends}"
        if not self.so_far:
            numbers += f", p {'< 0.0001' if self.p < 0.0001 else f'= {probability(self.p)}'}"
        if self.pairs > 1:
            numbers += f"; this counts all {self.pairs} pairs of arms"
        if self.bounds:
            numbers += "; it has to hold without loads that broke, and with them as slower than all others"
        if not self.is_shown:
            return f"{where}, no difference between {self.arm.name} and {self.base.name} is shown{so_far} ({numbers})."
        way = "faster" if (ratio.value < 1) != self.primary.higher_is_better else "slower"
        return f"{where}, {self.arm.name} was {way} than {self.base.name}{so_far} ({numbers})."


def pooled(run: Run, refused: Refused | None = None) -> list[PooledRow]:
    """Return one test per pair of arms that is compared on several sites and links. Left out: those that can show
    nothing, because there are too few rounds, and those whose places go opposite ways."""
    if not run.plan.is_interleaved:
        return []
    refused = refusals(run) if refused is None else refused
    by_arms: dict[tuple[int, int], list[tuple[Cell, Cell]]] = {}
    for base, cell in run.plan.compared:
        if base.number not in refused and cell.number not in refused:
            by_arms.setdefault((cell.arm.number, base.arm.number), []).append((base, cell))
    broken = BrokenLoads.of(run)
    several = [pairs for pairs in by_arms.values() if _is_poolable(_pooled_of(run, broken.without, pairs, 1))]
    rows = [row for pairs in several if (row := _with_bounds(run, broken, pairs, len(several)))]
    return [row for row in rows if row.can_be_shown and not row.pooled.is_opposite]


def _is_poolable(row: PooledRow | None) -> bool:
    return row is not None and row.pooled.strata > 1 and row.pooled.ratio.n >= ENOUGH


def _with_bounds(run: Run, broken: BrokenLoads, pairs: Sequence[tuple[Cell, Cell]], many: int) -> PooledRow | None:
    """Pool them without loads that broke, and with them where any did; None where no round has both."""
    row = _pooled_of(run, broken.without, pairs, many)
    ends = (_pooled_of(run, end, pairs, many) for end in broken.ends(pairs))
    return row and replace(row, bounds=tuple(end.pooled for end in ends if end))


def _pooled_of(run: Run, results: Outcomes, pairs: Sequence[tuple[Cell, Cell]], many: int) -> PooledRow | None:
    """Pool one of so many pairs of arms, which share what a test may miss with."""
    values, made_on = results.values, results.made_on
    alpha = alpha_of(run, [cell for pair in pairs for cell in pair], values)
    change = pool(
        [(values[base.number], values[cell.number]) for base, cell in pairs],
        alpha / many,
        [(made_on[base.number], made_on[cell.number]) for base, cell in pairs],
        run.primary.worst,
    )
    if change is None:
        return None
    base, cell = pairs[0]
    ratio = change.ratio.of_looks(len(run.plan.looks), alpha / many, 1 - ALPHA / many)
    change = replace(change, ratio=ratio)
    return PooledRow(cell.arm, base.arm, run.primary, change, many, alpha, so_far=not run.is_finished)
