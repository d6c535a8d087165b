"""Judges a claim in one of its places, by what was observed there. Pure."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lanelab.analysis.results.between_beds import between, hodges_lehmann
from lanelab.analysis.results.claims.estimates import Beyond, Estimate, OverBeds, OverRounds
from lanelab.analysis.results.claims.missing_rounds import TIMES, numbers_needed
from lanelab.analysis.results.claims.rules import SAME, Levels, effect_of, exact_effect, is_exact, outsiders, verdict_on
from lanelab.analysis.results.claims.samples import (
    TIMED_OUT,
    Observed,
    are_on_several_machines,
    unit_of,
    units_of,
    within_machines,
)
from lanelab.analysis.results.claims.verdict import Effect, JudgedPlace, Verdict
from lanelab.analysis.results.claims.words import effect_words
from lanelab.analysis.statistics.median import logarithm
from lanelab.analysis.statistics.one_bed import ENOUGH_BEDS
from lanelab.analysis.statistics.signed_rank import law_of
from lanelab.driver.base.amounts import counted
from lanelab.driver.experiment.claim import Claim, Place

ACROSS = "no machine has all its trials in one round"
ENDLESS = "half of the rounds or more have no number: a trial timed out, or its value is 0"


@dataclass(frozen=True, slots=True)
class _Units:
    """The rounds of a place by where they were made: on beds of one machine, or on several machines."""

    observed: Sequence[Observed]
    on_machines: bool
    within: int  # those that made the rounds; where several beds made every round, they are as one
    numbers: Mapping[int, float]  # the logarithm of each one's number, of those that count

    @property
    def name(self) -> str:
        return "machine" if self.on_machines else "bed"

    @property
    def are_enough(self) -> bool:
        """Return whether there may be an interval across them."""
        return len(self.numbers) >= ENOUGH_BEDS

    @property
    def differ(self) -> bool:
        """Return whether there is an interval across them: equal numbers tell nothing of others. Those that are all
        endless, to the same side, are equal."""
        return self.are_enough and max(self.numbers.values()) - min(self.numbers.values()) > SAME

    @property
    def no_mean(self) -> str:
        """Return why Student's t says nothing of their numbers, and ranks do; "": it does."""
        return self.endless or (TIMED_OUT if any(one.is_limited for one in self.observed) else "")

    @property
    def endless(self) -> str:
        """Say how many have no number; "": all have one."""
        endless = sum(map(math.isinf, self.numbers.values()))
        return f"on {endless} of {len(self.numbers)} {self.name}s {ENDLESS}" if endless else ""

    def counted(self) -> list[Observed]:
        """Return the rounds of those that count."""
        return [one for one in self.observed if unit_of(one, machines=self.on_machines) in self.numbers]


def judge_place(
    claim: Claim, place: Place, observed: Sequence[Observed], levels: Levels, *, whole: bool
) -> JudgedPlace:
    """`whole`: the metric is a count."""
    observed = within_machines(observed)
    if not observed:
        return not_tested(place, ACROSS)
    units, trials = _units_in(claim, observed), _trials_of(observed)
    too_few = _too_few(len(observed), levels, units.name)
    if too_few and not units.are_enough:
        return not_tested(place, f"{too_few}{_seen(claim, observed)}", trials)
    logs = [one.log for one in observed]
    if is_exact(claim, logs, whole=whole):
        effect = exact_effect(claim, logs, beds=units.within, unit=units.name)
        verdict, detail = verdict_on(claim, effect, levels)
        return JudgedPlace(place, verdict, _counts(claim, logs, detail), effect, trials, None)
    if nothing := _nothing_follows(units, too_few, levels):
        return not_tested(place, nothing, trials)
    return _judge_estimate(claim, place, units, levels)


def _units_in(claim: Claim, observed: Sequence[Observed]) -> _Units:
    by_unit = units_of(observed)
    values = {unit: [math.exp(log) for log in logs] for unit, logs in by_unit.items()}
    each = between(values, middle_of(claim)).beds if values else ()  # none: every round was made on several beds
    numbers = {one.bed: logarithm(one.value) for one in each if one.counts}
    return _Units(observed, are_on_several_machines(observed), max(1, len(by_unit)), numbers)


def _judge_estimate(claim: Claim, place: Place, units: _Units, levels: Levels) -> JudgedPlace:
    """Judge what is not known for certain: across beds or machines where these differ, else within them."""
    across, observed = units.differ, units.observed
    taken = units.counted() if across else observed
    logs = [one.log for one in taken]
    known = _over_units(units) if across else OverRounds(logs, machines_of(observed))
    known = _with_bounds(claim, known, observed, across=across)
    beds = len(units.numbers) if across else units.within
    effect = effect_of(claim, known, levels, rounds=len(logs), beds=beds, between_beds=across, unit=units.name)
    effect = replace(effect, by_ranks=across and bool(units.no_mean))
    verdict, detail = verdict_on(claim, effect, levels)
    rounds = None
    if verdict == Verdict.INCONCLUSIVE:
        rounds, detail = _more(claim, known, levels, effect)
    of_machines = f"an absolute number over {beds} machines" if units.on_machines and claim.is_absolute else ""
    parts = (detail, bounds_words(observed), _by_ranks(units) if across else "", of_machines)
    detail = "; ".join(filter(None, parts))
    return JudgedPlace(place, verdict, detail, effect, _trials_of(taken), rounds)


def _trials_of(observed: Sequence[Observed]) -> tuple[int, ...]:
    return tuple(trial for one in observed for trial in one.trials)


