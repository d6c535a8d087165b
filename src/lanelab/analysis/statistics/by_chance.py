"""How often rounds go one way by chance: of arms that do not differ, which share of runs has a verdict "so far". Pure.

Comparisons with one base are not independent of each other, since a slow trial of the base counts in all of them. So
the chance is simulated, seeded, with the run's own comparisons. It holds whatever the distribution of load times is:
which of two trials is slower is decided by ranks alone.
"""

import functools
import random
from collections.abc import Sequence

Pair = tuple[int, int, int]  # two cells, and the rounds that both have
DRAWS = 10_000  # so a share is known within a per cent


def one_way(pairs: Sequence[Pair]) -> float:
    """Return how often at least one of these pairs has one cell lower in all of its rounds, where no cells differ."""
    none = 1.0
    for part in _connected(pairs):
        none *= 1 - _of_part(part)
    return 1 - none


def _connected(pairs: Sequence[Pair]) -> list[tuple[Pair, ...]]:
    """Return the pairs that share cells with each other, with their cells numbered from 0, so that links look alike."""
    parts: list[list[Pair]] = []
    for pair in pairs:
        touching = [part for part in parts if any({*other[:2]} & {*pair[:2]} for other in part)]
        parts = [part for part in parts if part not in touching]
        parts.append([*(one for part in touching for one in part), pair])
    return [_numbered(part) for part in parts]


def _numbered(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    numbers = {cell: at for at, cell in enumerate(dict.fromkeys(cell for pair in pairs for cell in pair[:2]))}
    return tuple((numbers[one], numbers[other], rounds) for one, other, rounds in pairs)


@functools.lru_cache(maxsize=64)
def _of_part(pairs: tuple[Pair, ...]) -> float:
    if len(pairs) == 1:
        return float(2.0 ** (1 - pairs[0][2]))
    rng = random.Random(repr(pairs))  # noqa: S311 - chance for statistics, not for secrets
    cells, most = 1 + max(max(pair[:2]) for pair in pairs), max(rounds for _, _, rounds in pairs)
    hits = 0
    for _ in range(DRAWS):
        draws = [[rng.random() for _ in range(cells)] for _ in range(most)]
        hits += any(
            sum(each[one] < each[other] for each in draws[:rounds]) in (0, rounds) for one, other, rounds in pairs
        )
    return hits / DRAWS
