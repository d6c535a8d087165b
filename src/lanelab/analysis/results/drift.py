"""Whether trials got slower or faster while the run went on, or while each of its beds was used. Pure.

Each value is taken as a deviation, in percent, from the median of its own cell on its own bed, so that all fit on one
time line. The slope is Theil and Sen's (the median slope of all pairs). Whether it is more than chance is asked by a
permutation test. What slows the machine for a while slows all trials of a round, so it is rounds that are independent,
and not trials: each gives the mean rank of its deviations, these are shuffled within their bed, and their correlation
with the order of the rounds is counted.

What beds differ by looks like drift where they are used one after the other, so each has a clock of its own.
"""

import itertools
import math
import operator
import random
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from lanelab.analysis.statistics.ranks import ranks

LEAST_TRIALS = 2  # of a cell on a bed: one is its own median
ENOUGH_ROUNDS = 6  # on one bed: of fewer no order is as rare as it has to be
SIGNIFICANT = 0.01
LEAST_CHANGE = 0.5  # percent over the whole run, or over a bed: less is real only on paper
PERMUTATIONS = 1999  # by chance, where there are more
MOST_STEPS = 2_000_000  # of all permutations together
MOST_PAIRS = 200_000


class Series(NamedTuple):
    """Trials that differ by chance and time alone: of a cell, on a bed."""

    cell: int
    machine: int
    origin: str  # the run that they were taken from; "": this one
    bed: int

    @property
    def place(self) -> tuple[int, str, int]:
        """Return the bed, from whose beginning its times are."""
        return self.machine, self.origin, self.bed


class Timed(NamedTuple):
    """One trial."""

    series: Series
    round: int
    at_s: float
    value: float


@dataclass(frozen=True, slots=True)
class Point:
    """One trial: when, and by how many percent it deviates from the median of its series."""

    at_s: float
    percent: float
    series: Series
    round: int


@dataclass(frozen=True, slots=True)
class Drift:
    """The drift that a run shows. `change_percent` is from the beginning to the end of what it is over."""

    n: int
    change_percent: float
    p: float | None  # None where there are too few rounds to ask
    what: str = "page loads"
    over: str = "the run"
    higher_is_better: bool = False  # of the values
    is_interleaved: bool = True  # whether cells were measured in turns

    @property
    def is_shown(self) -> bool:
        return self.p is not None and self.p < SIGNIFICANT and abs(self.change_percent) >= LEAST_CHANGE

    def words(self) -> str:
        if not self.is_interleaved:
            return (
                "Cells were measured one after the other (order: sequential), so drift cannot be looked for: it would "
                "look like a difference between cells."
            )
        if self.p is None:
            return (
                f"Too few rounds to look for drift (n = {self.n}): it takes {ENOUGH_ROUNDS} on one bed, or 3 on each "
                "of three."
            )
        change = f"{abs(self.change_percent):.1f}%"
        way = "slower" if (self.change_percent > 0) != self.higher_is_better else "faster"
        if self.is_shown:
            return (
                f"Drift: {self.what} became {change} {way} from the beginning of {self.over} to its end (n = {self.n}, "
                f"p = {self.p:.3g}). Rounds hit all arms alike, so comparisons by round stand; "
                "medians include the change."
            )
        return (
            f"No drift found: the trend over {self.over} is {change} {way}, which chance alone gives easily, or is too "
            f"small to matter (n = {self.n}, p = {self.p:.2g})."
        )


def points(values: Iterable[Timed]) -> list[Point]:
    """Return the deviations from the medians of their series, in the order of time."""
    series: dict[Series, list[Timed]] = {}
    for one in values:
        series.setdefault(one.series, []).append(one)
    deviations = []
    for members in series.values():
        middle = statistics.median(one.value for one in members)
        if len(members) >= LEAST_TRIALS and middle > 0:
            deviations += [Point(one.at_s, 100 * (one.value / middle - 1), one.series, one.round) for one in members]
    return sorted(deviations, key=lambda point: point.at_s)


