"""What a run measured in one place of a claim: one number of each round, on a logarithmic scale. Pure.

Every kind of claim but those of a straight line is a weighted sum of logarithms of its points' values, or of their
ratios, taken within a round: what hits all trials of a round alike cancels out.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lanelab.analysis.results.between_beds import Result, by_bed, results
from lanelab.analysis.results.claims.straight_lines import line_weights, number_of_line, slope_weights
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.refusals import Refusal, refusals
from lanelab.analysis.statistics.median import logarithm
from lanelab.driver.experiment.claim import LINES, Claim, Place, Point
from lanelab.driver.record.load_places import metric_of_claim
from lanelab.driver.record.metrics import TIMES_OPTIMAL, Metric

MS_PER_S = 1000
NOTHING = 1e-9  # a share of the largest weight: what counts for less counts for nothing
TIMED_OUT = "a trial timed out"
Results = Mapping[str, Mapping[int, Result]]  # id of a cell -> round -> what it gave


@dataclass(frozen=True, slots=True)
class Observed:
    """One round."""

    round: int
    bed: int | None  # None: its trials were made on several
    log: float
    trials: tuple[int, ...]
    machine: int | None = 1  # None: its trials were made on several
    beyond: int | None = 0  # the truth is 1: at least this, -1: at most this, None: either
    is_limited: bool = False  # it is beyond since trials timed out, which count with the time that they had
    because: str = ""  # why, where it is


@dataclass(frozen=True, slots=True)
class NotTested:
    """Says why there is nothing to judge."""

    why: str


@dataclass(frozen=True, slots=True)
class Measured:
    """The values that a run has of one metric."""

    run: Run
    results: Results
    refused: Mapping[str, Refusal]  # by a cell's id
    censored: Results  # of the trials among these whose true value lies beyond theirs
    known: Metric | None  # the metric; None: the tables do not have it
    worst: float | None  # what stands for a trial that timed out; None where such trials have no value
    limit: float | None  # what such a trial took at least; None where that is not known
    rounds: Mapping[str, frozenset[int]]  # id of a cell -> rounds in which it has trials, also such that failed
    broken: Mapping[str, frozenset[int]]  # id of a cell -> rounds in which a load broke, and was tried again
    with_broken: Results  # the same, as if no load that broke had been tried again
    too_late: frozenset[str]  # ids of cells with a trial that timed out, where the metric is made of the load time

    @classmethod
    def of(cls, run: Run, metric: str) -> "Measured":
        by_number, refused = results(run, metric), refusals(run)
        known = metric_of_claim(metric)
        flags = results(run, known.censored) if known and known.censored else {}
        trials, broken = run.by_cell(), run.broken_rounds()
        with_broken = results(run, metric, broken=True) if any(broken.values()) else by_number
        return cls(
            run,
            {cell.id: by_number[cell.number] for cell in run.cells},
            {cell.id: refused[cell.number][0] for cell in run.cells if cell.number in refused},
            {cell.id: {n: one for n, one in flags.get(cell.number, {}).items() if one.value} for cell in run.cells},
            known,
            run.primary.worst if metric == run.primary.name else None,
            run.plan.timeout_s * MS_PER_S if metric == run.primary.name and run.primary.unit == "ms" else None,
            {cell.id: frozenset(trial.round for trial in trials[cell.number]) for cell in run.cells},
            {cell.id: broken[cell.number] for cell in run.cells},
            {cell.id: with_broken[cell.number] for cell in run.cells},
            frozenset(trial.cell.id for trial in run.trials if trial.timed_out and metric == TIMES_OPTIMAL),
        )

    def lacks(self, cells: Sequence[str]) -> str:
        """Why one of these cells has nothing to judge by; "": all of them have."""
        named = {cell.id: str(cell) for cell in self.run.cells}
        if self.run.scale != 1:
            return f"the run has {self.run.scale:g} of the load that the claim is about (--scale)"
        for cell in cells:
            if cell not in named:
                return f"the run has no cell {cell}"
            if why := self.refused.get(cell):
                return f"the cell {named[cell]} is refused: {why.reason} ({why.detail})"
            if cell in self.too_late:  # the others are those that were quick
                return f"a trial of {named[cell]} timed out, so how many times its optimum it took is not known"
            if not self.results[cell]:
                return f"no trial of {named[cell]} counts and has the metric"
        return ""

    def rounds_with_trials(self, cells: Sequence[str]) -> int:
        """Return how many rounds have trials in each of these cells, whatever came of them."""
        return len(frozenset.intersection(*(self.rounds[cell] for cell in cells)))

    def rounds_that_broke(self, cells: Iterable[str]) -> frozenset[int]:
        """Return the rounds in which a load of one of these cells broke."""
        return frozenset[int]().union(*(self.broken[cell] for cell in cells))

    def beyond(self, point: Point, number: int) -> int | None:
        """On which side of its value, or of its ratio, the truth of a round lies. None: on either."""
        arm = number in self.censored[point.cell]
        base = point.base is not None and number in self.censored[point.base]
        if arm and base:
            return None
        return base - arm if self.is_most else arm - base

    @property
    def is_most(self) -> bool:
        """Return whether such values are the most that the true ones can be. Then rounds in which both sides have one
        count all the same: without them the slow ones would be alone."""
        return self.known is not None and self.known.is_most

    @property
    def because(self) -> str:
        """Return why the true value of a trial lies beyond its own; "": that of none does."""
        return self.known.censored_because if self.known and self.known.censored else ""

    def is_late(self, cell: str, number: int) -> bool:
        return self.results[cell][number].value == self.worst

    def value(self, cell: str, number: int, *, limited: bool) -> float:
        """Return the value in a round; `limited`: of a trial that timed out what it took at least, where that is
        known."""
        late = limited and self.limit is not None and self.is_late(cell, number)
        return self.limit if late and self.limit is not None else self.results[cell][number].value

    def log(self, point: Point, number: int, *, limited: bool = False) -> float | None:
        """Return the logarithm in a round: of the value, or of the ratio to the base. None where that is unknown."""
        value = self.value(point.cell, number, limited=limited)
        if point.base is None:
            return logarithm(value)
        base = self.value(point.base, number, limited=limited)
        if value == base:  # also where both are 0, which has no ratio, and is no change all the same
            return None if value == self.worst else 0.0  # where neither came to its end, a round says nothing
        return logarithm(value) - logarithm(base)


def observe(measured: Measured, claim: Claim, place: Place) -> tuple[Observed, ...] | NotTested:
    """Return the rounds that have all of the place's trials."""
    cells = cells_of(place)
    if lacking := measured.lacks(cells):
        return NotTested(lacking)
    if len(cells) > 1 and not measured.run.plan.is_interleaved:
        return NotTested("arms were not interleaved (order: sequential)")
    observed: list[Observed] = []
    for number in sorted(set.intersection(*(set(measured.results[cell]) for cell in cells))):
        one = _of_round(measured, claim, place, number)
        if isinstance(one, NotTested):
            return one
        if one:
            observed.append(one)
    telling = [one for one in observed if one.beyond is not None or one.is_limited]
    if observed and not telling:
        return NotTested(f"in each round, on both sides, {measured.because}")
    return tuple(observed if measured.is_most else telling) or NotTested("no round has all of its trials")


