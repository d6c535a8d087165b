"""Pairs by machine. A pair is what two arms had in one round on one machine: machines differ in speed, so a ratio of
trials from two of them says nothing of arms. Nor does a round in which neither came to its end."""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

MadeOn = Mapping[int, Hashable]  # round -> the machine of its trial


@dataclass(frozen=True, slots=True)
class Strata:
    """The rounds that make pairs, by machine, in order; those that would, had one machine made both trials; and those
    of one machine in which neither trial came to its end."""

    rounds: tuple[tuple[int, ...], ...]
    across: tuple[int, ...]
    neither: tuple[int, ...]


def neither_ended(one: float, other: float, worst: float) -> bool:
    """Return whether both values are the worst that there is, which stands for a trial that did not come to its end."""
    return one == other == worst


def strata(
    base: Mapping[int, float],
    arm: Mapping[int, float],
    machines: tuple[MadeOn, MadeOn] | None = None,
    worst: float = math.inf,
) -> Strata:
    """`machines`: of the base's and of the arm's trials; None: all were made on one. `worst`: the value of a trial that
    did not come to its end."""
    both = sorted(number for number in base.keys() & arm.keys() if base[number] >= 0 and arm[number] >= 0)
    groups: dict[Hashable, list[int]] = {}
    across, neither = [], []
    for number in both:
        of_base, of_arm = (machines[0][number], machines[1][number]) if machines else (None, None)
        if of_base != of_arm:
            across.append(number)
        elif neither_ended(base[number], arm[number], worst):
            neither.append(number)
        else:
            groups.setdefault(of_base, []).append(number)
    return Strata(tuple(tuple(rounds) for rounds in groups.values()), tuple(across), tuple(neither))
