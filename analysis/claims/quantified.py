"""The verdict on a claim over several places, from the verdicts in each. Pure.

Every: to say that a claim holds in all places, each of them has to be shown at its own level (an intersection-union
test, Berger 1982). To say that it does not, one place is enough, so these p values are adjusted by Holm.

At least m - k of m places ("any" is m - k = 1): if that is wrong, k + 1 places or more do not hold. The claim is made
where the (m - k)-th smallest p is at most alpha / (k + 1): then, of n0 > k places that do not hold, n0 - k or more have
a p that small, of which the chance is at most n0 / (n0 - k) times alpha / (k + 1), and so at most alpha.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analysis.claims.places import Levels
from analysis.claims.verdict import Effect, JudgedPlace, Verdict
from analysis.stats import holm
from model.claims import Claim

HOLDS = (Verdict.REPRODUCED, Verdict.DIRECTION_ONLY)


def verdict_over(claim: Claim, places: Sequence[JudgedPlace], levels: Levels) -> tuple[Verdict, str, float | None]:
    """The verdict, what there is to add, and the p value of the verdict."""
    if claim.quantifier == "one":
        return places[0].verdict, places[0].detail, p_of(claim, places[0])
    if claim.quantifier == "every":
        return _every(claim, places, levels)
    exceptions = len(places) - 1 if claim.quantifier == "any" else claim.exceptions
    return _at_least(claim, places, levels, exceptions)


def p_of(claim: Claim, place: JudgedPlace) -> float | None:
    """Of the verdict that a place has; None where it has none."""
    if place.effect is None or place.verdict in (Verdict.INCONCLUSIVE, Verdict.NOT_TESTED):
        return None
    return _p(claim, place.verdict)(place.effect)


def _p(claim: Claim, verdict: Verdict) -> Callable[[Effect], float]:
    if verdict == Verdict.NOT_REPRODUCED:
        return lambda effect: effect.p_outside
    if verdict == Verdict.DIRECTION_ONLY or (claim.side and not claim.published):
        return lambda effect: min(1.0, 2 * effect.p_direction)
    return lambda effect: effect.p_inside


def _every(claim: Claim, places: Sequence[JudgedPlace], levels: Levels) -> tuple[Verdict, str, float | None]:
    refuted = _refuted(places, levels)
    if refuted:
        names = _named([place for place, _ in refuted])
        details = {place.detail for place, _ in refuted}
        more = "reversed" if details == {"reversed"} else ""
        return Verdict.NOT_REPRODUCED, f"{more + ' ' if more else ''}at {names}", min(p for _, p in refuted)
    lacking = [place for place in places if place.verdict == Verdict.NOT_TESTED]
    if lacking:
        return Verdict.NOT_TESTED, f"at {_named(lacking)}: {lacking[0].detail}", None
    if all(place.verdict in HOLDS for place in places):
        partly = [place for place in places if place.verdict == Verdict.DIRECTION_ONLY]
        verdict = Verdict.DIRECTION_ONLY if partly else Verdict.REPRODUCED
        ps = [_p(claim, place.verdict)(place.effect) for place in places if place.effect]
        detail = ""
        if partly:
            refuted_size = [place for place in partly if place.detail == "magnitude refuted"]
            which = refuted_size or partly
            detail = f"{'magnitude refuted' if refuted_size else 'magnitude open'} at {_named(which)}"
        return verdict, detail, max(ps)
    unsettled = [place for place in places if place.verdict not in HOLDS]
    return Verdict.INCONCLUSIVE, f"at {_named(unsettled)}", None


def _refuted(places: Sequence[JudgedPlace], levels: Levels) -> list[tuple[JudgedPlace, float]]:
    """Places where the claim does not hold, each with a p value that holds for all places together."""
    tested = [place for place in places if place.effect is not None]
    adjusted = holm([place.effect.p_outside if place.effect else 1.0 for place in tested])
    return [
        (place, p)
        for place, p in zip(tested, adjusted, strict=True)
        if place.verdict == Verdict.NOT_REPRODUCED and p <= levels.beyond
    ]


def _at_least(
    claim: Claim, places: Sequence[JudgedPlace], levels: Levels, exceptions: int
) -> tuple[Verdict, str, float | None]:
    wanted = len(places) - exceptions
    for verdict in HOLDS:
        level = levels.beyond if verdict == Verdict.DIRECTION_ONLY or not claim.published else levels.inside
        p = _of_several(_ps(claim, places, verdict), wanted, exceptions)
        if p <= level and (verdict == Verdict.REPRODUCED or claim.side):
            held = [place for place in places if place.verdict in HOLDS]
            return verdict, f"at {len(held)} of {len(places)} places", p
    lacking = [place for place in places if place.verdict == Verdict.NOT_TESTED]
    refuting = [place.effect.p_outside if place.effect else 1.0 for place in places]
    p = _of_several(refuting, exceptions + 1, len(places) - exceptions - 1)
    failing = [place for place in places if place.verdict == Verdict.NOT_REPRODUCED]
    if p <= levels.beyond and len(failing) > exceptions:
        return Verdict.NOT_REPRODUCED, f"at {_named(failing)}", p
    if lacking:
        return Verdict.NOT_TESTED, f"at {_named(lacking)}: {lacking[0].detail}", None
    return Verdict.INCONCLUSIVE, "", None


def _ps(claim: Claim, places: Sequence[JudgedPlace], verdict: Verdict) -> list[float]:
    of = _p(claim, verdict)
    return [of(place.effect) if place.effect else 1.0 for place in places]


def _of_several(ps: Sequence[float], wanted: int, exceptions: int) -> float:
    """That `wanted` of them or more hold: see above."""
    return min(1.0, (exceptions + 1) * sorted(ps)[wanted - 1])


def _named(places: Sequence[JudgedPlace]) -> str:
    shown = "; ".join(place.place.words for place in places[:3])
    return shown if len(places) <= 3 else f"{shown} and {len(places) - 3} more"
