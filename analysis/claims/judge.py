"""`judge` gives every claim of a run its verdict. Pure.

What a verdict means, and which error it may have, is in docs/reference/claims.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis import tables
from analysis.claims.effects import Evidence, Sample
from analysis.claims.places import Levels, judge_place, not_tested
from analysis.claims.quantified import verdict_over
from analysis.claims.verdict import Judged, JudgedPlace, Verdict
from analysis.claims.why import why
from analysis.model import Run
from model.claims import Claim, digest_of
from model.looks import ALPHA, look_after
from model.metrics import Metric, metric_named

NOT_INTERLEAVED = "arms were not interleaved (order: sequential)"


def judge(run: Run, against: Sequence[Claim] | None = None) -> list[Judged]:
    """Every claim with its verdict; `against`: the claims as a file has them now, instead of those that the run keeps.
    One that is not as it was when the run began is marked."""
    claims = run.claims if against is None else tuple(against)
    kept = {claim.name: claim.digest for claim in run.claims}
    intact = digest_of(run.claims) == run.claims_digest
    evidence = Evidence(run)
    drifted = tables.run_drift(run)
    drift = drifted.words() if drifted.is_shown else ""
    return [
        _judged(evidence, claim, drift, changed=not intact or kept.get(claim.name) != claim.digest) for claim in claims
    ]


def _judged(evidence: Evidence, claim: Claim, drift: str, *, changed: bool) -> Judged:
    levels, metric = levels_of(evidence, claim), metric_named(claim.metric)
    places = tuple(_place(evidence, claim, number, metric, levels, drift) for number in range(len(claim.places)))
    verdict, detail, p = verdict_over(claim, places, levels)
    reason = "" if verdict == Verdict.NOT_TESTED else why(evidence, claim, places)
    return Judged(claim, verdict, detail, p, places, reason, changed)


def _place(
    evidence: Evidence, claim: Claim, number: int, metric: Metric | None, levels: Levels, drift: str
) -> JudgedPlace:
    place, run = claim.places[number], evidence.run
    nothing = Sample((), (), ())
    if metric is None:
        return not_tested(place, nothing, f"this lanelab knows no metric {claim.metric}")
    if not run.plan.is_interleaved and claim.kind != "value":
        return not_tested(place, nothing, NOT_INTERLEAVED)
    if drift and claim.kind == "value" and metric.unit == "ms":
        return not_tested(place, nothing, f"the run drifted: {drift}")
    return judge_place(claim, place, evidence.sample(claim, place), metric, levels)


def levels_of(evidence: Evidence, claim: Claim) -> Levels:
    """What may be claimed after that many rounds. Where a run may look several times each look has its own level, and
    the one-sided tests take it too: that is stricter than they need, and never less."""
    looks = evidence.run.plan.looks
    cells: Mapping[str, object] = evidence.cells
    names = {name for place in claim.places for point in place.points for name in (point.cell, point.base) if name}
    rounds = max((max(evidence.results(name), default=0) for name in names if name in cells), default=0)
    alpha = look_after(looks, rounds).alpha
    return Levels(inside=ALPHA if len(looks) == 1 else alpha, beyond=alpha)
