"""How sure an interval has to be for a verdict: 95% and 90%, or what a run has left that looked at itself before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model.looks import ALPHA, Look, alone, look_after


@dataclass(frozen=True, slots=True)
class Levels:
    """What intervals may miss with."""

    wide: float = ALPHA  # of I95
    narrow: float = 2 * ALPHA  # of I90, whose two ends are one-sided tests at 5% each
    looks: float = 1.0  # by what a p at a look's own level is multiplied, so that it holds for all looks together


def levels_after(looks: Sequence[Look], rounds: int) -> Levels:
    """After so many rounds of a run with these looks. I95 has the look's own level. For I90 twice the chance is spent
    on all looks, in equal parts, as for I95."""
    if len(looks) == 1:
        return Levels()
    at = looks.index(look_after(looks, rounds))
    shares = [look.trials / looks[-1].trials for look in looks]
    spent = [2 * ALPHA * number / len(looks) for number in range(1, len(looks) + 1)]
    return Levels(looks[at].alpha, alone(shares, spent)[at], sum(look.alpha for look in looks) / ALPHA)
