"""One arm against one base over several sites and links: a signed-rank test with strata.

Each of them on each machine is a stratum.

The statistics of the strata are added up, and the estimate is the middle of all Walsh averages within strata: one
change that all of them have in common. Where links have changes of their own it lies between those, and where these are
opposite it describes none of them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lanelab.analysis.statistics.median import ALPHA
from lanelab.analysis.statistics.paired import Change, log_ratios
from lanelab.analysis.statistics.signed_rank import one_sided, signed_rank
from lanelab.analysis.statistics.strata import MadeOn, strata

Logs = Sequence[Sequence[float]]  # logarithms of the ratios in one place, by machine


def are_shown_opposite(places: Sequence[Logs], alpha: float = ALPHA) -> bool:
    """Return whether one place is shown to go up, and another down. Where no place goes down, or none goes up, at most
    `alpha` of runs say so: then one of all but one has to do so by chance, and each has its part (Piantadosi and Gail
    1993). Places that differ are not enough for that: one may be far below all others, and these may lie around 0."""
    level = alpha / max(1, len(places) - 1)
    sides = [one_sided(place, 0.0) for place in places]
    return any(up <= level for up, _ in sides) and any(down <= level for _, down in sides)


@dataclass(frozen=True, slots=True)
class Pooled:
    """The change that an arm brings over all strata."""

    ratio: Change
    strata: int  # sites and links
    machines: int = 1
    is_opposite: bool = False  # the arm is shown to be faster in one of them and slower in another


def pool(
    pairs: Sequence[tuple[Mapping[int, float], Mapping[int, float]]],
    alpha: float = ALPHA,
    machines: Sequence[tuple[MadeOn, MadeOn]] | None = None,
    worst: float = math.inf,
) -> Pooled | None:
    """Pool (base, arm) by round of each site and link, and which machines made them; None: one made all. None where
    none has a round with both. `worst`: the value of a trial that timed out."""
    known_of: Sequence[tuple[MadeOn, MadeOn] | None] = machines or [None] * len(pairs)
    places, most = [], 1
    for (base, arm), made_on in zip(pairs, known_of, strict=True):
        matched = strata(base, arm, made_on, worst)
        samples = [log_ratios((base[number], arm[number]) for number in rounds) for rounds in matched.rounds]
        places += [samples] if samples else []
        most = max(most, len(samples))
    if not places:
        return None
    ratio = Change.of_logarithms(signed_rank([logs for place in places for logs in place], alpha))
    return Pooled(ratio, len(places), most, are_shown_opposite(places))
