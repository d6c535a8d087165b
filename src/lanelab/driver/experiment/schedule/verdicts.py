"""What a run's claims will need before they can get a verdict. Pure.

A verdict is given by an interval: across beds it takes three of them, and on fewer beds six rounds, with less of which
no 95% interval of rounds has both ends.
"""

from lanelab.analysis.statistics.median import ENOUGH
from lanelab.analysis.statistics.one_bed import ENOUGH_BEDS
from lanelab.driver.base.amounts import counted
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.blocks import beds_used
from lanelab.driver.record.load_places import metric_of_claim
from lanelab.driver.record.metrics import may_be_zero


def has_enough(experiment: Experiment) -> bool:
    """Return whether intervals can be worked out at all."""
    rounds = experiment.repeat.max
    return rounds >= ENOUGH or beds_used(experiment, rounds) >= ENOUGH_BEDS


def claim_warnings(experiment: Experiment) -> list[str]:
    warned = []
    if experiment.claims and not has_enough(experiment):
        rounds = experiment.repeat.max
        few = counted(rounds, "round is", "rounds are")
        what = f"{few} too few for a verdict on {', '.join(claim.name for claim in experiment.claims)}"
        warned.append(f"{what}: write trials: {ENOUGH} or more, or beds: {ENOUGH_BEDS} with a round on each")
    if doubtful := _without_interleaving(experiment):
        what = f"with order: sequential there will be no verdict on {', '.join(doubtful)}"
        why = "since nobody can tell whether values drifted"
        warned.append(f"{what}, {why}: write order: interleaved, or claim counts")
    for claim in experiment.claims:
        metric = metric_of_claim(claim.metric)
        if not claim.is_absolute and metric and may_be_zero(metric):
            what = f"the claim {claim.name} is about a change of {metric.key}, of which a trial may have 0"
            warned.append(f"{what}: a change from 0 is infinite, so look at the values too")
        if claim.is_absolute and metric and may_be_zero(metric) and len(claim.shares_of(claim.places[0])) > 1:
            what = f"the claim {claim.name} is about a mean of {metric.key}, of which a trial may have 0"
            warned.append(f"{what}: a geometric mean is not known then, so claim each place")
    return warned


def _without_interleaving(experiment: Experiment) -> list[str]:
    """Return the claims that are not judged where arms do not take turns: values that are no counts."""
    if experiment.order != "sequential":
        return []
    metrics = {claim.name: metric_of_claim(claim.metric) for claim in experiment.claims}
    return [name for name, metric in metrics.items() if not (metric and metric.whole)]
