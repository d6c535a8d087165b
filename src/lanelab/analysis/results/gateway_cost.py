"""What the gateway costs: arms that differ in `via` alone, compared round by round. Pure.

The gateway stands between browser and link, so what it costs is in every page load that goes through it. Two arms that
both go through it can be compared. One that does and one that does not can be compared only when the cost is known.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lanelab.analysis.results.comparisons import NO_PAIRS, alpha_of, why_no_pairs
from lanelab.analysis.results.gateway_terms import Terms, between, terms
from lanelab.analysis.results.model import Arm, Cell, Names, Run
from lanelab.analysis.results.numbers import change_words, difference
from lanelab.analysis.results.refusals import refusals
from lanelab.analysis.statistics import Change, Comparison, compare, strata
from lanelab.analysis.statistics.paired import LEAST_SO_FAR
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.coded import JsonObject
from lanelab.driver.record.metrics import PAGE_LOAD

HOW_TO = (
    "To measure it, add an arm that is like one of them but for via: browser, or run experiments/gateway-cost.yaml on "
    "this machine."
)


class CostJson(Names):
    """An arm through the gateway against the same without it, on one site and link."""

    native: str
    rounds: int
    left_out: int | None
    shown: bool
    difference_ms: Change | None
    ratio: Change | None
    terms: Terms | None


@dataclass(frozen=True, slots=True)
class CostRow:
    """An arm through the gateway against the same without it, on one site and link."""

    cell: Cell
    native: Arm
    gateway_ms: float | None  # medians of the rounds that have both
    native_ms: float | None
    comparison: Comparison | None
    terms: Terms | None = None  # None: no round has them in both
    why: str = NO_PAIRS  # where there is no comparison

    def to_json(self) -> CostJson:
        comparison = self.comparison
        return {
            **self.cell.names,
            "native": self.native.name,
            "rounds": comparison.n if comparison else 0,
            "left_out": comparison.left_out if comparison else None,
            "shown": is_shown(comparison) if comparison else False,
            "difference_ms": comparison.difference if comparison else None,
            "ratio": comparison.ratio if comparison else None,
            "terms": self.terms,
        }


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost that a run shows."""

    through: tuple[str, ...]  # names of arms that go through the gateway
    beside: bool  # whether others do not
    rows: tuple[CostRow, ...]

    def sentences(self) -> list[str]:
        """Return the cost with its interval for each pair; where there is none, that it was not measured."""
        if not self.through:
            return []
        if self.rows:
            return [_sentence(row) for row in self.rows]
        where = "Some arms go" if self.beside else "All arms go"
        alike = "so they cannot be compared with the others as they are" if self.beside else "so it is in each of them"
        return [f"{where} through the gateway, {alike}. What it costs was not measured in this run. {HOW_TO}"]


def cost(run: Run) -> Cost:
    """Of each arm that goes through the gateway and has its like without. Only page loads do. Cells that are refused
    are compared with nothing."""
    if run.workload != PAGE_LOAD:
        return Cost((), False, ())
    arms = [arm for arm in run.arms if _via(arm) == "gateway"]
    natives = [arm for arm in run.arms if _via(arm) != "gateway"]
    like = {arm.number: next((one for one in natives if _alike(arm, one)), None) for arm in arms}
    values, made_on, cells = run.outcomes(), run.made_on(), {(cell.group, cell.arm.number): cell for cell in run.cells}
    measures = {
        cell: {each.round: each.measures for each in trials if each.ok} for cell, trials in run.by_cell().items()
    }
    refused, looks = refusals(run), len(run.plan.looks)
    rows = []
    for cell in run.cells:
        native = like.get(cell.arm.number)
        other = cells.get((cell.group, native.number)) if native else None
        if native and other and run.plan.is_interleaved and not {cell.number, other.number} & refused.keys():
            of_cell, base = values[cell.number], values[other.number]
            on = made_on[other.number], made_on[cell.number]
            both = [number for number in of_cell.keys() & base.keys() if base[number] > 0]
            through, without = (_median([one[number] for number in both]) for one in (of_cell, base))
            alike = {n for n in both if on[0][n] == on[1][n]}  # machines differ in speed
            alpha = alpha_of(run, (cell, other), values)
            gateway = {n: each for n, each in measures[cell.number].items() if n in alike}
            made_of = terms(measures[other.number], gateway, alpha, looks)
            compared = compare(base, of_cell, alpha=alpha, looks=looks, machines=on)
            if compared:
                compared = replace(compared, so_far=not run.is_finished)
            why = why_no_pairs(strata(base, of_cell, on))
            rows.append(CostRow(cell, native, through, without, compared, made_of, why))
    return Cost(tuple(arm.name for arm in arms), bool(natives), tuple(rows))


def _via(arm: Arm) -> str:
    """Return the way to the server. Runs that are older than the gateway have no such setting."""
    return str(arm.settings.get("via", "browser"))


def _alike(one: Arm, other: Arm) -> bool:
    return _but_for_the_way(one.settings) == _but_for_the_way(other.settings)


def _but_for_the_way(settings: JsonObject) -> JsonObject:
    return {key: value for key, value in settings.items() if key not in ("name", "via")}


def _median(values: Sequence[float]) -> float | None:
    middle = statistics.median(values) if values else math.inf
    return middle if math.isfinite(middle) else None


def is_shown(comparison: Comparison) -> bool:
    """Return whether the interval of the difference is on one side of 0. That of two rounds is so every other time."""
    low, high = comparison.difference.low, comparison.difference.high
    return comparison.n >= LEAST_SO_FAR and low is not None and high is not None and not low <= 0 <= high


def _sentence(row: CostRow) -> str:
    where = f"{row.cell.arm.name} ({row.cell.site}, {row.cell.link.label})"
    comparison = row.comparison
    if comparison is None:
        return f"{where} against {row.native.name}: {row.why}, so the gateway's cost is not known."
    change = f"{difference(comparison.difference.value)} ms{between(comparison.difference, difference)}"
    share = f"{change_words(comparison.ratio.value)}{between(comparison.ratio, change_words)}"
    left_out = f", {left}" if (left := left_out_words(comparison)) else ""
    claim = f"{where}: {_claim(comparison)} {change}, {share} against {row.native.name}; n = {comparison.n}{left_out}."
    return f"{claim} {row.terms.sentence()}" if row.terms else claim


def _claim(comparison: Comparison) -> str:
    """Return a claim that the interval supports."""
    if comparison.n < LEAST_SO_FAR:
        few = "one round" if comparison.n == 1 else f"{comparison.n} rounds"
        return f"what the gateway costs is not known from {few}:"
    if not is_shown(comparison):
        return "no cost of the gateway is shown:"
    so_far = "" if comparison.is_final else "so far "  # of five rounds or fewer, all go one way by chance too often
    costs = "the gateway costs" if comparison.difference.value > 0 else "loads took less through the gateway:"
    return f"{so_far}{costs}"


def left_out_words(comparison: Comparison) -> str:
    """Say which rounds are no pairs, and why; "" where all are."""
    across, alone = comparison.across_machines, comparison.left_out - comparison.across_machines
    reasons = [f"{counted(alone, 'round')} with only one of the two"] if alone else []
    reasons += [f"{counted(across, 'round')} that two machines shared"] if across else []
    return f"{' and '.join(reasons)} left out" if reasons else ""
