"""One verdict for a claim that is about several places. Pure.

Of m places all but k have to hold (`every`: k = 0; `any`: k = m - 1), so that at least r = m - k do. Two statements may
be shown, and each has its p, a partial conjunction (Benjamini and Heller 2008):

- At least r places hold: (k + 1) times the r-th smallest p. Why: where it is not so, at least k + 1 places do not hold,
  so at most r - 1 do. With exactly k + 1 that do not, the r smallest p have one of these among them, and that any of
  k + 1 is at most alpha / (k + 1) has a chance of at most alpha. With j of them, more than k + 1, at least j - k have
  to be as small, and that has a chance of at most j / (j - k) x alpha / (k + 1) by Markov's inequality, which is less.
  With k = 0 it is the largest p (intersection-union, Berger 1982), with r = 1 Holm's first step.
- At least k + 1 places do not hold, which refutes the claim: the same with the roles exchanged, m - k times the
  (k + 1)-th smallest p. With k = 0 it is Holm's first step.

Nothing is assumed of how places depend on each other. A place that was not tested has a p of 1.
"""

from collections.abc import Callable, Sequence

from lanelab.analysis.results.claims.rules import OPEN, REFUTED, Levels, p_direction, p_not_reproduced, p_reproduced
from lanelab.analysis.results.claims.verdict import Effect, JudgedPlace, Verdict
from lanelab.analysis.results.numbers import listed
from lanelab.analysis.statistics.looks import ALPHA
from lanelab.driver.experiment.claim import Claim


def exceptions_of(claim: Claim) -> int:
    """Return in how many places the claim may fail."""
    return len(claim.places) - 1 if claim.quantifier == "any" else claim.exceptions


def at_least(count: int, ps: Sequence[float]) -> float:
    """How likely p values like these are where fewer than so many of their statements are true."""
    return min(1.0, (len(ps) - count + 1) * sorted(ps)[count - 1])


def over_looks(p: float, levels: Levels) -> float:
    """Of a look, as one of all looks together: the level of each is such that one p or more is at most 5% with a chance
    of 5%, and smaller ones take a factor."""
    many = min(1.0, p * levels.looks)
    return min(many, ALPHA) if p <= ALPHA else many


def verdict_over(claim: Claim, places: Sequence[JudgedPlace], levels: Levels) -> tuple[Verdict, str, float | None]:
    """Return the verdict, what there is to add, and its p."""
    if len(places) == 1:
        return _of_one(claim, places[0], levels)
    allowed = exceptions_of(claim)
    needed = len(places) - allowed

    def p(count: int, of: Callable[[Effect], float], verdicts: Sequence[Verdict]) -> float:
        """Return the p of at least so many places having one of these verdicts."""
        each = [of(place.effect) if place.effect and place.verdict in verdicts else 1.0 for place in places]
        share = at_least(count, each)
        return over_looks(share, levels) if count == len(each) else min(1.0, share * levels.looks)

    refuted = p(allowed + 1, lambda effect: p_not_reproduced(effect, levels), [Verdict.NOT_REPRODUCED])
    reproduced = p(needed, lambda effect: p_reproduced(claim, effect, levels), [Verdict.REPRODUCED])
    directed = p(needed, lambda effect: _p_either(claim, effect, levels), [Verdict.REPRODUCED, Verdict.DIRECTION_ONLY])
    if refuted <= ALPHA:
        return Verdict.NOT_REPRODUCED, _which(places, Verdict.NOT_REPRODUCED), refuted
    if reproduced <= ALPHA:
        return Verdict.REPRODUCED, _holds_in(places, Verdict.REPRODUCED), reproduced
    if directed <= ALPHA:
        far = p(allowed + 1, lambda effect: p_not_reproduced(effect, levels), [Verdict.DIRECTION_ONLY])
        partly = REFUTED if far <= ALPHA else OPEN
        return Verdict.DIRECTION_ONLY, _named(partly, places, Verdict.DIRECTION_ONLY), directed
    if any(place.verdict == Verdict.NOT_TESTED for place in places):
        return Verdict.NOT_TESTED, _which(places, Verdict.NOT_TESTED), None
    return Verdict.INCONCLUSIVE, _counted(places), None


def _of_one(claim: Claim, place: JudgedPlace, levels: Levels) -> tuple[Verdict, str, float | None]:
    if place.effect is None:
        return place.verdict, place.detail, None
    ps = {
        Verdict.REPRODUCED: p_reproduced(claim, place.effect, levels),
        Verdict.DIRECTION_ONLY: p_direction(place.effect, levels),
        Verdict.NOT_REPRODUCED: p_not_reproduced(place.effect, levels),
    }
    p = ps.get(place.verdict)
    return place.verdict, place.detail, None if p is None else over_looks(p, levels)


def _p_either(claim: Claim, effect: Effect, levels: Levels) -> float:
    """Return the p of an effect in the region or beyond it on the published side. The smaller of both p needs no
    correction: each is at least the one-sided p at the boundary that is nearer to no effect."""
    return min(p_reproduced(claim, effect, levels), p_direction(effect, levels))


# --- in words


def _which(places: Sequence[JudgedPlace], verdict: Verdict) -> str:
    """Say where it has this verdict, and why: reversed at A and B; at C."""
    by_detail: dict[str, list[str]] = {}
    for place in places:
        if place.verdict == verdict:
            by_detail.setdefault(place.detail, []).append(place.place.words)
    return "; ".join(f"{detail} at {' and '.join(where)}".strip() for detail, where in by_detail.items())


def _named(partly: str, places: Sequence[JudgedPlace], verdict: Verdict) -> str:
    """Say where the magnitude is refuted, or open."""
    where = [place.place.words for place in places if place.verdict == verdict and partly in place.detail.split("; ")]
    return f"{partly} at {' and '.join(where)}" if where else partly


def _holds_in(places: Sequence[JudgedPlace], verdict: Verdict) -> str:
    holding = sum(place.verdict == verdict for place in places)
    return "" if holding == len(places) else f"in {holding} of {len(places)} places"


def _counted(places: Sequence[JudgedPlace]) -> str:
    """Return how many places have which verdict."""
    counts = {verdict: sum(place.verdict == verdict for place in places) for verdict in Verdict}
    if len(places) in counts.values():
        return f"in all {len(places)} places"
    return f"{listed(f'{verdict} in {count}' for verdict, count in counts.items() if count)} of {len(places)} places"
