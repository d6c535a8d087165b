"""What is said of a claim, and with what right. Data only: judge.py makes it, reports show it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from lanelab.analysis.results.layout.data import LEFT_OUT, key
from lanelab.driver.experiment.claim import Claim, Place


class Verdict(StrEnum):
    REPRODUCED = "reproduced"
    DIRECTION_ONLY = "direction only"
    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"
    NOT_TESTED = "not tested"


def _several(unit: str) -> str:
    return f"{unit}s"


def _words_of(place: Place) -> str:
    return place.words


class Interval(NamedTuple):
    """An interval of an effect, in the effect's own scale: a ratio, or a value as it is stored. Ends may be
    infinite."""

    low: float
    high: float


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
    # what `beds` counts: with several machines they are machines
    unit: str = field(default="bed", metadata=key("beds_are", _several))
    # whether a value between beds is the middle of their numbers, and not the mean; the detail of the verdict says why
    by_ranks: bool = field(default=False, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class JudgedPlace:
    place: Place = field(metadata=key("place", _words_of))
    verdict: Verdict
    detail: str  # "magnitude refuted", "reversed", why it was not tested, …; "" where there is nothing to add
    effect: Effect | None  # None where it was not tested
    trials: tuple[int, ...]  # those behind it
    rounds_needed: int | None  # of an inconclusive one: so many in all would probably settle it
    # rounds that were made in each of its cells and give no number: a trial failed, or neither came to its end
    left_out: int = field(default=0, metadata=key("rounds_left_out"))
    # rounds in which a load of one of its cells broke, and was tried again: the verdict holds without it and with it
    broken: int = field(default=0, metadata=key("rounds_broken"))


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with its verdict."""

    claim: Claim
    verdict: Verdict
    detail: str
    p: float | None  # of the verdict that was given; None where none was
    places: tuple[JudgedPlace, ...]
    why: str  # from the decomposition: where the time went that makes the effect; "" where nothing is known
    changed: bool = field(metadata=key("changed_after_the_run"))  # whether the claim was edited after the run began
