"""Two arms, round by round: by how much one changes what the other has.

A pair is what both arms had in one round. Where two arms differ by a factor, and noise hits both alike, the logarithms
of the pairs' ratios lie symmetrically around it. That is what the signed-rank interval of Hodges and Lehmann (1963)
asks for; its centre is the estimate.

Where several machines made rounds, each is a stratum: pairs are within a machine, and so are the means of two of them.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lanelab.analysis.statistics.median import ALPHA, ENOUGH, LEVEL, interval_of, percent
from lanelab.analysis.statistics.signed_rank import Shift, signed_rank
from lanelab.analysis.statistics.strata import MadeOn, strata

Verdict = Literal[
    "faster", "slower", "faster so far", "slower so far", "no difference shown", "too few rounds", "open: loads broke"
]
OPEN: Verdict = "open: loads broke"
LEAST_SO_FAR = 3  # rounds, all one way, before anything is said so far


@dataclass(frozen=True, slots=True)
class Change:
    """The change that an arm brings, with the interval that its n pairs speak for. Ends may be infinite, where trials
    timed out."""

    n: int
    value: float  # Hodges and Lehmann's estimate
    low: float | None  # None below two pairs
    high: float | None
    confidence: float  # how often an interval like this one holds the true change
    p: float  # two-sided, of no change
    looks: int = 1  # how often the run may have looked at its results; the confidence is that of all looks together

    @property
    def name(self) -> str:
        return interval_of(self.confidence)

    def meaning(self) -> str:
        """Return what the interval means for this n, in plain words."""
        if self.n == 1:
            return "n = 1: a single round has no interval"
        if self.confidence < LEVEL:
            return (
                f"n = {self.n}: the interval is the whole range, and holds the true change in only "
                f"{percent(self.confidence)} of such runs"
            )
        if self.looks > 1:
            share = f"at least {percent(self.confidence)} of such runs, all {self.looks} looks together"
            return f"n = {self.n}: the interval holds the true change in {share}"
        return f"n = {self.n}: the interval holds the true change in {percent(self.confidence)} of such runs"

    def of_looks(self, looks: int, alpha: float, level: float = LEVEL) -> "Change":
        """With several looks at a run, of which this one may spend `alpha`: it is as sure as all of them are, which is
        `level`."""
        if looks < 2 or self.confidence < 1 - alpha:
            return self
        return replace(self, confidence=level, looks=looks)

    @classmethod
    def of(cls, shift: Shift) -> "Change":
        low, high = (shift.low, shift.high) if shift.n > 1 else (None, None)
        return cls(shift.n, shift.value, low, high, shift.confidence if shift.n > 1 else 0.0, shift.p)

    @classmethod
    def of_logarithms(cls, shift: Shift) -> "Change":
        """Return the ratio whose logarithm it is."""
        low, high = (math.exp(shift.low), math.exp(shift.high)) if shift.n > 1 else (None, None)
        return cls(shift.n, math.exp(shift.value), low, high, shift.confidence if shift.n > 1 else 0.0, shift.p)


@dataclass(frozen=True, slots=True)
class Comparison:
    """An arm against a base, by the rounds in which both have a value."""

    ratio: Change  # of the arm's value to the base's
    difference: Change  # arm minus base, in the values' unit
    lower: int  # rounds in which the arm's value was lower
    higher: int
    left_out: int  # rounds in which only one of the two has a value, or that two machines shared
    both_timed_out: int = 0  # rounds in which neither came to an end, which say nothing about a difference
    higher_is_better: bool = False  # of the values: then the arm with the higher ones is called faster
    adjusted_p: float = 1.0  # of the ratio, with all comparisons of the run in mind
    alpha: float = ALPHA  # what it is held against
    so_far: bool = False  # the run may go on
    across_machines: int = 0  # of the rounds left out: those whose trials were made on two machines
    machines: int = 1  # that made pairs
    # The same with loads that broke, and were tried again, as worse than all others: those of the arm, and those of the
    # base. None of an arm whose loads did not break.
    bounds: tuple["Comparison", ...] = ()

    @property
    def faster(self) -> int:
        """Rounds in which the arm was faster."""
        return self.higher if self.higher_is_better else self.lower

    @property
    def slower(self) -> int:
        return self.lower if self.higher_is_better else self.higher

    @property
    def n(self) -> int:
        return self.ratio.n

    @property
    def is_final(self) -> bool:
        """Return whether a verdict is one. Below 6 rounds, and while the run may go on, it is so far."""
        return self.n >= ENOUGH and not self.so_far

    @property
    def is_shown(self) -> bool:
        """Return whether the verdict says which of the two is faster."""
        return self.verdict not in ("no difference shown", "too few rounds", OPEN)

    @property
    def p(self) -> float:
        """Return the p of what the verdict says, unadjusted."""
        return p_of_all(self.ratio, [each.ratio for each in self.bounds])

    @property
    def with_broken(self) -> Change | None:
        """Return the ratio with loads that broke, of both the one that speaks against what the rounds say by
        themselves; None where none broke."""
        ratios = [each.ratio for each in self.bounds]
        return max(ratios, key=lambda each: each.value if self.ratio.value < 1 else -each.value, default=None)

    @property
    def is_open(self) -> bool:
        """Return whether what its rounds say by themselves depends on whether loads that broke are among them."""
        return any(each.way != self.way for each in self.bounds)

    @property
    def way(self) -> int:
        """Return which way its rounds go by themselves: -1 lower, 1 higher, 0 none that can be told."""
        all_one_way = self.n >= LEAST_SO_FAR and self.n in (self.lower, self.higher)
        if not (all_one_way if self.n < ENOUGH else self.ratio.p <= self.alpha):
            return 0
        return -1 if self.ratio.value < 1 else 1

    @property
    def verdict(self) -> Verdict:
        if self.n < LEAST_SO_FAR:
            return "too few rounds"
        if self.is_open:
            return OPEN
        if not (self.way if self.n < ENOUGH else self.adjusted_p <= self.alpha):
            return "no difference shown"
        if (self.ratio.value < 1) != self.higher_is_better:
            return "faster" if self.is_final else "faster so far"
        return "slower" if self.is_final else "slower so far"


def compare(
    base: Mapping[int, float],
    arm: Mapping[int, float],
    *,
    higher_is_better: bool = False,
    alpha: float = ALPHA,
    looks: int = 1,
    machines: tuple[MadeOn, MadeOn] | None = None,
    worst: float = math.inf,
) -> Comparison | None:
    """Compare an arm with a base by round. None where no round has both. `worst`: the value of a trial that timed
    out. With several looks at a run, `alpha` is what this one may spend. `machines`: which machine made the trials of
    the base, and of the arm; None: one made all."""
    matched = strata(base, arm, machines, worst)
    by_machine = [[(base[n], arm[n]) for n in stratum] for stratum in matched.rounds]
    pairs = [pair for stratum in by_machine for pair in stratum]
    if not pairs:
        return None
    ratio = Change.of_logarithms(signed_rank([log_ratios(stratum) for stratum in by_machine], alpha))
    differences = [[value - other for other, value in stratum] for stratum in by_machine]
    return Comparison(
        ratio=ratio.of_looks(looks, alpha),
        difference=Change.of(signed_rank(differences, alpha)).of_looks(looks, alpha),
        lower=sum(value < other for other, value in pairs),
        higher=sum(value > other for other, value in pairs),
        left_out=len(base.keys() | arm.keys()) - len(pairs) - len(matched.neither),
        both_timed_out=len(matched.neither),
        higher_is_better=higher_is_better,
        adjusted_p=ratio.p,
        alpha=alpha,
        across_machines=len(matched.across),
        machines=len(by_machine),
    )


def p_of_all(left_out: Change, bounds: Sequence[Change]) -> float:
    """Return the p of a change that has to be there without loads that broke and with them as worse than all others:
    an intersection-union test (Berger 1982), so it needs no correction. `bounds`: the latter, for each arm whose loads
    broke."""
    sides = {each.value < 1 for each in (left_out, *bounds)}
    return max(each.p for each in (left_out, *bounds)) if len(sides) == 1 else 1.0


def ratio_of(base: float, arm: float) -> float:
    """Return the ratio of a pair; infinite where the base is 0 or the arm timed out, and 0 the other way round."""
    return math.exp(_log_ratio(base, arm))


def log_ratios(pairs: Iterable[tuple[float, float]]) -> list[float]:
    """The logarithm of each (base, arm) pair's ratio; infinite where one of them is 0 or timed out."""
    return [_log_ratio(base, arm) for base, arm in pairs]


def _log_ratio(base: float, arm: float) -> float:
    if base == arm:
        return 0.0
    if base == 0 or math.isinf(arm):
        return math.inf
    if arm == 0 or math.isinf(base):
        return -math.inf
    return math.log(arm / base)