def not_tested(place: Place, why_not: str, trials: Sequence[int] = ()) -> JudgedPlace:
    return JudgedPlace(place, Verdict.NOT_TESTED, why_not, None, tuple(trials), None)


def machines_of(observed: Sequence[Observed]) -> tuple[int, ...]:
    """Return the machine of each round, which is its stratum."""
    return tuple(one.machine for one in observed if one.machine is not None)


def _nothing_follows(units: _Units, too_few: str, levels: Levels) -> str:
    """Return why there is no verdict, neither over units nor over rounds; "": there may be one."""
    if not units.differ:
        alike = f"{len(units.numbers)} {units.name}s with exactly the same number, which tells nothing of others"
        return f"{alike}; {too_few}" if too_few else ""
    least = _least(levels)
    few = units.no_mean and len(units.numbers) < least
    return f"{units.no_mean}; whatever they come to, a verdict by ranks takes {least} {units.name}s" if few else ""


def _over_units(units: _Units) -> Estimate:
    """Return what beds or machines say together. Where one is endless, or may lie anywhere beyond its number, Student's
    t shows nothing whatever that is: the farther it lies off, the nearer t comes to 1. For ranks it is enough that it
    lies beyond all others."""
    numbers = list(units.numbers.values())
    return OverRounds(numbers) if units.no_mean else OverBeds(numbers)


def _by_ranks(units: _Units) -> str:
    return f"by ranks of {units.name}s, since {units.no_mean}" if units.no_mean else ""


def _with_bounds(claim: Claim, known: Estimate, observed: Sequence[Observed], *, across: bool) -> Estimate:
    """Return what is known where rounds say no more than "at least" or "at most". `across`: over beds or machines."""
    sides = {one.beyond for one in observed} - {0}
    if not sides:
        return known
    ends = [_as_far_as(observed, side) for side in (-1, 1)]
    if not across:
        return Beyond(known, *(OverRounds([one.log for one in each], machines_of(each)) for each in ends))
    if any(one.is_limited for one in observed):
        return Beyond(known, *(_over_units(_units_in(claim, each)) for each in ends))
    # One open round opens that side of its bed's number, whatever the others say.
    return Beyond(known, None if sides & {-1, None} else known, None if sides & {1, None} else known)


def _as_far_as(observed: Sequence[Observed], side: int) -> list[Observed]:
    """Return the rounds, those of which the truth may lie on that side as far there as anything."""
    return [replace(one, log=side * math.inf) if one.beyond in (side, None) else one for one in observed]


def bounds_words(observed: Sequence[Observed]) -> str:
    """Say "at least" or "at most" of so many rounds, and why; "" where no round says less than its number."""
    words = []
    for side, name in ((1, "at least"), (-1, "at most"), (None, "more or less")):
        because = [one.because for one in observed if one.beyond == side]
        if because:
            words.append(f"{name}: in {len(because)} of {counted(len(observed), 'round')} {because[0]}")
    return ", ".join(words)


def _seen(claim: Claim, observed: Sequence[Observed]) -> str:
    """Return what the few rounds that there are gave."""
    numbers = [math.exp(one.log) for one in observed]
    ends = dict.fromkeys(effect_words(claim, value) for value in (min(numbers), max(numbers)))
    bounds = bounds_words(observed)
    return f"; measured {' to '.join(ends)}{f' ({bounds})' if bounds else ''}"


def middle_of(claim: Claim) -> Callable[[Sequence[float]], float]:
    """Return what makes one number of a bed's: as the table of beds does."""
    return statistics.median if claim.is_absolute else hodges_lehmann


def _least(levels: Levels) -> int:
    """Return how many numbers it takes for an interval by ranks as sure as it has to be."""
    return next(n for n in range(1, 100) if 2 * law_of((n,)).at_most(0) <= levels.wide)


def _too_few(rounds: int, levels: Levels, unit: str) -> str:
    """Whether there are enough rounds of one bed or two for such an interval."""
    least = _least(levels)
    return (
        "" if rounds >= least else f"too few rounds: {rounds}, and on fewer than {ENOUGH_BEDS} {unit}s it takes {least}"
    )


def _counts(claim: Claim, logs: Sequence[float], detail: str) -> str:
    outside = outsiders(claim, logs)
    words = f"outside in {outside} of {counted(len(logs), 'round')}" if outside else ""
    return ", ".join(filter(None, (detail, words)))


def _more(claim: Claim, known: Estimate, levels: Levels, effect: Effect) -> tuple[int | None, str]:
    """Return the rounds in all that would probably settle it, and that in words."""
    if isinstance(known, Beyond):
        return None, ""  # why it is not known better is said of the rounds that leave it open
    needed, ends = numbers_needed(claim, known, levels), effect.interval_95
    if needed is None and ends and (ends.low == 0 or ends.high == math.inf):
        return None, "trials that timed out, or whose value is 0, leave its interval without an end"
    many = rounds = needed or TIMES * known.count
    words = counted(rounds, "round")
    if effect.between_beds:
        rounds = many * math.ceil(effect.n / effect.beds)
        words = f"{counted(rounds, 'round')} on {many} {effect.unit}s"
    if needed is None:
        return None, f"more than {words} would be needed, if the effect is where it seems to be"
    fewer = f", or fewer {effect.unit}s with several rounds on each" if effect.n == effect.beds else ""
    return rounds, f"about {words} would probably settle it{fewer if effect.between_beds else ''}"
