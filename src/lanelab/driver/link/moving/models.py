"""Models that make traces: what rates and delays of moving links are like, without a recording of anybody's. Pure: a
seed in, a trace out. docs/moving-links.md describes them, and says what their numbers are chosen by."""

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lanelab.driver.link.moving.trace import Trace, What, trace_of

KBIT, MBIT = 1000, 1_000_000
US_PER_S, US_PER_MS = 1_000_000, 1000
EARTH_KM, LIGHT_KM_PER_S = 6371.0, 299_792.458


@dataclass(frozen=True, slots=True)
class Fading:
    """A Gauss-Markov process: the logarithm of the rate is normal, and remembers its value for `memory_s`."""

    mean_bps: int
    spread: float  # standard deviation of the rate's natural logarithm
    memory_s: float  # after that time its autocorrelation is 1/e
    least_bps: int
    most_bps: int

    def values(self, chance: random.Random, step_s: float) -> Iterator[int]:
        kept = math.exp(-step_s / self.memory_s)
        state = chance.gauss(0, 1)
        while True:
            rate = self.mean_bps * math.exp(self.spread * state - self.spread**2 / 2)
            yield _round(min(max(rate, self.least_bps), self.most_bps), KBIT)
            state = kept * state + math.sqrt(1 - kept**2) * chance.gauss(0, 1)


@dataclass(frozen=True, slots=True)
class Tunnels:
    """Fading that is cut off: times with and without cover are exponential."""

    fading: Fading
    covered_s: float  # on average
    cut_off_s: float

    def values(self, chance: random.Random, step_s: float) -> Iterator[int]:
        covered = True
        for rate in self.fading.values(chance, step_s):
            yield rate if covered else 0
            if chance.random() < 1 - math.exp(-step_s / (self.covered_s if covered else self.cut_off_s)):
                covered = not covered


@dataclass(frozen=True, slots=True)
class Sharing:
    """A cell or an access point that others use: they come at random, stay for a while, and each has an equal share."""

    capacity_bps: int
    others: float  # at a time, on average
    stay_s: float  # of each, on average

    def values(self, chance: random.Random, step_s: float) -> Iterator[int]:
        present = round(self.others)
        while True:
            yield _round(self.capacity_bps / (1 + present), KBIT)
            leaving = 1 - math.exp(-step_s / self.stay_s)
            present -= sum(chance.random() < leaving for _ in range(present))
            present += _poisson(chance, self.others * step_s / self.stay_s)


@dataclass(frozen=True, slots=True)
class Square:
    """Two values in turns."""

    first: int
    second: int
    each_s: float

    def values(self, _: random.Random, step_s: float) -> Iterator[int]:
        at = 0
        while True:
            yield self.second if int(at * step_s / self.each_s) % 2 else self.first
            at += 1


@dataclass(frozen=True, slots=True)
class Satellites:
    """The one-way delay over a satellite in a low orbit: another one in each slot, at an elevation drawn at random,
    which it leaves as it flies on. Packets go up to it and down to a gateway that sees it as high. The rest is the
    ground's."""

    height_km: float
    slot_s: float
    lowest_deg: float
    drift_deg_per_s: float
    ground_ms: float

    def values(self, chance: random.Random, step_s: float) -> Iterator[int]:
        at, slot = 0, -1
        elevation = drift = 0.0
        while True:
            if int(at * step_s / self.slot_s) != slot:
                slot = int(at * step_s / self.slot_s)
                elevation = chance.uniform(self.lowest_deg, 90)
                drift = chance.choice((-1, 1)) * self.drift_deg_per_s
            way_s = 2 * self.slant_km(elevation) / LIGHT_KM_PER_S
            yield _round(way_s * US_PER_S + self.ground_ms * US_PER_MS, 10)
            elevation += drift * step_s
            if not self.lowest_deg <= elevation <= 90:
                drift = -drift
                elevation += 2 * drift * step_s
            at += 1

    def slant_km(self, elevation_deg: float) -> float:
        """Return how far a satellite is that stands so high."""
        rise = EARTH_KM * math.sin(math.radians(elevation_deg))
        return math.sqrt(rise**2 + 2 * EARTH_KM * self.height_km + self.height_km**2) - rise


Model = Fading | Tunnels | Sharing | Square | Satellites


@dataclass(frozen=True, slots=True)
class Recipe:
    """The way in which a trace of the library is made."""

    title: str
    what: What
    model: Model
    step_s: float
    length_s: float
    seed: int = 1

    def trace(self, name: str) -> Trace:
        count, step_us = round(self.length_s / self.step_s), round(self.step_s * US_PER_S)
        values = self.model.values(random.Random(self.seed), self.step_s)  # noqa: S311 - no secret
        steps = [(number * step_us, next(values)) for number in range(count)]
        return trace_of(self.what, name, steps, count * step_us)

    def about(self) -> str:
        """Return the comment at the head of its file."""
        return (
            f"{self.title}\nMade by a model, not recorded: {self.model}\nsteps of {self.step_s:g} s, seed {self.seed}"
        )


LIBRARY: Mapping[str, Recipe] = {
    "3g-walking": Recipe(
        "The downlink of a phone on 3G (HSPA) that is carried through a town", "rate",
        Fading(1_600 * KBIT, 0.5, 5, 200 * KBIT, 5 * MBIT), 0.5, 120),
    "lte-still": Recipe(
        "The downlink of a phone on LTE that lies on a table", "rate",
        Fading(18 * MBIT, 0.25, 2, 6 * MBIT, 40 * MBIT), 0.5, 120),
    "lte-driving": Recipe(
        "The downlink of a phone on LTE in a moving car", "rate",
        Fading(10 * MBIT, 0.8, 3, 400 * KBIT, 40 * MBIT), 0.5, 120),
    "train-tunnels": Recipe(
        "The downlink of a phone in a train: LTE with tunnels and gaps between cells", "rate",
        Tunnels(Fading(6 * MBIT, 0.7, 3, 300 * KBIT, 25 * MBIT), 12, 2), 0.5, 120),
    "wifi-shared": Recipe(
        "An access point that some others use at the same time", "rate",
        Sharing(24 * MBIT, 2.5, 8), 0.5, 120),
    "square-1-8": Recipe(
        "For lectures: five seconds of 8 Mbit/s, five seconds of 1 Mbit/s", "rate",
        Square(8 * MBIT, 1 * MBIT, 5), 5, 10),
    "leo-delay": Recipe(
        "One-way delays over satellites in a low orbit, another one every 15 seconds", "delay",
        Satellites(550, 15, 25, 0.5, 8), 1, 120),
}  # fmt: skip


def _round(value: float, unit: int) -> int:
    return round(value / unit) * unit


def _poisson(chance: random.Random, mean: float) -> int:
    """Knuth's way, for small means."""
    limit, product, count = math.exp(-mean), chance.random(), 0
    while product > limit:
        product *= chance.random()
        count += 1
    return count
