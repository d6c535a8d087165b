"""A published statement in a form that can be checked. Pure data: an experiment file has it, a run keeps it, and the
analysis judges it.

A claim is about an effect, which is a number above 0:

- of a change: the ratio of an arm's metric to that of another arm, on the same site and link. No change is 1.
- of a trend: by what ratio a change (or a value) grows from the first to the last of the values it is drawn over.
- of a spike: the ratio of a metric at one value of a link's setting to that between its two neighbours.
- of a contrast: the ratio of a change (or a value) to that of other arms, or elsewhere.
- of a value: the metric itself, as it is stored.
- of a slope: how many round trips a metric grows by with each, along a straight line; or the ratio of that of two arms.
- of an intercept: what the straight line says of a setting of 0, as the metric is stored.
- of straightness: the share of the variation that the straight line explains (R squared).
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lanelab.driver.base.coded import Coded

ClaimKind = Literal["change", "value", "trend", "spike", "contrast", "slope", "intercept", "straightness"]
LINES: tuple[ClaimKind, ...] = ("slope", "intercept", "straightness")  # kinds that a straight line has
POINTS: dict[ClaimKind, int] = {"change": 1, "value": 1, "contrast": 2, "spike": 3}  # of the others, two or more
Quantifier = Literal["one", "every", "any", "all but", "mean"]
DIRECTIONS, OF_TREND = ("lower", "higher"), ("decreasing", "increasing")  # of an effect below 1, and above
NOT = "not "  # before one of these: what has no such direction


def directions_of(kind: ClaimKind) -> tuple[str, str]:
    return OF_TREND if kind == "trend" else DIRECTIONS


@dataclass(frozen=True, slots=True)
class Point(Coded):
    """A cell, or two of which one is compared with the other, both by their identifiers."""

    words: str
    cell: str
    base: str | None
    x: float | None  # where the point lies on what the claim is over, in the setting's smallest unit


@dataclass(frozen=True, slots=True)
class Place(Coded):
    """A place at which a claim is checked. A change and a value take one point, a trend two or more in order of x,
    those of a straight line three or more, a spike three: the neighbour below, the point itself, the neighbour above,
    and a contrast two: the one, and the other that it is compared with. The place of a claim about a mean has the
    points of each place that the mean is over, one place after the other."""

    words: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Claim(Coded):
    """One statement, with everything that its verdict depends on."""

    name: str
    says: str
    source: str  # where it was published: "study#number", or any text
    kind: ClaimKind
    of: str  # what it is about, in words: "SPDY against HTTP"
    metric: str  # a metric's name
    over: str | None  # of a trend, a spike and a straight line: the setting of the link
    published: tuple[float, ...]  # the effect, or its two ends; empty where no number was published
    margin: str  # around it, as written
    because: str  # why the margin is what it is
    low: float | None  # the region that counts as reproduced: the published effect with its margin; None: open
    high: float | None
    side: int  # of 1, on which the published effect lies: -1, 1, or 0 where there is none
    at_least: float  # share of the base by which an effect has to differ from 1 to be a direction
    equivalent: bool  # whether the claim is that there is no effect
    quantifier: Quantifier
    exceptions: int  # of `all but`
    places: tuple[Place, ...]

    @property
    def is_absolute(self) -> bool:
        """Return whether its effect is a number by itself. All others compare trials of one round, so what slows a
        round down cancels out."""
        return is_absolute(self.kind, compares=any(point.base for place in self.places for point in place.points))

    def shares_of(self, place: Place) -> list[tuple[Point, ...]]:
        """Return the points of each place that a mean is over; of any other claim, those of the place itself."""
        if self.quantifier != "mean":
            return [place.points]
        if size := POINTS.get(self.kind):
            return [place.points[at : at + size] for at in range(0, len(place.points), size)]
        return _rising(place.points)

    @property
    def digest(self) -> str:
        """Return the digest of everything in it."""
        return digest_of([self])


def _rising(points: Sequence[Point]) -> list[tuple[Point, ...]]:
    """Divide the points of several trends or straight lines: in each, what they are over rises."""
    places: list[list[Point]] = []
    last = math.inf
    for point in points:
        x = point.x if point.x is not None else -math.inf
        if x <= last:
            places.append([])
        places[-1].append(point)
        last = x
    return [tuple(place) for place in places]


def is_absolute(kind: ClaimKind, *, compares: bool) -> bool:
    return kind == "value" or (kind in LINES and not compares)


def digest_of(claims: Sequence[Claim]) -> str:
    """Return a digest that changes with any edit of any of the claims."""
    text = json.dumps([claim.to_json() for claim in claims], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
