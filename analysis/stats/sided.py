"""One-sided questions about an effect: how likely are these values, where it is no more (or no less) than a bound?

Either across beds or within a run, and each p value belongs to the interval of the same name: where the p value of "no
more than the bound" is 5%, the bound is the lower end of the 90% interval.

Values are logarithms. An infinite one stands for a time-out: it is further than every bound, to its side.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from analysis.distributions import t_above, t_quantile
from analysis.stats.signed_rank import p_above, signed_rank

LEAST_PAIRS = 6  # of which a signed-rank interval holds 95%
LEAST_BEDS = 3


class Located(Protocol):
    """Where an effect lies."""

    @property
    def value(self) -> float: ...

    def p_above(self, bound: float) -> float:
        """The chance of values as high as these where the effect is at the bound or below."""

    def p_below(self, bound: float) -> float:
        """The chance of values as low as these where the effect is at the bound or above."""

    def interval(self, alpha: float) -> tuple[float, float]:
        """Misses the effect with this chance at most."""


@dataclass(frozen=True, slots=True)
class AcrossBeds:
    """Student's t over one value of each bed, of three beds or more."""

    values: tuple[float, ...]

    @property
    def value(self) -> float:
        return statistics.fmean(self.values)

    @property
    def _error(self) -> float:
        return statistics.stdev(self.values) / math.sqrt(len(self.values))

    def p_above(self, bound: float) -> float:
        away, error = self.value - bound, self._error
        if not error:
            return 0.0 if away > 0 else 1.0
        return t_above(away / error, len(self.values) - 1)

    def p_below(self, bound: float) -> float:
        return AcrossBeds(tuple(-value for value in self.values)).p_above(-bound)

    def interval(self, alpha: float) -> tuple[float, float]:
        reach = t_quantile(1 - alpha / 2, len(self.values) - 1) * self._error
        return self.value - reach, self.value + reach


@dataclass(frozen=True, slots=True)
class WithinRun:
    """The signed-rank test over all rounds of a run, which says nothing about another run."""

    values: tuple[float, ...]

    @property
    def value(self) -> float:
        return signed_rank([self.values]).value

    def p_above(self, bound: float) -> float:
        return p_above([value - bound for value in self.values])

    def p_below(self, bound: float) -> float:
        return p_above([bound - value for value in self.values])

    def interval(self, alpha: float) -> tuple[float, float]:
        shift = signed_rank([self.values], alpha)
        return shift.low, shift.high


def locate(by_bed: Sequence[Sequence[float]], pairs: Sequence[float]) -> Located | None:
    """`by_bed`: the values of each bed, one bed's after another's; `pairs`: all values of the run. None where there are
    too few for an interval of 95%."""
    if len(by_bed) >= LEAST_BEDS:
        middles = tuple(signed_rank([values]).value for values in by_bed)
        return AcrossBeds(middles) if all(map(math.isfinite, middles)) else None
    return WithinRun(tuple(pairs)) if len(pairs) >= LEAST_PAIRS else None
