"""What the beds of a run say together: medians and paired changes with an interval between beds. Pure.

Trials on one bed share what is the bed's own, so more of them do not make it known what another bed would say. Here a
bed counts as one observation: it gives one number, the median of its trials or Hodges and Lehmann's estimate of its
paired changes, and the interval is Student's t over the logarithms of these numbers.

That asks for beds which are independent of one another and whose numbers are near to normal around the same value. They
need not be known equally well: with beds of different spread or different numbers of trials the interval holds at least
what it says (Ibragimov and Mueller 2010, after Bakirov and Szekely 2005). docs/reference/between-beds.md shows by
simulation how often it does.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from lanelab.analysis.results.layout.data import LEFT_OUT, key, spread
from lanelab.analysis.results.model import Arm, Cell, Run, Trial, name_of, names_of
from lanelab.analysis.results.refusals import refusals
from lanelab.analysis.statistics import one_bed
from lanelab.analysis.statistics.distributions import t_quantile
from lanelab.analysis.statistics.looks import ALPHA, look_after
from lanelab.analysis.statistics.median import LEVEL, logarithm
from lanelab.analysis.statistics.one_bed import ENOUGH_BEDS
from lanelab.analysis.statistics.paired import ratio_of
from lanelab.analysis.statistics.ranks import p_alike, ranks, squares
from lanelab.analysis.statistics.signed_rank import signed_rank
from lanelab.analysis.statistics.strata import neither_ended
from lanelab.driver.base.amounts import counted, form_for

ALIKE = 0.05  # p below which beds differ


@dataclass(frozen=True, slots=True)
class OfBed:
    """The result of one bed."""

    bed: int
    n: int  # trials, or rounds with both arms
    value: float
    counts: bool = True  # one that was cut short does not: few trials would weigh as much as many


@dataclass(frozen=True, slots=True)
class Between:
    """One number of a run, by beds."""

    beds: tuple[OfBed, ...]
    value: float | None  # the geometric mean of the beds; None where that of a bed is infinite, or not above 0
    low: float | None  # None below three beds
    high: float | None
    # standard deviation of what one bed gave, as a share; None where no bed has two
    within: float | None = field(metadata=key("sd_within_beds"))
    # the beds' own, without what trials add to it; None where it cannot be told
    between: float | None = field(metadata=key("sd_between_beds"))

    ALSO: ClassVar = ("confidence",)

    @property
    def confidence(self) -> float | None:
        return LEVEL if self.low is not None else None

    @property
    def excludes_1(self) -> bool:
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high


NAMES = spread(names_of)


@dataclass(frozen=True, slots=True)
class CellRow:
    cell: Cell = field(metadata=NAMES)
    numbers: Between = field(metadata=spread())


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """An arm against a base, on the same site and link."""

    cell: Cell = field(metadata=NAMES)
    base: Arm = field(metadata=key("base", name_of))
    numbers: Between = field(metadata=spread())
    left_out: int = field(metadata=key("rounds_left_out"))  # rounds whose two trials were made on different beds


@dataclass(frozen=True, slots=True)
class BedsOfRun:
    """All of it. `p`: how likely beds that differ this much are where they do not."""

    beds: int
    cells: tuple[CellRow, ...]
    changes: tuple[ChangeRow, ...]
    within: float | None = field(metadata=key("sd_within_beds"))  # pooled over cells
    between: float | None = field(metadata=key("sd_between_beds"))
    p: float | None = field(metadata=key("p_alike"))
    machines: int = field(default=1, metadata=LEFT_OUT)  # beds of one machine are not independent of one another

    ALSO: ClassVar = ("words",)

    def words(self) -> list[str]:
        """Return what the beds say; nothing where those of machines say it."""
        return [] if self.machines > 1 else sentences(self)

    @property
    def has_intervals(self) -> bool:
        return any(row.numbers.low is not None for row in self.cells)


# --- of a run


def beds_of_run(run: Run, pairs: Iterable[tuple[Cell, Arm]]) -> BedsOfRun:
    """Work out the beds of a run. `pairs` are the cells that are compared, each with its base."""
    by_number = _by_round(run)
    by_cell = {cell.number: by_bed(by_number[cell.number].values()) for cell in run.cells}
    numbers = {(cell.group, cell.arm.name): cell.number for cell in run.cells}
    changes, alpha = [], alpha_of_run(run)
    for cell, base in pairs:
        both = _pairs(by_number[numbers[cell.group, base.name]], by_number[cell.number], run.primary.worst)
        same = [(bed, ratio) for bed, other, ratio in both if bed == other]
        if same:
            changes.append(ChangeRow(cell, base, between(by_bed(same), hodges_lehmann, alpha), len(both) - len(same)))
    logs = [logarithms(values) for values in by_cell.values()]
    spreads = [spread for spread in map(_spread, logs) if spread]
    return BedsOfRun(
        beds=len({bed for values in by_cell.values() for bed in values}),
        cells=tuple(
            CellRow(cell, between(by_cell[cell.number], statistics.median, alpha))
            for cell in run.cells
            if by_cell[cell.number]
        ),
        changes=tuple(changes),
        within=math.sqrt(statistics.fmean(within for within, _ in spreads)) if spreads else None,
        between=math.sqrt(max(0.0, statistics.fmean(share for _, share in spreads))) if spreads else None,
        p=beds_alike(by_number.values()),
        machines=len({trial.machine for trial in run.trials}),
    )


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one round in a cell."""

    trial: int  # its number
    bed: int
    value: float
    machine: int = 1


