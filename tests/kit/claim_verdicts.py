"""The verdict on a claim about a made run."""

from lanelab.analysis.results.claims.judge import judge
from lanelab.analysis.results.claims.verdict import Judged, JudgedPlace, Verdict
from lanelab.driver.experiment.claim import Claim
from tests.kit.made_claims import Loads, made_run

HELD, DIRECTION, REFUTED, OPEN, UNTESTED = Verdict  # in its order


def judged(loads: Loads, claim: Claim, **made: object) -> Judged:
    return judge(made_run(loads, claims=[claim], **made))[0]  # type: ignore[arg-type]


def only(found: Judged) -> JudgedPlace:
    assert len(found.places) == 1
    return found.places[0]


def connections(*counts: int) -> dict[str, object]:
    return {"measures": lambda _arm, _rtt, number: {"connections_used": float(counts[(number - 1) % len(counts)])}}
