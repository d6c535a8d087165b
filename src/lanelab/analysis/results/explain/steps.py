"""Why one step of a journey is faster in one arm than in another, by what the records know of it. Pure.

The difference is Hodges and Lehmann's estimate over the rounds that both arms have, as for load times. Everything else
is the median of the trials that count.
"""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lanelab.analysis.results.comparisons import alpha_of
from lanelab.analysis.results.explain.step_course import WORDS, Course, StepCourse, step_course
from lanelab.analysis.results.layout.model import Table, text_table
from lanelab.analysis.results.model import Cell, Names, Run, Trial
from lanelab.analysis.results.numbers import difference, kilobytes, listed, seconds, shown
from lanelab.analysis.statistics import ENOUGH, Change, compare
from lanelab.analysis.statistics.paired import LEAST_SO_FAR
from lanelab.driver.base.amounts import counted
from lanelab.driver.link import Link
from lanelab.driver.record.metrics import STEP_METRICS, of_step
from lanelab.driver.record.record import TrialRecord

RecordOf = Callable[[int], TrialRecord]  # of a trial, by its number
PLT, BOUND = "plt_ms", "bound_ms"
OPENED, REUSED, FROM_CACHE = "connections_opened", "connections_reused", "from_cache"
LEAST_MS = 1.0


class StepDifferenceJson(Names):
    """The second arm against the first in one step, on one site and link. Facts are medians, the base's first."""

    base: str
    step: str
    rounds: int
    shown: bool
    difference_ms: Change
    courses_ms: Mapping[Course, tuple[float, float]]
    bytes: tuple[float, float]
    facts: Mapping[str, tuple[float | None, float | None]]
    trials: tuple[int, int]
    sentences: list[str]


@dataclass(frozen=True, slots=True)
class StepSide:
    """One arm in this step: medians of its trials that count and tell what the step's time went to."""

    cell: Cell
    trials: int  # so many: those whose record says what their time went to
    facts: Mapping[str, float]  # by the name of the metric; those that any of its trials has
    courses: Mapping[Course, float]
    bytes: float

    @property
    def arm(self) -> str:
        return self.cell.arm.name

    @property
    def waited_ms(self) -> float:
        """Return how long no byte came, though something was on its way."""
        return self.courses[Course.WAITING] + self.courses[Course.OPENING]


