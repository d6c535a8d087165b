"""One arm against one base over several sites and links: a signed-rank test with a stratum for each of them.

The statistics of the strata are added up, and the estimate is the middle of all Walsh averages within strata: one
change that all of them have in common. Where links have changes of their own it lies between those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.stats.median import ALPHA
from analysis.stats.paired import Change, log_ratios
from analysis.stats.signed_rank import signed_rank


@dataclass(frozen=True, slots=True)
class Pooled:
    """What an arm changes over all strata."""

    ratio: Change
    strata: int


def pool(pairs: Sequence[tuple[Mapping[int, float], Mapping[int, float]]], alpha: float = ALPHA) -> Pooled | None:
    """(base, arm) by round of each stratum. None where none has a round with both."""
    strata = []
    for base, arm in pairs:
        both = ((base[number], arm[number]) for number in sorted(base.keys() & arm.keys()))
        known = [(one, other) for one, other in both if not one == other == float("inf")]
        strata.append(log_ratios(known))
    strata = [stratum for stratum in strata if stratum]
    if not strata:
        return None
    return Pooled(Change.of_logarithms(signed_rank(strata, alpha)), len(strata))