def results(run: Run, metric: str = "", *, broken: bool = False) -> dict[int, dict[int, Result]]:
    """Number of a cell -> round -> its first result; of the primary metric, where time-outs are results too, unless
    another is named. `broken`: there loads that broke are, too. A cell that is refused has none."""
    is_primary = metric in ("", run.primary.name)
    firsts = run.first_results(broken=broken) if is_primary else _first_with(run, metric)
    refused = refusals(run)

    def result(trial: Trial) -> Result:
        value = run.outcome(trial) if is_primary else trial.measures[metric]
        return Result(trial.number, trial.bed, value, trial.machine)

    return {
        cell: {} if cell in refused else {number: result(trial) for number, trial in rounds.items()}
        for cell, rounds in firsts.items()
    }


def _first_with(run: Run, metric: str) -> dict[int, dict[int, Trial]]:
    """Return number of a cell -> round -> its first trial that counts and has this metric."""
    firsts: dict[int, dict[int, Trial]] = {cell.number: {} for cell in run.cells}
    for trial in run.trials:
        if trial.ok and metric in trial.measures:
            firsts[trial.cell.number].setdefault(trial.round, trial)
    return firsts


def _by_round(run: Run) -> dict[int, dict[int, tuple[int, float]]]:
    """Return number of a cell -> round -> bed and value."""
    return {
        cell: {number: (one.bed, one.value) for number, one in by_round.items()}
        for cell, by_round in results(run).items()
    }


def by_bed(values: Iterable[tuple[int, float]]) -> dict[int, list[float]]:
    numbers: dict[int, list[float]] = {}
    for bed, value in values:
        numbers.setdefault(bed, []).append(value)
    return dict(sorted(numbers.items()))


def _pairs(
    base: Mapping[int, tuple[int, float]], arm: Mapping[int, tuple[int, float]], worst: float
) -> list[tuple[int, int, float]]:
    """Return (bed of the base, bed of the arm, ratio) of each round that has both."""
    both = [(base[n], arm[n]) for n in sorted(base.keys() & arm.keys())]
    return [
        (bed, other, ratio_of(one, value))
        for (bed, one), (other, value) in both
        if not neither_ended(one, value, worst)  # where neither came to its end, a round says nothing
    ]


# --- of one number


def alpha_of_run(run: Run) -> float:
    """Return what intervals may miss with after the rounds that the run has: with several looks they share the 5%."""
    return look_after(run.plan.looks, max((trial.round for trial in run.trials), default=0)).alpha


