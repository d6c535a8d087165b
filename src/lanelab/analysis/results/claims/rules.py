"""From an effect to a verdict: the region of a claim against the effect's intervals. Pure.

Every verdict has a p that is at most 5% exactly where it is given: of two one-sided tests for "reproduced", twice a
one-sided one for a direction, a two-sided one for "not reproduced". A claim about a direction alone has no region with
two ends, so it is reproduced by the 95% interval, as a direction is.
"""

import functools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from lanelab.analysis.results.claims.estimates import Estimate
from lanelab.analysis.results.claims.verdict import Effect, Interval, Verdict
from lanelab.analysis.statistics.looks import ALPHA, Look, alone, look_after
from lanelab.analysis.statistics.median import logarithm
from lanelab.driver.experiment.claim import Claim

REVERSED, REFUTED, OPEN = "reversed", "magnitude refuted", "magnitude open"
SAME = 1e-9  # logarithms that differ by less are of the same count


@dataclass(frozen=True, slots=True)
class Levels:
    """The chances with which the intervals behind a verdict may miss: 5% and 10%, or what a run has left that looked at
    itself before."""

    wide: float = ALPHA  # of I95
    narrow: float = 2 * ALPHA  # of I90, whose two ends are one-sided tests at 5% each
    looks: float = 1.0  # by what a p at a look's own level is multiplied, so that it holds for all looks together


def levels_after(looks: Sequence[Look], rounds: int) -> Levels:
    """Return the levels after so many rounds of a run with these looks. I95 has the look's own level. For I90 twice the
    chance is spent on all looks, in equal parts, as for I95."""
    if len(looks) == 1:
        return Levels()
    at = looks.index(look_after(looks, rounds))
    together = sum(look.alpha for look in looks)
    return Levels(looks[at].alpha, _narrow(tuple(look.trials for look in looks))[at], together / ALPHA)


@functools.lru_cache(maxsize=64)
def _narrow(trials: tuple[int, ...]) -> list[float]:
    """Return the level of each look."""
    spent = [2 * ALPHA * number / len(trials) for number in range(1, len(trials) + 1)]
    return alone([number / trials[-1] for number in trials], spent)


def region(claim: Claim) -> tuple[float, float]:
    """What counts as reproduced, on the logarithmic scale; an end that is open is infinite."""
    low = -math.inf if claim.low is None else logarithm(claim.low)
    return low, math.inf if claim.high is None else logarithm(claim.high)


def directions(claim: Claim) -> tuple[float, float]:
    """Return below which an effect is a direction, and above which."""
    return logarithm(1 - claim.at_least), logarithm(1 + claim.at_least)


def is_direction_alone(claim: Claim) -> bool:
    return not claim.published and not claim.equivalent


# --- effects


def effect_of(
    claim: Claim, known: Estimate, levels: Levels, *, rounds: int, beds: int, between_beds: bool, unit: str
) -> Effect:
    (low, high), (lower, higher) = region(claim), directions(claim)
    down, up = _below(known, lower), _above(known, higher)
    return Effect(
        n=rounds,
        beds=beds,
        between_beds=between_beds,
        value=math.exp(known.value),
        interval_90=_interval(known, levels.narrow),
        interval_95=_interval(known, levels.wide),
        p_inside=max(_above(known, low), _below(known, high)),
        p_direction={-1: down, 1: up}.get(claim.side, 1.0),
        p_reversed={-1: up, 1: down}.get(claim.side, 1.0),
        p_outside=min(1.0, 2 * min(_below(known, low), _above(known, high))),
        unit=unit,
    )


def _interval(known: Estimate, alpha: float) -> Interval | None:
    interval = known.interval(alpha)
    return Interval(math.exp(interval[0]), math.exp(interval[1])) if interval else None


def _above(known: Estimate, bound: float) -> float:
    """What is open is always kept, and never passed."""
    return float(bound > 0) if math.isinf(bound) else known.above(bound)


def _below(known: Estimate, bound: float) -> float:
    return float(bound < 0) if math.isinf(bound) else known.below(bound)


def is_exact(claim: Claim, logs: Sequence[float], *, whole: bool) -> bool:
    """Whether the claim has to hold in every trial: a count that never varies leaves nothing to chance, and a margin of
    0 leaves nothing else."""
    if not whole:
        return False
    varies = max(logs) - min(logs) > SAME if math.isfinite(max(logs) - min(logs)) else len(set(logs)) > 1
    return not varies or (claim.kind == "value" and has_no_margin(claim))


def has_no_margin(claim: Claim) -> bool:
    return bool(claim.published) and (claim.low, claim.high) == (claim.published[0], claim.published[-1])


def exact_effect(claim: Claim, logs: Sequence[float], *, beds: int, unit: str) -> Effect:
    """Its p are 0 or 1: the verdict is on these trials, and counts them. So it has no interval: that a few trials agree
    does not say within what others would."""
    lower, higher = directions(claim)
    down, up = float(max(logs) >= lower), float(min(logs) <= higher)
    outside = outsiders(claim, logs)
    return Effect(
        n=len(logs),
        beds=beds,
        between_beds=False,
        value=statistics.median(map(math.exp, logs)),
        interval_90=None,
        interval_95=None,
        p_inside=float(outside > 0),
        p_direction={-1: down, 1: up}.get(claim.side, 1.0),
        p_reversed={-1: up, 1: down}.get(claim.side, 1.0),
        p_outside=float(outside == 0),
        unit=unit,
    )


def outsiders(claim: Claim, logs: Sequence[float]) -> int:
    """Count the rounds in which the effect is not in the region."""
    low, high = region(claim)
    return sum(not low - SAME <= log <= high + SAME for log in logs)


# --- verdicts


def p_reproduced(claim: Claim, effect: Effect, levels: Levels) -> float:
    level = levels.wide if is_direction_alone(claim) else levels.narrow
    return min(1.0, effect.p_inside * 2 * ALPHA / level)


def p_direction(effect: Effect, levels: Levels) -> float:
    return min(1.0, effect.p_direction * 2 * ALPHA / levels.wide)


def p_not_reproduced(effect: Effect, levels: Levels) -> float:
    return min(1.0, effect.p_outside * ALPHA / levels.wide)


def verdict_on(claim: Claim, effect: Effect, levels: Levels) -> tuple[Verdict, str]:
    """Return the verdict in one place, with what there is to add."""
    refuted = p_not_reproduced(effect, levels) <= ALPHA
    if p_reproduced(claim, effect, levels) <= ALPHA:
        return Verdict.REPRODUCED, ""
    if p_direction(effect, levels) <= ALPHA:
        return Verdict.DIRECTION_ONLY, REFUTED if refuted else OPEN
    if refuted:
        reversed_ = min(1.0, effect.p_reversed * 2 * ALPHA / levels.wide) <= ALPHA
        return Verdict.NOT_REPRODUCED, REVERSED if reversed_ else ""
    return Verdict.INCONCLUSIVE, ""
