"""What a plan says of the claims of an experiment: each with what was published and where it is checked."""

from lanelab.analysis.results.claims.words import published_words
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.record.load_places import metric_of_claim

__all__ = ["about", "claims_json", "places", "published_words"]

PLACES_SHOWN = 3


def claims_json(experiment: Experiment) -> list[dict[str, object]]:
    return [
        {
            **claim.to_json(),
            "about": about(claim),
            "published_words": published_words(claim),
            "places_words": [place.words for place in claim.places],
        }
        for claim in experiment.claims
    ]


def about(claim: Claim) -> str:
    """Return what is compared with what, in words."""
    metric = metric_of_claim(claim.metric)
    what = metric.words if metric else claim.metric
    return f"{claim.kind} of {what}: {claim.of}" + (f", over {claim.over}" if claim.over else "")


def places(claim: Claim) -> str:
    """Return where, and in how many of these places it has to hold."""
    everywhere = [place.words for place in claim.places]
    if claim.quantifier == "mean":
        everywhere = [points[0].words for points in claim.shares_of(claim.places[0])]
    shown = everywhere[:PLACES_SHOWN]
    more = len(everywhere) - len(shown)
    words = "; ".join([*shown, *([f"{more} more"] if more else [])])
    if claim.quantifier == "one":
        return words
    if claim.quantifier == "mean":
        return f"{claim.places[0].words}: {words}"
    number = f"all but {claim.exceptions}" if claim.quantifier == "all but" else claim.quantifier
    return f"{number} of {len(claim.places)}: {words}"