def between(
    values: Mapping[int, Sequence[float]], middle: Callable[[Sequence[float]], float], alpha: float = ALPHA
) -> Between:
    """Work out a number by beds. `values` are those of each bed; `middle` makes one number of a bed's. `alpha`: how
    often the interval may miss."""
    typical = statistics.median(map(len, values.values()))
    beds = tuple(OfBed(bed, len(some), middle(some), 2 * len(some) >= typical) for bed, some in values.items())
    counting = [one.value for one in beds if one.counts]
    logs = [math.log(value) for value in counting if 0 < value < math.inf]
    if len(logs) < len(counting):
        return Between(beds, None, None, None, None, None)
    centre = statistics.fmean(logs)
    low = high = None
    if len(logs) >= ENOUGH_BEDS:
        reach = t_quantile(1 - alpha / 2, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
        low, high = math.exp(centre - reach), math.exp(centre + reach)
    spread = _spread(logarithms(values))
    within, of_beds = (math.sqrt(spread[0]), math.sqrt(max(0.0, spread[1]))) if spread else (None, None)
    return Between(beds, math.exp(centre), low, high, within, of_beds)


def hodges_lehmann(ratios: Sequence[float]) -> float:
    """Return the change that pairs of one bed show."""
    return math.exp(signed_rank([[*map(logarithm, ratios)]]).value)


def logarithms(values: Mapping[int, Sequence[float]]) -> list[list[float]]:
    """Return the logarithms of each bed; none where a value has no logarithm."""
    if not all(0 < value < math.inf for some in values.values() for value in some):
        return []
    return [[math.log(value) for value in some] for some in values.values()]


def _spread(groups: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """Return the variance within beds and that of the beds themselves, which by chance may come out below 0. By the
    mean squares of an analysis of variance with groups of unequal size (Searle, Casella and McCulloch 1992, 3.6)."""
    n, k = sum(map(len, groups)), len(groups)
    if k < 2 or n <= k:
        return None
    among, inside = squares(groups)
    within = inside / (n - k)
    size = (n - sum(len(group) ** 2 for group in groups) / n) / (k - 1)
    return within, (among / (k - 1) - within) / size


def beds_alike(cells: Iterable[Mapping[int, tuple[int, float]]]) -> float | None:
    """Return how likely differences between beds as large as these are where beds do not differ. None where it cannot
    be told. `cells`: round -> its bed and value, of each cell.

    What slows the machine for a while slows all cells of a round, so it is rounds that are independent, not trials:
    each gives the mean of its trials' ranks within their cells, and these are what an F test takes (Conover and Iman
    1981).
    """
    places: dict[tuple[int, int], list[float]] = {}
    for by_round in cells:
        ranked = ranks([value for _, value in by_round.values()])
        for (number, (bed, _)), rank in zip(by_round.items(), ranked, strict=True):
            places.setdefault((bed, number), []).append(rank / (len(ranked) + 1))
    means = by_bed((bed, statistics.fmean(several)) for (bed, _), several in places.items())
    return p_alike(list(means.values()))


# --- in words


def _one_bed(beds: BedsOfRun) -> str:
    rounds = max(one.n for row in beds.cells for one in row.numbers.beds)
    of_them = f": {one_bed.words(rounds)}" if rounds > 1 else ""
    which = f"an interval of {counted(rounds, 'round')} is of this run alone" if rounds > 1 else "there is no interval"
    return f"All trials were made on one bed, so {which}{of_them}."


def sentences(beds: BedsOfRun) -> list[str]:
    """Return what the beds say, in order of importance."""
    if beds.beds < 2:
        return [_one_bed(beds)] if beds.beds else []
    spread = ""
    if beds.between is not None and beds.within is not None:
        spread = (
            f" The beds' own standard deviation is {percent(beds.between)}, that of trials on one bed "
            f"{percent(beds.within)} (over all cells)."
        )
    few = [*_changes(beds), *_left_out(beds)]
    if not beds.has_intervals:
        return [f"{beds.beds} beds: too few for an interval between beds, which takes {ENOUGH_BEDS}.{spread}", *few]
    return [_verdict(beds) + spread, *few]


def _changes(beds: BedsOfRun) -> list[str]:
    known = [row.numbers for row in beds.changes if row.numbers.low is not None]
    if not known:
        return []
    clear = sum(each.excludes_1 for each in known)
    chance = f", each by itself: where nothing changes, {1 - LEVEL:.0%} of comparisons show one by chance"
    of = f"{clear} of {counted(len(known), 'comparison')}{chance if len(known) > 1 else ''}"
    return [f"Between beds a change is shown in {of}."]


def _left_out(beds: BedsOfRun) -> list[str]:
    """Say which beds were cut short, by Ctrl-C or because they were lost."""
    each = [*(row.numbers for row in beds.cells), *(row.numbers for row in beds.changes)]
    cut = sorted({one.bed for made_of in each for one in made_of.beds if not one.counts})
    if not cut:
        return []
    which = f"{form_for(len(cut), 'bed')} {', '.join(map(str, cut))}"
    return [f"In brackets, and not in the middle of beds: {which}, with less than half as many trials as usual."]


def _verdict(beds: BedsOfRun) -> str:
    if beds.p is None:
        return f"{beds.beds} beds, with too few trials on each to tell whether they differ."
    p = "p < 0.001" if beds.p < 0.001 else f"p = {beds.p:.2g}"
    if beds.p < ALIKE:
        return (
            f"The {beds.beds} beds differ by more than trials on one bed do ({p}): what another run would say is told "
            "by the intervals between beds, and not by those of this run."
        )
    return (
        f"No difference between the {beds.beds} beds is shown ({p}): where beds may be taken as alike, the intervals "
        "of this run are the ones to go by; those between beds hold without that, and are wider for it."
    )


def percent(share: float) -> str:
    return f"{100 * share:.2g}%" if share < 0.0995 else f"{100 * share:.0f}%"
