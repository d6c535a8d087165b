"""One arm against one base over several sites and links: a signed-rank test with strata.

Each of them on each machine is a stratum.

The statistics of the strata are added up, and the estimate is the middle of all Walsh averages within strata: one
change that all of them have in common. Where links have changes of their own it lies between those, and where these are
opposite it describes none of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lanelab.analysis.statistics.median import ALPHA
from lanelab.analysis.statistics.opposite import are_opposite
from lanelab.analysis.statistics.paired import Change, log_ratios
from lanelab.analysis.statistics.signed_rank import signed_rank
from lanelab.analysis.statistics.strata import MadeOn, strata


@dataclass(frozen=True, slots=True)
class Pooled:
    """The change that an arm brings over all strata."""

    ratio: Change
    strata: int  # sites and links
    machines: int = 1
    is_opposite: bool = False  # the arm is faster in one of them and slower in another


def pool(
    pairs: Sequence[tuple[Mapping[int, float], Mapping[int, float]]],
    alpha: float = ALPHA,
    machines: Sequence[tuple[MadeOn, MadeOn]] | None = None,
) -> Pooled | None:
    """Pool (base, arm) by round of each site and link, and which machines made them; None: one made all. None where
    none has a round with both."""
    known_of: Sequence[tuple[MadeOn, MadeOn] | None] = machines or [None] * len(pairs)
    places, most = [], 1
    for (base, arm), made_on in zip(pairs, known_of, strict=True):
        both = [[(base[number], arm[number]) for number in rounds] for rounds in strata(base, arm, made_on).rounds]
        known = [[(one, other) for one, other in some if not one == other == float("inf")] for some in both]
        samples = [log_ratios(some) for some in known if some]
        places += [samples] if samples else []
        most = max(most, len(samples))
    if not places:
        return None
    ratio = Change.of_logarithms(signed_rank([logs for place in places for logs in place], alpha))
    return Pooled(ratio, len(places), most, are_opposite(places))
