"""Verdicts of a run by the claims that it began with, and which of them were edited since. Pure.

Whoever edits a claim when the results are there could make it fit them. So the run's own claims are judged, and what
the file says now only tells which of them are not the same any more. An edit of the experiment around a claim makes
other cells, and leaves the claim as it is.
"""

from collections.abc import Sequence
from dataclasses import replace

from lanelab.analysis.results.claims.judge import judge
from lanelab.analysis.results.claims.verdict import Judged
from lanelab.analysis.results.model import Run
from lanelab.driver.experiment.claim import Claim


def judge_as_kept(run: Run, now: Sequence[Claim] | None) -> list[Judged]:
    """Judge the claims as they were when the run began. `now` are those that a file has, None where nobody knows. A
    claim that the file has besides is judged too, and counts as edited, as does one that the file has no more."""
    judged = judge(run)
    if now is None:
        return judged
    since = {claim.name: statement(claim) for claim in now}
    marked = [replace(one, changed=one.changed or since.get(one.claim.name) != statement(one.claim)) for one in judged]
    kept = {claim.name for claim in run.claims}
    added = [claim for claim in now if claim.name not in kept]
    found = judge(run, added) if added else []
    return [*marked, *(one for one in found if one.claim.name not in kept)]


def statement(claim: Claim) -> Claim:
    """Return the claim without the identifiers of its cells, which change with every setting of the experiment."""
    places = tuple(
        replace(place, points=tuple(replace(point, cell="", base=point.base and "") for point in place.points))
        for place in claim.places
    )
    return replace(claim, places=places)
