"""Whether an arm helps in one place and harms in another. A change over all places would then describe none. Pure."""

from collections.abc import Sequence

from lanelab.analysis.statistics.median import ALPHA
from lanelab.analysis.statistics.ranks import p_alike, ranks
from lanelab.analysis.statistics.signed_rank import signed_rank

Logs = Sequence[Sequence[float]]  # logarithms of the ratios in one place, by machine


def are_opposite(places: Sequence[Logs], alpha: float = ALPHA) -> bool:
    """Return whether the interval of one place is below no change and that of another is above it, and places differ by
    more than chance. Intervals alone do not say that: of many places with few rounds, some go either way by chance."""
    signs = [signed_rank(place, alpha) for place in places]
    if not (any(each.high < 0 for each in signs) and any(each.low > 0 for each in signs)):
        return False
    p = _p_alike([[log for logs in place for log in logs] for place in places])
    return p is not None and p <= alpha


def _p_alike(groups: Sequence[Sequence[float]]) -> float | None:
    ranked = iter(ranks([log for group in groups for log in group]))
    return p_alike([[next(ranked) for _ in group] for group in groups])
