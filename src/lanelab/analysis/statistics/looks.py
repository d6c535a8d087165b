"""When a run that goes on until it knows enough looks at its results, and what each look may claim. Pure.

Who looks after every trial and stops when it looks well claims 95% and has less. So such a run looks after planned
numbers of trials only, and its looks share what one look alone would have: 5% of being wrong, of which each may spend
an equal part (an alpha spending function, Lan and DeMets 1983). What a look may be wrong by itself is more than that,
because it is often wrong together with an earlier one. How often is worked out for statistics that grow like a random
walk (Armitage, McPherson and Rowe 1969): counts of values on one side of a median, and signed ranks.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

ALPHA = 0.05
POINTS = 101  # of Simpson's rule between two boundaries: odd
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Look:
    """A look at the results, after so many trials of each cell."""

    trials: int
    alpha: float  # its intervals may miss with this chance: those of all looks together miss with 5% at most


def only_look(trials: int) -> tuple[Look, ...]:
    """Return the look of a run with a fixed number of trials."""
    return (Look(trials, ALPHA),)


@functools.cache
def looks(least: int, most: int) -> tuple[Look, ...]:
    """Return the looks after `least` trials, twice as many, and so on, and after `most`. Those are left out that come
    so early that no interval can be as sure as it would have to be: n trials have none above 1 - 2^(1-n)."""
    planned = [least]
    while planned[-1] * 2 < most:
        planned.append(planned[-1] * 2)
    planned += [most] if most > planned[-1] else []
    while len(planned) > 1:
        levels = alone([number / most for number in planned])
        early = next(
            (i for i, (n, alpha) in enumerate(zip(planned, levels, strict=True)) if 2.0 ** (1 - n) > alpha), None
        )
        if early is None:
            return tuple(map(Look, planned, levels))
        del planned[early]
    return only_look(planned[0] if planned[0] == most else most)


def look_after(planned: Sequence[Look], trials: int) -> Look:
    """The first look at that many trials or more: what may be claimed now must not use more than it then may."""
    return next((look for look in planned if look.trials >= trials), planned[-1])


def alone(shares: Sequence[float], spent: Sequence[float] = ()) -> list[float]:
    """Return the two-sided alpha of each look by itself, where looks come at these shares of the most trials. `spent`:
    what all looks until then may be wrong together, where that is not an equal part for each."""
    together = spent or [ALPHA * number / len(shares) for number in range(1, len(shares) + 1)]
    levels: list[float] = []
    within: _Within | None = None
    before = 0.0
    for share, may in zip(shares, together, strict=True):
        if within is None:
            boundary = _NORMAL.inv_cdf(1 - may / 2) * math.sqrt(share)
            within = _Within.first(share, boundary)
        else:
            boundary = within.boundary(share, may - before)
            within = within.then(share, boundary)
        levels.append(2 * (1 - _NORMAL.cdf(boundary / math.sqrt(share))))
        before = may
    return levels


@dataclass(frozen=True)
class _Within:
    """The places where a random walk may be at a look (its time is the share of trials), if it never left the
    boundaries."""

    share: float
    places: Sequence[float]
    weights: Sequence[float]  # chance densities there, times Simpson's weights

    @classmethod
    def first(cls, share: float, boundary: float) -> "_Within":
        places = _places(boundary)
        law = NormalDist(0, math.sqrt(share))
        return cls(share, places, _weighted(places, [law.pdf(place) for place in places]))

    def then(self, share: float, boundary: float) -> "_Within":
        places = _places(boundary)
        law = NormalDist(0, math.sqrt(share - self.share))
        densities = [
            math.fsum(
                weight * law.pdf(place - before) for before, weight in zip(self.places, self.weights, strict=True)
            )
            for place in places
        ]
        return _Within(share, places, _weighted(places, densities))

    def leaves(self, share: float, boundary: float) -> float:
        """Return the chance that it stayed until now and is beyond the boundary then."""
        law = NormalDist(0, math.sqrt(share - self.share))
        return 2 * math.fsum(
            weight * law.cdf(before - boundary) for before, weight in zip(self.places, self.weights, strict=True)
        )

    def boundary(self, share: float, chance: float) -> float:
        low, high = 0.0, 9.0 * math.sqrt(share)
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if self.leaves(share, middle) > chance else (low, middle)
        return high


def _places(boundary: float) -> list[float]:
    return [boundary * (2 * i / (POINTS - 1) - 1) for i in range(POINTS)]


def _weighted(places: Sequence[float], densities: Sequence[float]) -> list[float]:
    step = (places[1] - places[0]) / 3
    inner = [4 if i % 2 else 2 for i in range(len(places))]
    return [density * step * (1 if i in (0, len(places) - 1) else inner[i]) for i, density in enumerate(densities)]
