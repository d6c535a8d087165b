"""Judges the claims of a run: what was published against what was measured. Pure.

docs/statistics.md#claims says what each verdict takes, and how often it is wrong.
"""

from collections.abc import Sequence
from dataclasses import replace

from lanelab.analysis.results.claims.broken_loads import opened, with_and_without
from lanelab.analysis.results.claims.place import judge_place, not_tested
from lanelab.analysis.results.claims.rules import Levels, levels_after
from lanelab.analysis.results.claims.samples import Measured, NotTested, by_machine, cells_of, observe
from lanelab.analysis.results.claims.several_places import verdict_over
from lanelab.analysis.results.claims.time_reasons import why
from lanelab.analysis.results.claims.verdict import Judged, JudgedPlace
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.tables import run_drift
from lanelab.analysis.statistics.looks import ALPHA
from lanelab.analysis.statistics.pooled import are_shown_opposite
from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.claim import LINES, Claim, Place, digest_of
from lanelab.driver.record.load_places import metric_of_claim
from lanelab.driver.record.metrics import Metric


def judge(run: Run, against: Sequence[Claim] | None = None) -> list[Judged]:
    """Return a verdict on each claim of the run. `against`: on these instead, where one that is not the run's own
    counts as changed. `judge_as_kept` tells which of a run's claims a file has changed since."""
    court = _Court(run)
    kept = {claim.name: claim for claim in run.claims}
    intact = digest_of(run.claims) == run.claims_digest
    return [
        court.judged(claim, changed=not intact or kept.get(claim.name) != claim)
        for claim in (run.claims if against is None else against)
    ]


OPPOSITE = "single places go opposite ways"


class _Court:
    """A run, with what several of its claims need."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._measured: dict[str, Measured] = {}
        self._drift: str | None = None  # None: not asked yet

    def judged(self, claim: Claim, *, changed: bool) -> Judged:
        metric = metric_of_claim(claim.metric)
        if metric is None:
            raise InputError(
                f"the claim {claim.name} is about {claim.metric!r}, which is no metric",
                "The run was made by another version of lanelab: judge it with that one",
            )
        measured = self._of(metric.name)
        levels = self._levels(claim, measured)
        places = tuple(self._place(claim, place, measured, metric, levels) for place in claim.places)
        verdict, detail, p = verdict_over(claim, places, levels)
        return Judged(claim, verdict, detail, p, places, why(self.run, claim, places), changed)

    def _of(self, metric: str) -> Measured:
        if metric not in self._measured:
            self._measured[metric] = Measured.of(self.run, metric)
        return self._measured[metric]

    def _levels(self, claim: Claim, measured: Measured) -> Levels:
        values = [measured.results.get(cell, {}) for place in claim.places for cell in cells_of(place)]
        return levels_after(self.run.plan.looks, max((max(each, default=0) for each in values), default=0))

    def _place(self, claim: Claim, place: Place, measured: Measured, metric: Metric, levels: Levels) -> JudgedPlace:
        observed = observe(measured, claim, place)
        if isinstance(observed, NotTested):
            return not_tested(place, observed.why)
        whole, cells = metric.whole and claim.kind not in LINES, cells_of(place)
        judged = judge_place(claim, place, observed, levels, whole=whole)
        if judged.effect is None:
            return judged
        if claim.is_absolute and not metric.whole and (why_not := self._drifted()):
            return not_tested(place, why_not, judged.trials)
        left_out = measured.rounds_with_trials(cells) - len(observed)
        judged = replace(judged, left_out=left_out, broken=len(measured.rounds_that_broke(cells)))
        if judged.broken and measured.worst is not None:  # of other metrics nobody knows which way a load would go
            ends = [opened(measured, claim, place, observed, side) for side in (1, -1)]
            each = [judge_place(claim, place, rounds, levels, whole=whole) for rounds in ends if rounds != observed]
            judged = with_and_without(claim, judged, each, levels)
        if self._is_opposite(claim, place, measured, ALPHA / levels.looks):
            return replace(judged, detail="; ".join(filter(None, (judged.detail, OPPOSITE))))
        return judged

    def _is_opposite(self, claim: Claim, place: Place, measured: Measured, alpha: float) -> bool:
        """Return whether a mean is over places of which one is shown to go up and another down."""
        shares = claim.shares_of(place)
        if len(shares) == 1 or claim.is_absolute:
            return False
        of_one = replace(claim, quantifier="one")
        each = [observe(measured, of_one, replace(place, points=points)) for points in shares]
        return are_shown_opposite([by_machine(rounds) for rounds in each if not isinstance(rounds, NotTested)], alpha)

    def _drifted(self) -> str:
        """Return why values of this run depend on when they were measured; "": they do not. Pairs and counts never do.
        What beds differ by is in the interval between them, and beside one of a single bed stands how wide it had to
        be for others: what happens within beds is left to ask."""
        if self._drift is None:
            values = run_drift(self.run)
            self._drift = values.words() if values.is_shown or not values.is_interleaved else ""
        return self._drift


def judge_as_kept(run: Run, now: Sequence[Claim] | None) -> list[Judged]:
    """Judge the claims as they were when the run began. `now` are those that a file has, None where nobody knows. A
    claim that the file has besides is judged too, and counts as edited, as does one that the file has no more.

    Whoever edits a claim when the results are there could make it fit them. So the run's own claims are judged, and
    what the file says now only tells which of them are not the same any more. An edit of the experiment around a claim
    makes other cells, and leaves the claim as it is.
    """
    judged = judge(run)
    if now is None:
        return judged
    since = {claim.name: statement(claim) for claim in now}
    marked = [replace(one, changed=one.changed or since.get(one.claim.name) != statement(one.claim)) for one in judged]
    kept = {claim.name for claim in run.claims}
    added = [claim for claim in now if claim.name not in kept]
    others = judge(run, added) if added else []
    return [*marked, *(one for one in others if one.claim.name not in kept)]


def statement(claim: Claim) -> Claim:
    """Return the claim without the identifiers of its cells, which change with every setting of the experiment, and
    without the names of its places, which need more words beside others: the names of its points say where they are."""

    def plain(place: Place) -> Place:
        points = (replace(point, cell="", base=point.base and "") for point in place.points)
        return replace(place, words="", points=tuple(points))

    places = tuple(map(plain, claim.places))
    return replace(claim, places=places)
