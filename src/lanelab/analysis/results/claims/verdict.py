"""What is said of a claim, and with what right. Data only: judge.py makes it, reports show it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from lanelab.analysis.results.layout.data import Fields, fields_of
from lanelab.driver.experiment.claim import Claim, Place


class Verdict(StrEnum):
    REPRODUCED = "reproduced"
    DIRECTION_ONLY = "direction only"
    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"
    NOT_TESTED = "not tested"


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of an effect, in the effect's own scale: a ratio, or a value as it is stored. Ends may be
    infinite."""

    low: float
    high: float

    def to_json(self) -> Sequence[float]:
        return (self.low, self.high)


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect that was measured in one place."""

    n: int  # rounds, or trials of a value
    beds: int
    between_beds: bool  # whether the intervals are across beds; else they are of this run alone
    value: float
    interval_90: Interval | None
    interval_95: Interval | None
    p_inside: float  # one-sided, of two tests: how likely data like this is where the effect lies outside the region
    p_direction: float  # one-sided: where it does not go as far as `at_least` on the published side
    p_reversed: float  # the same on the other side
    p_outside: float  # two-sided: where it lies inside the region
    unit: str = "bed"  # what `beds` counts: with several machines they are machines

    def to_json(self) -> Fields:
        return {**fields_of(self, "unit"), "beds_are": f"{self.unit}s"}


@dataclass(frozen=True, slots=True)
class JudgedPlace:
    place: Place
    verdict: Verdict
    detail: str  # "magnitude refuted", "reversed", why it was not tested, …; "" where there is nothing to add
    effect: Effect | None  # None where it was not tested
    trials: tuple[int, ...]  # those behind it
    rounds_needed: int | None  # of an inconclusive one: so many in all would probably settle it

    def to_json(self) -> Fields:
        return {**fields_of(self), "place": self.place.words}


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with its verdict."""

    claim: Claim
    verdict: Verdict
    detail: str
    p: float | None  # of the verdict that was given; None where none was
    places: tuple[JudgedPlace, ...]
    why: str  # from the decomposition: where the time went that makes the effect; "" where nothing is known
    changed: bool  # whether the claim was edited after the run began

    def to_json(self) -> Fields:
        return {**fields_of(self, "changed"), "changed_after_the_run": self.changed}
