"""A number with everything that can be asked of its uncertainty, by one of two procedures. Pure.

All of it is on a logarithmic scale. `above(x)` is a one-sided p: how likely data like this is where the truth is x or
less. An interval of 1 - alpha lies wholly above x exactly where it is at most alpha / 2: intervals and p values never
contradict each other.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

from lanelab.analysis.statistics.distributions import t_above, t_quantile
from lanelab.analysis.statistics.looks import ALPHA
from lanelab.analysis.statistics.signed_rank import one_sided, signed_rank

Reach = Callable[[int], float]  # by how many numbers there are


class Estimate(Protocol):
    """The estimate of a logarithm."""

    @property
    def value(self) -> float: ...

    @property
    def count(self) -> int:
        """How many independent numbers it is from."""
        ...

    def interval(self, alpha: float) -> tuple[float, float] | None:
        """Return the interval; None where there are too few numbers for it."""
        ...

    def above(self, bound: float) -> float: ...

    def below(self, bound: float) -> float: ...

    def reach(self, alpha: float) -> Reach:
        """Return how far an interval would reach to either side, from more numbers that vary as these do."""
        ...

    def error(self) -> Reach:
        """Return the interval and the standard error of the estimate."""
        ...


@dataclass(frozen=True, slots=True)
class OverBeds:
    """Student's t over one number of each bed."""

    numbers: Sequence[float]

    @property
    def count(self) -> int:
        return len(self.numbers)

    @property
    def value(self) -> float:
        return statistics.fmean(self.numbers)

    def interval(self, alpha: float) -> tuple[float, float] | None:
        reach = self.reach(alpha)(self.count)
        return self.value - reach, self.value + reach

    def reach(self, alpha: float) -> Reach:
        error = self.error()
        return lambda count: t_quantile(1 - alpha / 2, count - 1) * error(count)

    def error(self) -> Reach:
        deviation = statistics.stdev(self.numbers)
        return lambda count: deviation / math.sqrt(count)

    def above(self, bound: float) -> float:
        return self._beyond(self.value - bound)

    def below(self, bound: float) -> float:
        return self._beyond(bound - self.value)

    def _beyond(self, by: float) -> float:
        error = self.error()(self.count)
        if not error:  # beds that say exactly the same
            return float(by <= 0)
        return t_above(by / error, self.count - 1)


@dataclass(frozen=True, slots=True)
class Beyond:
    """Numbers of which some say only that the truth is at least this, or at most. Its intervals end where the known
    bounds allow it, and what lies beyond them is never passed and never excluded."""

    shown: Estimate  # of the bounds as they are
    least: Estimate | None  # of the least that the truth may be; None: that has no end
    most: Estimate | None

    @property
    def count(self) -> int:
        return self.shown.count

    @property
    def value(self) -> float:
        return self.shown.value

    def interval(self, alpha: float) -> tuple[float, float] | None:
        low = self.least.interval(alpha) if self.least else (-math.inf, 0.0)
        high = self.most.interval(alpha) if self.most else (0.0, math.inf)
        return (low[0], high[1]) if low and high else None

    def above(self, bound: float) -> float:
        return self.least.above(bound) if self.least else 1.0

    def below(self, bound: float) -> float:
        return self.most.below(bound) if self.most else 1.0

    def reach(self, alpha: float) -> Reach:
        return self.shown.reach(alpha)

    def error(self) -> Reach:
        return self.shown.error()


@dataclass(frozen=True, slots=True)
class OverRounds:
    """Signed ranks of one number of each round, or of each bed. Infinities are allowed. `machines`: which made each;
    every one is a stratum. None: one made all."""

    numbers: Sequence[float]
    machines: Sequence[int] = ()

    @property
    def strata(self) -> list[list[float]]:
        by_machine: dict[int, list[float]] = {}
        for number, machine in zip(self.numbers, self.machines or [1] * len(self.numbers), strict=True):
            by_machine.setdefault(machine, []).append(number)
        return list(by_machine.values())

    @property
    def count(self) -> int:
        return len(self.numbers)

    @property
    def value(self) -> float:
        return signed_rank(self.strata).value

    def interval(self, alpha: float) -> tuple[float, float] | None:
        test = signed_rank(self.strata, alpha)
        return (test.low, test.high) if test.confidence >= 1 - alpha else None

    def reach(self, alpha: float) -> Reach:
        ends = self.interval(alpha)
        now = (ends[1] - ends[0]) / 2 if ends else math.inf
        return lambda count: now * math.sqrt(self.count / count)

    def error(self) -> Reach:
        """Return the error as of a normal distribution whose interval is as wide."""
        reach, of_normal = self.reach(ALPHA), NormalDist().inv_cdf(1 - ALPHA / 2)
        return lambda count: reach(count) / of_normal

    def above(self, bound: float) -> float:
        return one_sided(self.strata, bound)[0]

    def below(self, bound: float) -> float:
        return one_sided(self.strata, bound)[1]