def drift(values: Iterable[Timed], seed: int = 1, *, what: str = "page loads", higher_is_better: bool = False) -> Drift:
    """Return the drift of a run, from every trial that counts; of several beds, of each as it was used."""
    deviating = points(values)
    over = "the run" if len({point.series.place for point in deviating}) < 2 else "a bed"
    untested = Drift(len(deviating), 0.0, None, what, over, higher_is_better)
    p = _permutation_p(deviating, seed)
    if p is None:
        return untested
    slope = theil_sen([(point.at_s, point.percent) for point in deviating], seed)
    return replace(untested, p=p, change_percent=slope * (deviating[-1].at_s - deviating[0].at_s))


def theil_sen(points: Sequence[tuple[float, float]], seed: int = 1) -> float:
    """Return the median slope of all pairs; of a seeded choice of them where there are very many."""
    n = len(points)
    if n * (n - 1) // 2 <= MOST_PAIRS:
        pairs: Iterable[tuple[int, int]] = ((i, j) for i in range(n) for j in range(i + 1, n))
    else:
        rng = random.Random(seed)  # noqa: S311 - chance for statistics, not for secrets
        # The numbers that `rng.randrange(n)` gives, in a fraction of its time.
        drawn = filter(n.__gt__, map(rng.getrandbits, itertools.repeat(n.bit_length())))
        pairs = itertools.islice(zip(drawn, drawn, strict=False), MOST_PAIRS)  # drawn for ever
    slopes = [
        (points[j][1] - points[i][1]) / (points[j][0] - points[i][0]) for i, j in pairs if points[i][0] != points[j][0]
    ]
    return statistics.median(slopes) if slopes else 0.0


def _centred(values: Sequence[float]) -> list[float]:
    middle = statistics.fmean(values)
    return [value - middle for value in values]


def _dot(a: Sequence[float], b: Iterable[float]) -> float:
    total: float = sum(map(operator.mul, a, b))
    return total


def _permutation_p(deviating: Sequence[Point], seed: int) -> float | None:
    """Return how often the correlation is at least as strong where the rounds of each bed come in any order. None where
    so few have no order that would be rare enough."""
    beds = _rounds(deviating)
    if _orders(beds) <= 2 / SIGNIFICANT:  # the strongest of all, and its reverse
        return None
    times = [place for rounds in beds for place in _centred(range(len(rounds)))]
    observed = abs(_dot(times, itertools.chain.from_iterable(beds)))
    return statistics.fmean(abs(_dot(times, each)) >= observed - 1e-9 for each in _in_any_order(beds, seed))


def _orders(beds: Sequence[Sequence[float]]) -> int:
    return math.prod(math.factorial(len(rounds)) for rounds in beds)


def _in_any_order(beds: Sequence[list[float]], seed: int) -> Iterator[Iterable[float]]:
    """Yield the rounds in each order in which those of each bed may come; of very many that which they have, and a
    seeded choice of others."""
    if _orders(beds) <= PERMUTATIONS:
        yield from map(itertools.chain.from_iterable, itertools.product(*map(itertools.permutations, beds)))
        return
    yield itertools.chain.from_iterable(beds)
    rng = random.Random(seed)  # noqa: S311 - chance for statistics, not for secrets
    for _ in range(max(199, min(PERMUTATIONS, MOST_STEPS // sum(map(len, beds))))):
        for rounds in beds:
            rng.shuffle(rounds)
        yield itertools.chain.from_iterable(beds)


def _rounds(deviating: Sequence[Point]) -> list[list[float]]:
    """Return for each bed the mean rank of the deviations of each round, around that of the bed, in order. A round that
    beds of one machine made together is one, of the first of them: they were used at the same time."""
    rounds: dict[tuple[int, str, int], list[tuple[int, float]]] = {}
    for point, rank in zip(deviating, ranks([point.percent for point in deviating]), strict=True):
        machine, origin, bed = point.series.place
        rounds.setdefault((machine, origin, point.round), []).append((bed, rank))
    beds: dict[tuple[int, str, int], list[float]] = {}
    for (machine, origin, _), of_beds in sorted(rounds.items()):
        middle = statistics.fmean(rank for _, rank in of_beds)
        beds.setdefault((machine, origin, min(bed for bed, _ in of_beds)), []).append(middle)
    return [*map(_centred, beds.values())]
