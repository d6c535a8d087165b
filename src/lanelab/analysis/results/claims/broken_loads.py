"""The verdict in a place where loads broke and were tried again. Pure.

The loads that are left are those that did not break, and where slow loads are the ones that break these are the quick
ones. What a load that broke would have taken nobody knows: it may have been slower than all others. So the place is
judged three times: without such loads, with those among them that would raise its number, and with those that would
lower it. A verdict is given where each of these gives it. That is an intersection-union test (Berger 1982): its p is
the largest one, and no verdict is wrong more often than it would be alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from lanelab.analysis.results.claims.place import not_tested
from lanelab.analysis.results.claims.rules import Levels, region, verdict_on
from lanelab.analysis.results.claims.samples import Measured, Observed, cells_of, observed_of, ways_of
from lanelab.analysis.results.claims.verdict import Effect, Interval, JudgedPlace, Verdict
from lanelab.analysis.results.claims.words import verdict_words
from lanelab.analysis.statistics.median import logarithm
from lanelab.driver.base.amounts import counted
from lanelab.driver.experiment.claim import Claim, Place


def opened(
    measured: Measured, claim: Claim, place: Place, observed: Sequence[Observed], side: int
) -> tuple[Observed, ...]:
    """Return the rounds of a place, where each is as high as anything (`side` 1), or as low (-1), in which a load broke
    that would move it there. So is one of which nothing is left, since the load broke as often as it was tried."""
    ways, cells = ways_of(measured, claim, place), cells_of(place)
    rounds = {one.round: one for one in observed}
    for number in measured.rounds_that_broke(cell for cell, way in ways.items() if way in (side, None)):
        results = [one for cell in cells if (one := measured.with_broken[cell].get(number))]
        if number in rounds:
            rounds[number] = replace(rounds[number], log=side * math.inf)
        elif len(results) == len(cells):
            rounds[number] = observed_of(number, results, side * math.inf)
    return tuple(rounds[number] for number in sorted(rounds))


def with_and_without(
    claim: Claim, without: JudgedPlace, with_broken: Sequence[JudgedPlace], levels: Levels
) -> JudgedPlace:
    """Return the verdict that holds in a place without loads that broke, and each time that it is judged with them."""
    known = [one.effect for one in with_broken if one.effect]
    if without.effect is None or len(known) < len(with_broken):
        return replace(not_tested(without.place, _why(without, with_broken), without.trials), broken=without.broken)
    effect = _of_all(claim, [without.effect, *known])
    verdict, detail = verdict_on(claim, effect, levels)
    if verdict == without.verdict and without.detail.startswith(detail):
        is_open = verdict == Verdict.INCONCLUSIVE and bool(without.detail)  # what would settle it is of these alone
        of_these = f"{without.detail}, by the loads that did not break" if is_open else without.detail
        return replace(without, effect=effect, detail=of_these)
    detail = "; ".join(filter(None, (detail, _why(without, with_broken))))
    return replace(without, verdict=verdict, detail=detail, effect=effect, rounds_needed=None)


def _of_all(claim: Claim, effects: Sequence[Effect]) -> Effect:
    """Return the first effect with an interval that holds those of all, and with the largest p. Where one effect is
    below the region and another above it, what lies between may be in it: it is not shown to be outside."""
    low, high = region(claim)
    sides = {(log > high) - (log < low) for log in (logarithm(each.value) for each in effects)}
    return replace(
        effects[0],
        interval_90=_around(effects, lambda each: each.interval_90),
        interval_95=_around(effects, lambda each: each.interval_95),
        p_inside=max(each.p_inside for each in effects),
        p_direction=max(each.p_direction for each in effects),
        p_reversed=max(each.p_reversed for each in effects),
        p_outside=max(each.p_outside for each in effects) if len(sides) == 1 else 1.0,
    )


def _around(effects: Sequence[Effect], of: Callable[[Effect], Interval | None]) -> Interval | None:
    """Return the interval that holds each of these; None where one has none."""
    known = [interval for each in effects if (interval := of(each))]
    if len(known) < len(effects):
        return None
    return Interval(min(each.low for each in known), max(each.high for each in known))


def _why(without: JudgedPlace, with_broken: Sequence[JudgedPlace]) -> str:
    """Say what the loads that broke change."""
    each = [verdict_words(one.verdict, "" if one.effect else one.detail) for one in with_broken]
    others = dict.fromkeys(words for words in each if words != without.verdict) or dict.fromkeys(each)
    rounds = counted(without.broken, "round")
    return (
        f"loads broke in {rounds}: without them {without.verdict}, with them as slower than all others "
        f"{' or '.join(others)}"
    )
