"""Whether trials got slower or faster while the run went on. Pure.

Each value is taken as a deviation from its own cell's median, in percent, so that all cells fit on one time line.
The slope is Theil and Sen's (the median slope of all pairs). Whether it is more than chance is asked by a permutation
test: deviations are shuffled within their cells, and rank correlation with time is counted.
"""

import itertools
import operator
import random
import statistics
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from lanelab.analysis.statistics.ranks import ranks

LEAST_TRIALS = 3  # of a cell: below it, deviations from the cell's own median say nothing
LEAST_POINTS = 8
SIGNIFICANT = 0.01
LEAST_CHANGE = 0.5  # percent over the whole run: less is real only on paper
PERMUTATIONS = 1999
MOST_STEPS = 2_000_000  # of all permutations together
MOST_PAIRS = 200_000


@dataclass(frozen=True, slots=True)
class Point:
    """One trial: when, and by how many percent it deviates from its cell's median."""

    at_s: float
    percent: float
    group: Hashable


@dataclass(frozen=True, slots=True)
class Drift:
    """The drift that a run shows. `change_percent` is from the beginning to the end of what it is over."""

    n: int
    change_percent: float
    p: float | None  # None where there are too few trials to ask
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
                f"Too few trials to look for drift (n = {self.n}; cells with fewer than {LEAST_TRIALS} do not count)."
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


class Series(NamedTuple):
    """Trials of a run that differ by chance and time alone: of a cell, on one machine, in one run, on one bed."""

    cell: int
    machine: int
    origin: str  # the run that they were taken from; "": this one
    bed: int  # 0: whichever

    @property
    def clock(self) -> tuple[str, int]:
        """Return whose beginning its times are from."""
        return self.origin, self.bed


def points(values: Iterable[tuple[Hashable, float, float]]) -> list[Point]:
    """Return for (group, time in seconds, value) the deviations from the group's median, in the order of time."""
    groups: dict[Hashable, list[tuple[float, float]]] = {}
    for group, at_s, value in values:
        groups.setdefault(group, []).append((at_s, value))
    deviations = []
    for group, members in groups.items():
        middle = statistics.median(value for _, value in members)
        if len(members) >= LEAST_TRIALS and middle > 0:
            deviations += [Point(at_s, 100 * (value / middle - 1), group) for at_s, value in members]
    return sorted(deviations, key=lambda point: point.at_s)


def drift(
    values: Iterable[tuple[Hashable, float, float]],
    seed: int = 1,
    *,
    what: str = "page loads",
    over: str = "the run",
    higher_is_better: bool = False,
) -> Drift:
    """Return the drift of a run, from (group, time in seconds, value) of every trial that counts."""
    return replace(_drift(values, seed), what=what, over=over, higher_is_better=higher_is_better)


def _drift(values: Iterable[tuple[Hashable, float, float]], seed: int) -> Drift:
    deviating = points(values)
    span = deviating[-1].at_s - deviating[0].at_s if deviating else 0.0
    if len(deviating) < LEAST_POINTS or span <= 0:
        return Drift(len(deviating), 0.0, None)
    slope = theil_sen([(point.at_s, point.percent) for point in deviating], seed)
    times = _centred(ranks([point.at_s for point in deviating]))
    deviations = _centred(ranks([point.percent for point in deviating]))
    observed = _dot(times, deviations)
    if _dot(times, times) * _dot(deviations, deviations) == 0:
        return Drift(len(deviating), 0.0, 1.0)
    p = _permutation_p(deviating, times, deviations, abs(observed), seed)
    return Drift(len(deviating), slope * span, p)


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


def _permutation_p(
    deviating: Sequence[Point], times: Sequence[float], deviations: Sequence[float], observed: float, seed: int
) -> float:
    """Return how often the correlation is at least as strong when deviations are shuffled within each group."""
    groups: dict[Hashable, list[int]] = {}
    for i, point in enumerate(deviating):
        groups.setdefault(point.group, []).append(i)
    rng = random.Random(seed)  # noqa: S311 - chance for statistics, not for secrets
    times_by_group = [times[i] for members in groups.values() for i in members]
    members_of = [[deviations[i] for i in members] for members in groups.values()]
    rounds = max(199, min(PERMUTATIONS, MOST_STEPS // len(deviating)))
    with_steps = [(members, shuffle_steps(len(members))) for members in members_of]
    as_strong = 0
    for _ in range(rounds):
        for members, steps in with_steps:
            shuffle(members, steps, rng.getrandbits)
        shuffled = itertools.chain.from_iterable(members_of)
        as_strong += abs(_dot(times_by_group, shuffled)) >= observed - 1e-9
    return (as_strong + 1) / (rounds + 1)


def shuffle_steps(length: int) -> list[tuple[int, int]]:
    """Return the steps in which a list of this length is shuffled: a position, and how many random bits choose what
    comes there."""
    return [(last, (last + 1).bit_length()) for last in range(length - 1, 0, -1)]


def shuffle(members: list[float], steps: Sequence[tuple[int, int]], bits: Callable[[int], int]) -> None:
    """Do what `random.shuffle` does, with the same chance and the same result, without its two calls for each step:
    most of the time of a run's results is spent here."""
    for last, many in steps:
        chosen = bits(many)
        while chosen > last:
            chosen = bits(many)
        members[last], members[chosen] = members[chosen], members[last]