@dataclass(frozen=True, slots=True)
class StepDifference:
    """The second arm against the first in one step, on one site and link."""

    step: str
    base: StepSide
    other: StepSide
    rounds: int
    total: Change  # of the step's load time, in ms: the second minus the first
    so_far: bool  # the run is not finished

    @property
    def is_shown(self) -> bool:
        """Return whether the interval of the difference leaves 0 out."""
        low, high = self.total.low, self.total.high
        return low is not None and high is not None and (low > 0 or high < 0)

    @property
    def rtt_ms(self) -> float:
        """Return the round trip; 0 where there is none, or where hosts are not equally far."""
        link = Link.parse(self.base.cell.link.settings)
        return 0.0 if link.distances else float(link.rtt.milliseconds)

    @property
    def sides(self) -> tuple[StepSide, StepSide]:
        return self.base, self.other

    def sentences(self) -> list[str]:
        return [self._verdict(), *self._estimates(), self._grown(), *self._causes(), *self._bounds()]

    def table(self) -> Table:
        """Lay out all that is known, a column for each arm."""
        heads = ("", self.base.arm, self.other.arm)
        return text_table(heads, list(self._rows()), heads[1:])

    def to_json(self) -> StepDifferenceJson:
        base, other = self.sides
        names = [metric.name for metric in STEP_METRICS if metric.name in {*base.facts, *other.facts}]
        return {
            **other.cell.names, "base": base.arm, "step": self.step, "rounds": self.rounds, "shown": self.is_shown,
            "difference_ms": self.total,
            "courses_ms": {each: (base.courses[each], other.courses[each]) for each in Course},
            "bytes": (base.bytes, other.bytes),
            "facts": {name: (base.facts.get(name), other.facts.get(name)) for name in names},
            "trials": (base.trials, other.trials),
            "sentences": self.sentences(),
        }  # fmt: skip

    def _verdict(self) -> str:
        cell, base, arm = self.other.cell, self.base.arm, self.other.arm
        where = f"{cell.site}, {cell.link.label}, step {self.step}"
        if self.rounds < LEAST_SO_FAR:
            return f"{where}: too few rounds to compare {arm} with {base} ({self.rounds})."
        if not self.is_shown:
            return f"{where}: no difference shown between {arm} and {base}."
        way = "faster" if self.total.value < 0 else "slower"
        if self.rounds < ENOUGH:
            return f"{where}: {arm} was {way} than {base} in all {self.rounds} rounds, which are too few to be sure."
        return f"{where}: {arm} was {way} than {base}{' so far' if self.so_far else ''}."

    def _estimates(self) -> Iterator[str]:
        arm, base, total = self.other.arm, self.base.arm, self.total
        amount = difference(abs(total.value)).lstrip("+")
        took = f"{amount} ms {'less' if total.value < 0 else 'more'} than {base}"
        took = took if total.value else f"as long as {base}"
        medians = f"Medians: {arm} {seconds(self.other.facts[PLT])}, {base} {seconds(self.base.facts[PLT])}."
        if total.low is None or total.high is None:
            yield f"In the only round {arm} took {took}. {medians}"
            return
        interval = f"{total.name} {difference(total.low)} to {difference(total.high)} ms"
        yield f"Within a round {arm} took {took} ({interval}, {counted(self.rounds, 'round')}). {medians}"
        yield "The interval is of this step alone: who looks at many steps finds some that differ by chance."
        if total.value * (self.other.facts[PLT] - self.base.facts[PLT]) < 0:
            yield "The medians go the other way: they are of all loads, the difference is of loads in the same round."

    def _grown(self) -> str:
        """Return what the difference went to."""
        changes = [(each, self.other.courses[each] - self.base.courses[each]) for each in Course]
        large = sorted((each for each in changes if abs(each[1]) >= LEAST_MS), key=lambda each: -abs(each[1]))
        if not large:
            return "By what went on, the two differ by less than 1 ms each."
        return f"By what went on: {listed(f'{WORDS[course]} {difference(ms)} ms' for course, ms in large)}."

    def _causes(self) -> Iterator[str]:
        """Yield what the arms do differently, where that can be counted."""
        yield from self._connections()
        (arm, base), rate = (self.other.arm, self.base.arm), Link.parse(self.base.cell.link.settings).down.rate
        cached = self._both(FROM_CACHE)
        if cached and cached[0] != cached[1]:
            yield f"The browser's cache answers {cached[1]:g} requests of {arm}, and {cached[0]:g} of {base}."
        more = self.other.bytes - self.base.bytes
        takes_ms = more * 8000 / rate.bps if rate else 0.0
        if abs(takes_ms) >= LEAST_MS:
            which, costs = ("more", "takes") if more > 0 else ("less", "saves")
            yield f"{arm} receives {kilobytes(abs(more))} kB {which}, which {costs} {seconds(abs(takes_ms))} at {rate}."

    def _connections(self) -> Iterator[str]:
        opened, reused = self._both(OPENED), self._both(REUSED)
        if not opened or not reused or opened[0] == opened[1]:
            return
        words = [
            f"{side.arm} opens {counted(round(new), 'connection')} and goes on with {old:g}"
            for side, new, old in zip(reversed(self.sides), reversed(opened), reversed(reused), strict=True)
        ]
        trip = f"a round trip of {self.rtt_ms:g} ms" if self.rtt_ms else "a round trip"
        yield f"{'; '.join(words)}: a new one takes {trip} before its first request, and what TLS takes besides."

    def _bounds(self) -> Iterator[str]:
        """Yield how far each is from what its link allows."""
        bounds = self._both(BOUND)
        if not bounds or min(bounds) <= 0:
            return
        pairs = zip(self.sides, bounds, strict=True)
        far = [f"{side.arm} takes {side.facts[PLT] / bound:.1f} times" for side, bound in pairs]
        least = [seconds(bound) for bound in bounds]
        allowed = least[0] if least[0] == least[1] else " and ".join(least)
        yield f"The link allows {allowed} at best: {' and '.join(far)} as long."

    def _both(self, name: str) -> tuple[float, float] | None:
        base, other = self.base.facts.get(name), self.other.facts.get(name)
        return None if base is None or other is None else (base, other)

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        base, other = (str(side.trials) for side in self.sides)
        yield "trials of which these are medians", base, other
        for course in Course:
            base, other = (f"{side.courses[course]:,.1f}" for side in self.sides)
            yield f"{WORDS[course]} (ms)", base, other
        if self.rtt_ms:
            base, other = (f"{side.waited_ms / self.rtt_ms:.1f}" for side in self.sides)
            yield "round trips waited for", base, other
        base, other = (kilobytes(side.bytes) for side in self.sides)
        yield "bytes received (kB)", base, other
        for metric in STEP_METRICS:
            if any(metric.name in side.facts for side in self.sides):
                base, other = (shown(metric, side.facts.get(metric.name)) for side in self.sides)
                yield metric.title, base, other


def explain_step(run: Run, base: Cell, other: Cell, step: str, record_of: RecordOf) -> StepDifference | None:
    """Explain the difference of a step; None where no round has both."""
    trials, measure = run.by_cell(), of_step(PLT, step)
    of_base, of_other = (_counting(trials[cell.number], measure) for cell in (base, other))
    first, second = ({trial.round: trial for trial in each} for each in (of_base, of_other))
    rounds = sorted(first.keys() & second.keys())
    comparison = compare(
        {each: first[each].measures[measure] for each in rounds},
        {each: second[each].measures[measure] for each in rounds},
        alpha=alpha_of(run, (base, other), run.outcomes()),
        machines=(
            {number: trial.machine for number, trial in first.items()},
            {number: trial.machine for number, trial in second.items()},
        ),
    )
    sides = [_side(cell, each, step, record_of) for cell, each in ((base, of_base), (other, of_other))]
    if comparison is None or sides[0] is None or sides[1] is None:
        return None
    return StepDifference(step, sides[0], sides[1], comparison.n, comparison.difference, not run.is_finished)


def _counting(trials: Sequence[Trial], measure: str) -> list[Trial]:
    return [trial for trial in trials if trial.ok and measure in trial.measures]


def _side(cell: Cell, trials: Sequence[Trial], step: str, record_of: RecordOf) -> StepSide | None:
    course_of = {trial.number: step_course(record_of(trial.number), step) for trial in trials}
    courses = [course for course in course_of.values() if course]
    if not courses:
        return None
    telling = [trial for trial in trials if course_of[trial.number]]  # of other trials nothing is shown
    facts: dict[str, float] = {}
    for metric in STEP_METRICS:
        name = of_step(metric.name, step)
        values = [trial.measures[name] for trial in telling if name in trial.measures]
        if values:
            facts[metric.name] = statistics.median(values)
    return StepSide(cell, len(courses), facts, _middle(courses), statistics.median(each.bytes for each in courses))


def _middle(courses: Sequence[StepCourse]) -> dict[Course, float]:
    return {course: statistics.median(each.ms[course] for each in courses) for course in Course}
