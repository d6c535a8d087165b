"""What of an experiment decides its numbers and the verdicts on its claims, and how two experiments differ in that. A
comment, a title or the words of a claim decide nothing. Pure.
"""

from dataclasses import dataclass

from lanelab.driver.base.amounts import counted
from lanelab.driver.base.coded import Coded
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.experiment.model import Experiment, Repeat
from lanelab.driver.run.study.study import published_number
from lanelab.driver.run.trial_keys import asked_for, digest_of

# Of a claim, besides the statement that it is about and its places. The other fields are words.
OF_CLAIM = (
    "kind", "metric", "over", "published", "low", "high", "side", "at_least", "equivalent", "quantifier", "exceptions",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Decisive(Coded):
    """It says what decides. `settings`: a digest of what is measured and how; `claims`: of what claims are judged by.
    Rounds and beds are by themselves, since fewer of them measure the same less well."""

    settings: str
    claims: str
    least_rounds: int
    most_rounds: int
    beds: int

    @property
    def rounds(self) -> str:
        least, most = self.least_rounds, self.most_rounds
        return str(most) if least == most else f"{least} to {most}"


def decisive(experiment: Experiment) -> Decisive:
    """Return what decides in an experiment. Equal settings are equal, however they are written."""
    repeat = experiment.repeat
    cells = [digest_of(asked_for(experiment, cell, cell.site, accept_links=False)) for cell in experiment.cells]
    settings = {
        "cells": cells if experiment.order == "sequential" else sorted(cells),
        "order": experiment.order,
        "seed": experiment.seed,
        "retries": experiment.retries,
        "until": _until(experiment, repeat),
    }
    claims = sorted(digest_of(_decisive_of(claim)) for claim in experiment.claims)
    return Decisive(digest_of(settings), digest_of({"claims": claims}), repeat.min, repeat.max, experiment.beds)


def _until(experiment: Experiment, repeat: Repeat) -> dict[str, object] | None:
    """Return how narrow which intervals have to be; None of a fixed number of rounds."""
    if repeat.ci is None:
        return None
    compared = sorted((base.id, cell.id) for base, cell in experiment.pairs.cells)
    return {"ci": str(repeat.ci), "of": repeat.of, "compared": compared if repeat.of == "change" else []}


def _decisive_of(claim: Claim) -> dict[str, object]:
    places = [[(point.cell, point.base, point.x) for point in place.points] for place in claim.places]
    fields = {name: getattr(claim, name) for name in OF_CLAIM}
    return {**fields, "statement": published_number(claim.source), "places": places}


def difference(then: Decisive, now: Decisive) -> str:
    """Say how something was measured and judged, where that is not as an experiment asks for it now; else "". Claims
    name cells by their settings, so they are compared where these are the same."""
    are_others = then.settings != now.settings
    how = ["other settings"] if are_others else []
    if then.rounds != now.rounds:
        are_fewer = (then.most_rounds, then.least_rounds) < (now.most_rounds, now.least_rounds)
        how.append(f"{'fewer' if are_fewer else 'more'} rounds, {then.rounds} instead of {now.rounds}")
    if then.beds != now.beds:
        how.append(f"{then.beds} instead of {counted(now.beds, 'bed')}")
    measured = f"measured with {' and '.join(how)}" if how else ""
    judged = "judged by other claims" if then.claims != now.claims and not are_others else ""
    return ", and ".join(filter(None, (measured, judged)))
