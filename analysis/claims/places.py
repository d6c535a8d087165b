"""The verdict on a claim in one place. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from analysis.claims.effects import Sample
from analysis.claims.verdict import Effect, Interval, JudgedPlace, Verdict
from analysis.stats.sided import LEAST_BEDS, LEAST_PAIRS, Located, WithinRun, locate
from model.claims import Claim, Place
from model.metrics import Metric

MOST_ROUNDS = 10_000


@dataclass(frozen=True, slots=True)
class Levels:
    """What may be claimed: 5% in all, and less where a run may look several times."""

    inside: float = 0.05  # of each of the two one-sided tests
    beyond: float = 0.05  # two-sided


@dataclass(frozen=True, slots=True)
class Bounds:
    """A claim's region and its direction, in the scale that effects are compared in: logarithms."""

    low: float
    high: float
    direction: float  # how far from 0 an effect has to be to have a direction

    @classmethod
    def of(cls, claim: Claim) -> Bounds:
        low = -math.inf if claim.low is None else _log(claim.low)
        high = math.inf if claim.high is None else _log(claim.high)
        grows = math.log(1 + claim.at_least)
        return cls(low, high, grows if claim.side > 0 else -math.log(1 - min(claim.at_least, 0.999)))


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def judge_place(claim: Claim, place: Place, sample: Sample, metric: Metric | None, levels: Levels) -> JudgedPlace:
    if sample.lacking:
        return not_tested(place, sample, sample.lacking)
    if claim.kind == "value" and metric and metric.whole:
        exact = _judge_count(claim, place, sample)
        if exact:
            return exact
    if claim.kind == "value":
        logs = tuple(map(_log, sample.values))
        sample = Sample(logs, sample.beds, sample.trials)
    by_bed = sample.by_bed()
    located = locate(by_bed, sample.values)
    if located is None:
        return not_tested(place, sample, _too_few(by_bed, sample))
    return _judge(claim, place, sample, located, levels)


def not_tested(place: Place, sample: Sample, why: str) -> JudgedPlace:
    return JudgedPlace(place, Verdict.NOT_TESTED, why, None, sample.trials, None)


def _too_few(by_bed: list[list[float]], sample: Sample) -> str:
    if len(by_bed) >= LEAST_BEDS:
        return "most loads of a bed timed out, so that it has no effect"
    n = len(sample.values)
    rounds = "1 round" if n == 1 else f"{n} rounds"
    beds = f"{len(by_bed)} beds" if len(by_bed) > 1 else "1 bed"
    return f"too few trials: {rounds} on {beds}, and it takes {LEAST_PAIRS} rounds, or {LEAST_BEDS} beds"


def _judge_count(claim: Claim, place: Place, sample: Sample) -> JudgedPlace | None:
    """A count that never varies is known exactly, and one without a margin has to hold in every trial."""
    low, high = claim.low or 0.0, math.inf if claim.high is None else claim.high
    values, same = sample.values, len(set(sample.values)) == 1
    without_margin = low == high
    if not same and not without_margin:
        return None
    if len(values) < LEAST_PAIRS and len(set(sample.beds)) < LEAST_BEDS:
        return not_tested(place, sample, _too_few(sample.by_bed(), sample))
    outside = [value for value in values if not low <= value <= high]
    middle = sorted(values)[len(values) // 2]
    ends = Interval(min(values), max(values))
    beds = len(set(sample.beds))
    p = 0.0 if outside else 1.0
    effect = Effect(len(values), beds, beds >= LEAST_BEDS, middle, ends, ends, 1 - p, 1.0, 1.0, p)
    detail = "" if same or not outside else f"{len(outside)} of {len(values)} trials have another count"
    verdict = Verdict.NOT_REPRODUCED if outside else Verdict.REPRODUCED
    return JudgedPlace(place, verdict, detail, effect, sample.trials, None)


def _judge(claim: Claim, place: Place, sample: Sample, located: Located, levels: Levels) -> JudgedPlace:
    bounds = Bounds.of(claim)
    effect = _effect(claim, sample, located, bounds, levels)
    verdict, detail = verdict_of(claim, effect, levels)
    needed = rounds_needed(located, sample, bounds, levels) if verdict == Verdict.INCONCLUSIVE else None
    return JudgedPlace(place, verdict, detail, effect, sample.trials, needed)


def _effect(claim: Claim, sample: Sample, located: Located, bounds: Bounds, levels: Levels) -> Effect:
    above, below = located.p_above, located.p_below
    inside = max(
        0.0 if bounds.low == -math.inf else above(bounds.low), 0.0 if bounds.high == math.inf else below(bounds.high)
    )
    outside = min(
        1.0 if bounds.low == -math.inf else below(bounds.low), 1.0 if bounds.high == math.inf else above(bounds.high)
    )
    higher, lower = above(bounds.direction), below(-bounds.direction)
    towards, away = (higher, lower) if claim.side > 0 else (lower, higher)
    return Effect(
        n=len(sample.values),
        beds=len(sample.by_bed()),
        between_beds=not isinstance(located, WithinRun),
        value=_exp(located.value),
        interval_90=_interval(located, 2 * levels.inside),
        interval_95=_interval(located, levels.beyond),
        p_inside=inside,
        p_direction=towards if claim.side else 1.0,
        p_reversed=away if claim.side else 1.0,
        p_outside=min(1.0, 2 * outside),
    )


def verdict_of(claim: Claim, effect: Effect, levels: Levels) -> tuple[Verdict, str]:
    """By the p values, which say the same as the intervals."""
    refuted = effect.p_outside <= levels.beyond
    directed, reversed_ = effect.p_direction <= levels.beyond / 2, effect.p_reversed <= levels.beyond / 2
    if claim.side and not claim.published:  # a direction is all that was published
        if directed:
            return Verdict.REPRODUCED, ""
    elif effect.p_inside <= levels.inside:
        return Verdict.REPRODUCED, ""
    elif directed:
        return Verdict.DIRECTION_ONLY, "magnitude refuted" if refuted else "magnitude open"
    if refuted:
        return Verdict.NOT_REPRODUCED, "reversed" if reversed_ else ""
    return Verdict.INCONCLUSIVE, ""


def rounds_needed(located: Located, sample: Sample, bounds: Bounds, levels: Levels) -> int | None:
    """In all: an interval's width shrinks with the root of them, and it settles the claim once it leaves the bound out
    that is nearest to the estimate. None where that would be never, or too far away to be said."""
    low, high = located.interval(levels.beyond)
    half, value = (high - low) / 2, located.value
    ends = [end for end in (bounds.low, bounds.high) if math.isfinite(end)]
    distance = min((abs(value - end) for end in ends), default=0.0)
    if not distance or not math.isfinite(half):
        return None
    needed = math.ceil(len(sample.values) * (half / distance) ** 2)
    needed = max(needed, len(sample.values) + 1)
    return needed if needed <= MOST_ROUNDS else None


def _interval(located: Located, alpha: float) -> Interval:
    low, high = located.interval(alpha)
    return Interval(_exp(low), _exp(high))


def _exp(value: float) -> float:
    return math.inf if value == math.inf else math.exp(value)
