"""Pairs by machine. A pair is what two arms had in one round on one machine: machines differ in speed, so a ratio of
trials from two of them says nothing of arms."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

MadeOn = Mapping[int, Hashable]  # round -> the machine of its trial


@dataclass(frozen=True, slots=True)
class Strata:
    """The rounds that make pairs, by machine, in order; and those that would, had one machine made both trials."""

    rounds: tuple[tuple[int, ...], ...]
    across: tuple[int, ...]


def strata(
    base: Mapping[int, float], arm: Mapping[int, float], machines: tuple[MadeOn, MadeOn] | None = None
) -> Strata:
    """`machines`: of the base's and of the arm's trials; None: all were made on one."""
    both = sorted(number for number in base.keys() & arm.keys() if base[number] >= 0 and arm[number] >= 0)
    if machines is None:
        return Strata((tuple(both),), ())
    of_base, of_arm = machines
    groups: dict[Hashable, list[int]] = {}
    across = []
    for number in both:
        if of_base[number] == of_arm[number]:
            groups.setdefault(of_base[number], []).append(number)
        else:
            across.append(number)
    return Strata(tuple(tuple(rounds) for rounds in groups.values()), tuple(across))
