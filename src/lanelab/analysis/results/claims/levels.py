"""How sure an interval has to be for a verdict: 95% and 90%, or what a run has left that looked at itself before."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from lanelab.analysis.statistics.looks import ALPHA, Look, alone, look_after


@dataclass(frozen=True, slots=True)
class Levels:
    """The chances with which intervals may miss."""

    wide: float = ALPHA  # of I95
    narrow: float = 2 * ALPHA  # of I90, whose two ends are one-sided tests at 5% each
    looks: float = 1.0  # by what a p at a look's own level is multiplied, so that it holds for all looks together


def levels_after(looks: Sequence[Look], rounds: int) -> Levels:
    """Return the levels after so many rounds of a run with these looks. I95 has the look's own level. For I90 twice the
    chance is spent on all looks, in equal parts, as for I95."""
    if len(looks) == 1:
        return Levels()
    at = looks.index(look_after(looks, rounds))
    together = sum(look.alpha for look in looks)
    return Levels(looks[at].alpha, _narrow(tuple(look.trials for look in looks))[at], together / ALPHA)


@functools.lru_cache(maxsize=64)
def _narrow(trials: tuple[int, ...]) -> list[float]:
    """Return the level of each look."""
    spent = [2 * ALPHA * number / len(trials) for number in range(1, len(trials) + 1)]
    return alone([number / trials[-1] for number in trials], spent)