def _of_round(measured: Measured, claim: Claim, place: Place, number: int) -> Observed | NotTested | None:
    """Return what a round gave; None where it gave no number, NotTested where the whole claim has none then."""
    results = [measured.results[cell][number] for cell in cells_of(place)]
    if any(one.value < 0 for one in results):  # a request may leave before the last byte of what it is timed from
        return NotTested("the value of a trial is below 0, which has no ratio to another one")
    weights = weights_of(claim, place)
    several = len(weights) > 1
    limited = several and claim.kind not in LINES
    logs = [log for point in place.points if (log := measured.log(point, number, limited=limited)) is not None]
    lacks = len(logs) < len(weights)  # in one of its points, neither came to its end
    if lacks and not several:
        return None  # of several, the rounds that are left would be those in which the slowest was quick
    late = _late_side(measured, claim, place, number) if limited else 0
    sides = [measured.beyond(point, number) for point in place.points]
    is_known = not lacks and not (several and any(map(math.isinf, logs)))
    if not is_known or (several and any(side != 0 for side in sides)):
        why = measured.because if is_known else f"{TIMED_OUT}, or its value is 0"
        return NotTested(f"{why}, so the {claim.kind} is not known")
    if claim.kind in LINES:
        shares = claim.shares_of(place)
        effect = sum(_of_lines(measured, claim, points, number) for points in shares) / len(shares)
        if not math.isfinite(effect) and (not claim.is_absolute or len(shares) > 1):
            number_of = "ratio of the two slopes" if not claim.is_absolute else f"mean of the {claim.kind}s"
            return NotTested(f"it does not grow in every round, so the {number_of} is not known")
    else:
        effect = math.fsum(weight * log for weight, log in zip(weights, logs, strict=True))
    observed = observed_of(number, results, effect)
    if late != 0:
        return replace(observed, beyond=late, because=TIMED_OUT, is_limited=True)
    return replace(observed, beyond=sides[0], because="" if sides[0] == 0 else measured.because)


