"""What a chance gives in a number of tries, exactly. Pure."""

import math

ALPHA = 0.001  # a sound link is refused by chance once in a thousand tests
_FARTHEST = 12  # standard deviations: beyond them there is nothing to add up


def likely(tries: float, share: float, alpha: float = ALPHA) -> tuple[float, float]:
    """Return between which shares of `tries` the events lie, each of which comes with the chance `share`, in all but
    `alpha` of cases: exact (binomial), half of alpha beyond either end. `tries` need not be whole, where events come
    together: then the ends are half an event farther out."""
    count = max(1, round(tries))
    low, high = _binomial(count, share, alpha / 2)
    spare = 0.0 if count == tries else 0.5
    return max(0.0, (low - spare) / tries), min(1.0, (high + spare) / tries)


def _binomial(count: int, share: float, tail: float) -> tuple[int, int]:
    """Return the fewest and the most events of which neither is rarer than `tail`, taken with all beyond it."""
    if share <= 0:
        return 0, 0
    if share >= 1:
        return count, count
    mean, spread = count * share, math.sqrt(count * share * (1 - share)) + 1
    first, last = max(0, int(mean - _FARTHEST * spread)), min(count, int(mean + _FARTHEST * spread) + 1)
    chances = [math.exp(_log_chance(count, share, events)) for events in range(first, last + 1)]
    return first + _passed(chances, tail), last - _passed(chances[::-1], tail)


def _passed(chances: list[float], tail: float) -> int:
    """How many of them, from the first on, make no more than `tail` together."""
    total = 0.0
    for number, each in enumerate(chances):
        total += each
        if total > tail:
            return number
    return len(chances) - 1


def _log_chance(count: int, share: float, events: int) -> float:
    ways = math.lgamma(count + 1) - math.lgamma(events + 1) - math.lgamma(count - events + 1)
    return ways + events * math.log(share) + (count - events) * math.log1p(-share)
