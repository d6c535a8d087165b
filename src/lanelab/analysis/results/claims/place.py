"""Judges a claim in one of its places, by what was observed there. Pure."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from lanelab.analysis.results.between_beds import between, hodges_lehmann
from lanelab.analysis.results.claims.estimates import Beyond, Estimate, OverBeds, OverRounds
from lanelab.analysis.results.claims.missing_rounds import is_known, numbers_needed
from lanelab.analysis.results.claims.rules import SAME, Levels, effect_of, exact_effect, is_exact, outsiders, verdict_on
from lanelab.analysis.results.claims.samples import (
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


def judge_place(
    claim: Claim, place: Place, observed: Sequence[Observed], levels: Levels, *, whole: bool
) -> JudgedPlace:
    """`whole`: the metric is a count."""
    observed = within_machines(observed)
    if not observed:
        return not_tested(place, ACROSS)
    machines = are_on_several_machines(observed)
    unit = "machine" if machines else "bed"
    by_bed = units_of(observed)
    values = {bed: [math.exp(log) for log in logs] for bed, logs in by_bed.items()}
    each_bed = between(values, middle_of(claim)).beds if values else ()  # none: every round was made on several beds
    counting = {one.bed: logarithm(one.value) for one in each_bed if one.counts}
    numbers, too_few = list(counting.values()), _too_few(len(observed), levels, unit)
    logs, trials = [one.log for one in observed], tuple(trial for one in observed for trial in one.trials)
    within = max(1, len(by_bed))  # where several beds made every round, they are as one
    if too_few and len(numbers) < ENOUGH_BEDS:
        return not_tested(place, f"{too_few}{_seen(claim, observed)}", trials)
    if is_exact(claim, logs, whole=whole):
        effect = exact_effect(claim, logs, beds=within, unit=unit)
        verdict, detail = verdict_on(claim, effect, levels)
        return JudgedPlace(place, verdict, _counts(claim, logs, detail), effect, trials, None)
    if nothing := _nothing_follows(numbers, too_few, levels, unit):
        return not_tested(place, nothing, trials)
    across = _differ(numbers)
    if across:
        counted_in = [one for one in observed if unit_of(one, machines=machines) in counting]
        logs, trials = [one.log for one in counted_in], tuple(trial for one in counted_in for trial in one.trials)
    beds = len(numbers) if across else within
    known: Estimate = _over_beds(numbers) if across else OverRounds(logs, machines_of(observed))
    known = _with_bounds(known, observed, counting if across else None)
    effect = effect_of(claim, known, levels, rounds=len(logs), beds=beds, between_beds=across, unit=unit)
    verdict, detail = verdict_on(claim, effect, levels)
    rounds = None
    if verdict == Verdict.INCONCLUSIVE:
        rounds, detail = _more(claim, known, levels, effect)
    if bounds := bounds_words(observed):
        rounds, detail = None, f"{detail}; {bounds}" if detail and rounds is None else bounds
    detail = "; ".join(filter(None, (detail, _of_beds(numbers, unit) if across else "", _of_machines(claim, effect))))
    return JudgedPlace(place, verdict, detail, effect, trials, rounds)


def not_tested(place: Place, why_not: str, trials: Sequence[int] = ()) -> JudgedPlace:
    return JudgedPlace(place, Verdict.NOT_TESTED, why_not, None, tuple(trials), None)


def machines_of(observed: Sequence[Observed]) -> tuple[int, ...]:
    """Return the machine of each round, which is its stratum."""
    return tuple(one.machine for one in observed if one.machine is not None)


def _differ(numbers: Sequence[float]) -> bool:
    """Return whether these are enough beds for an interval between them, and differ. Those that are all endless, to the
    same side, do not."""
    return len(numbers) >= ENOUGH_BEDS and max(numbers) - min(numbers) > SAME


def _nothing_follows(numbers: Sequence[float], too_few: str, levels: Levels, unit: str) -> str:
    """Return why there is no verdict, neither over beds nor over rounds; "": there may be one."""
    if not _differ(numbers):
        alike = f"{len(numbers)} {unit}s with exactly the same number, which tells nothing of others"
        return f"{alike}; {too_few}" if too_few else ""
    words, least = _without_number(numbers, unit), _least(levels)
    few = words and len(numbers) < least
    return f"{words}; whatever they come to, a verdict by ranks takes {least} {unit}s" if few else ""


def _without_number(numbers: Sequence[float], unit: str) -> str:
    """Say how many beds are endless; "" where none is."""
    endless = sum(map(math.isinf, numbers))
    return f"on {endless} of {len(numbers)} {unit}s {ENDLESS}" if endless else ""


def _over_beds(numbers: Sequence[float]) -> Estimate:
    """Return what beds say together. Where one is endless, Student's t shows nothing whatever its number is: the
    farther that lies off, the nearer t comes to 1. For ranks it is enough that it lies beyond all others."""
    return OverBeds(numbers) if all(map(math.isfinite, numbers)) else OverRounds(numbers)


def _of_beds(numbers: Sequence[float], unit: str) -> str:
    words = _without_number(numbers, unit)
    return f"by ranks of {unit}s, since {words}" if words else ""


def _of_machines(claim: Claim, effect: Effect) -> str:
    is_over_several = effect.unit == "machine" and claim.is_absolute
    return f"an absolute number over {effect.beds} machines" if is_over_several else ""


def _with_bounds(known: Estimate, observed: Sequence[Observed], beds: Mapping[int, float] | None) -> Estimate:
    """Return what is known where rounds say no more than "at least" or "at most". `beds`: the numbers of those that
    count."""
    sides = {one.beyond for one in observed} - {0}
    if not sides:
        return known
    if beds is not None:  # one open round opens that side of its bed's number, whatever the others say
        return Beyond(known, None if sides & {-1, None} else known, None if sides & {1, None} else known)
    least = OverRounds([-math.inf if one.beyond in (-1, None) else one.log for one in observed], machines_of(observed))
    most = OverRounds([math.inf if one.beyond in (1, None) else one.log for one in observed], machines_of(observed))
    return Beyond(known, least, most)


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
    needed, ends = numbers_needed(claim, known, levels), effect.interval_95
    if needed is None and ends and (ends.low == 0 or ends.high == math.inf):
        if isinstance(known, Beyond):
            return None, ""  # why it has no end is said of the rounds that leave it open
        return None, "trials that timed out, or whose value is 0, leave its interval without an end"
    if needed is None and not is_known(claim, known, levels):
        return None, "the effect is not known well enough to say how many rounds would settle it"
    if needed is None:
        return None, "the effect is too near to the edge of the claim for more rounds to settle it"
    if not effect.between_beds:
        return needed, f"about {counted(needed, 'round')} would probably settle it"
    rounds = needed * math.ceil(effect.n / effect.beds)
    words = f"about {counted(rounds, 'round')} on {needed} {effect.unit}s would probably settle it"
    if effect.n == effect.beds:
        words += f", or fewer {effect.unit}s with several rounds on each"
    return rounds, words