def _late_side(measured: Measured, claim: Claim, place: Place, number: int) -> int | None:
    """Return on which side the truth of a round lies, of whose trials some timed out: they took longer than they count
    for. 0: none timed out that matters. None: on either."""
    ways = ways_of(measured, claim, place)
    sides = {way for cell, way in ways.items() if measured.is_late(cell, number)} - {0}
    return sides.pop() if len(sides) == 1 else None if sides else 0


def ways_of(measured: Measured, claim: Claim, place: Place) -> Mapping[str, int | None]:
    """Return which way the number of a place goes where a load of a cell is slower: 1 up, -1 down, 0 neither. None: how
    well a line fits may go either way."""
    if claim.kind == "straightness":
        return dict.fromkeys(cells_of(place))
    weights = dict.fromkeys(cells_of(place), 0.0)
    slower = 1 if measured.worst == math.inf else -1  # of what is better the more there is of it, a slow load has less
    for weight, point in zip(weights_of(claim, place), place.points, strict=True):
        weights[point.cell] += slower * weight
        if point.base is not None:
            weights[point.base] -= slower * weight
    least = NOTHING * max(map(abs, weights.values()))
    return {cell: 0 if abs(weight) <= least else round(math.copysign(1, weight)) for cell, weight in weights.items()}


def observed_of(number: int, results: Sequence[Result], log: float) -> Observed:
    """Return a round with these results, whose number is this as a logarithm."""
    beds, machines = (one.bed for one in results), (one.machine for one in results)
    return Observed(number, _one(beds), log, tuple(one.trial for one in results), _one(machines))


def _of_lines(measured: Measured, claim: Claim, points: Sequence[Point], number: int) -> float:
    """Return the logarithm of what a straight line says in a round: of one arm's, or of the ratio of two arms'."""
    xs = [point.x for point in points if point.x is not None]

    def of(cells: Sequence[str | None]) -> float:
        values = [measured.results[cell][number].value for cell in cells if cell is not None]
        return logarithm(number_of_line(claim.kind, xs, values))

    arm = of([point.cell for point in points])
    return arm if claim.is_absolute else arm - of([point.base for point in points])


def cells_of(place: Place) -> list[str]:
    """Each once: a contrast of h2 against SPDY with SPDY against HTTP has those of SPDY in both."""
    cells = (cell for point in place.points for cell in (point.cell, point.base))
    return list(dict.fromkeys(cell for cell in cells if cell is not None))


def _one(places: Iterable[int]) -> int | None:
    """Return the bed, or machine, that made all of a round."""
    distinct = set(places)
    return distinct.pop() if len(distinct) == 1 else None


def weights_of(claim: Claim, place: Place) -> list[float]:
    """Of each of the place's points in the effect. In a mean each of its places has the same share.

    A trend is the slope of the line with the least squares, times the span that it is over; the slope and the intercept
    of a load time are sums of times themselves. A spike is the difference
    to the straight line between the neighbours, a contrast that between its two points."""
    shares = claim.shares_of(place)
    return [weight / len(shares) for points in shares for weight in _weights(claim, points)]


def _weights(claim: Claim, points: Sequence[Point]) -> list[float]:
    if claim.kind in ("change", "value"):
        return [1.0]
    if claim.kind == "contrast":
        return [1.0, -1.0]
    xs = [point.x for point in points if point.x is not None]
    if claim.kind == "spike":
        below, at, above = xs
        return [-(above - at) / (above - below), 1.0, -(at - below) / (above - below)]
    if claim.kind in LINES:
        return line_weights(claim.kind, xs)
    return [weight * (xs[-1] - xs[0]) for weight in slope_weights(xs)]


def within_machines(observed: Sequence[Observed]) -> list[Observed]:
    """Without rounds that several machines made: these differ in speed, and nothing cancels that out."""
    return [one for one in observed if one.machine is not None]


def by_machine(observed: Sequence[Observed]) -> list[list[float]]:
    """Return the numbers of each machine."""
    return list(by_bed((one.machine, one.log) for one in observed if one.machine is not None).values())


def are_on_several_machines(observed: Sequence[Observed]) -> bool:
    return len({one.machine for one in observed}) > 1


def units_of(observed: Sequence[Observed]) -> dict[int, list[float]]:
    """Return the numbers of each bed, without rounds that were made on several. Where there are several machines, of
    each machine: beds of one machine are not independent of one another."""
    if are_on_several_machines(observed):
        return by_bed((one.machine, one.log) for one in observed if one.machine is not None)
    return by_bed((one.bed, one.log) for one in observed if one.bed is not None)


def unit_of(one: Observed, *, machines: bool) -> int | None:
    return one.machine if machines else one.bed
