"""Whether cells have been measured well enough: a fixed number of trials, or intervals that are narrow. Pure.

Intervals are looked at after planned numbers of trials only (statistics/looks.py), each with what that look may claim.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from lanelab.analysis.statistics.looks import Look
from lanelab.analysis.statistics.strata import neither_ended
from lanelab.driver.experiment.model import Repeat

Values = Mapping[int, float]  # round -> value; the worst that there is, where the trial timed out
MadeOn = Mapping[int, int]  # round -> the machine that made it
Known = tuple[float, float, float]  # low end of an interval, estimate, high end


class Statistics(Protocol):
    """Says how well a value is known from trials. `alpha`: how often the interval may miss."""

    def median(self, values: Sequence[float], alpha: float) -> Known:
        """Return the median of a cell. Without ends, where the values are too few for such an interval."""

    def change(
        self, base: Values, arm: Values, alpha: float, machines: tuple[MadeOn, MadeOn] | None = None
    ) -> Known | None:
        """Return the ratio of an arm's values to the base's, by round. None where no round has both. `machines`: which
        made the trials of the base, and of the arm, since a round of two machines is no pair; None: one made all."""


def unknown_cells(values: Mapping[str, Values], repeat: Repeat, look: Look, statistics: Statistics) -> list[str]:
    """Return the cells whose median is not known well enough yet. One in which no trial ever counted is not among them:
    more trials would not help."""
    if repeat.ci is None:
        return []
    known = {cell: statistics.median(list(rounds.values()), look.alpha) for cell, rounds in values.items() if rounds}
    return [cell for cell, (low, median, high) in known.items() if not _is_within(low, median, high, repeat, median)]


def unknown_changes(
    pairs: Sequence[tuple[str, str]],
    values: Mapping[str, Values],
    repeat: Repeat,
    look: Look,
    statistics: Statistics,
    made_on: Mapping[str, MadeOn] | None = None,
    worst: float = math.inf,
) -> list[tuple[str, str]]:
    """Return the (base, arm) pairs of cells whose change is not known well enough yet, or not at all. A pair is left
    out where an arm has no result: more trials would not help. `made_on`: the machines of the values; None: one made
    all. `worst`: the value of a trial that timed out: where both did, a round says nothing."""
    if repeat.ci is None:
        return []

    def is_known(base: str, arm: str) -> bool:
        machines = None if made_on is None else (made_on.get(base, {}), made_on.get(arm, {}))
        of_base, of_arm = values.get(base), values.get(arm)
        if not of_base or not of_arm:
            return True
        telling = {n: value for n, value in of_base.items() if not neither_ended(value, of_arm.get(n, math.nan), worst)}
        interval = statistics.change(telling, of_arm, look.alpha, machines)
        return interval is not None and _is_within(*interval, repeat, 1.0)

    return [pair for pair in pairs if not is_known(*pair)]


def _is_within(low: float, middle: float, high: float, repeat: Repeat, whole: float) -> bool:
    """Return whether the interval reaches no further than the wanted share of the whole. One without ends does."""
    if repeat.ci is None:
        return True
    if not all(map(math.isfinite, (low, middle, high))):
        return False
    return max(high - middle, middle - low) <= repeat.ci.fraction * whole
