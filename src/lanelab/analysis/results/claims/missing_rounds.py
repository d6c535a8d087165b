"""How many rounds an inconclusive claim would probably need. Pure.

If the effect is where it seems to be, the intervals that shrink around it settle the claim as soon as they no longer
reach the boundary that they cross now. Which boundary that is depends on where the effect lies: any that would give a
verdict will do, so it is the one that needs the fewest. An estimate moves meanwhile, so room is left for that: the
rounds are those with which four of five such runs would have a verdict.

That has a limit. An effect that takes eight times as many lies as far from the boundary as its own standard error
(1.96 + 0.84 of these, squared, are 8), so beyond it nobody can say how far it lies: more than that is all there is to
say.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

from lanelab.analysis.results.claims.estimates import Estimate
from lanelab.analysis.results.claims.rules import Levels, directions, is_direction_alone, region
from lanelab.driver.experiment.claim import Claim

OF_RUNS = NormalDist().inv_cdf(0.8)
TIMES = 8  # as many rounds or beds: more is no advice


@dataclass(frozen=True, slots=True)
class Settling:
    """A verdict that the estimate points to: an interval with this alpha must reach no further than this."""

    alpha: float
    distance: float


def numbers_needed(claim: Claim, known: Estimate, levels: Levels) -> int | None:
    """Return how many beds or rounds in all; None where it takes more than TIMES as many."""
    counts_needed = [needed for each in _settling(claim, known.value, levels) if (needed := _needed(known, each))]
    return min(counts_needed, default=None)


def _settling(claim: Claim, value: float, levels: Levels) -> Iterator[Settling]:
    (low, high), (lower, higher) = region(claim), directions(claim)
    if low < value < high:
        alpha = levels.wide if is_direction_alone(claim) else levels.narrow
        yield Settling(alpha, min(value - low, high - value))
    else:
        yield Settling(levels.wide, max(low - value, value - high))
    if claim.side:
        yield Settling(levels.wide, claim.side * (value - (higher if claim.side > 0 else lower)))


def _needed(known: Estimate, settling: Settling) -> int | None:
    if not math.isfinite(known.value) or settling.distance <= 0:
        return None
    reach, error = known.reach(settling.alpha), known.error()

    def is_enough(count: int) -> bool:
        return reach(count) + OF_RUNS * error(count) <= settling.distance

    counts = range(known.count + 1, TIMES * known.count + 1)
    counts_needed = bisect_left(counts, True, key=is_enough)  # intervals only shrink as rounds are added
    return counts[counts_needed] if counts_needed < len(counts) else None
