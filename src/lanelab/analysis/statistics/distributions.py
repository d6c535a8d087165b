"""Student's t and Fisher's F, by the incomplete beta function. Pure.

Quantiles by bisection: a result has a few dozen of them, and no library is needed for that.
"""

import functools
import math

_TINY = 1e-300
_STEPS = 400


def t_above(t: float, df: float) -> float:
    """Return how likely Student's t is above this."""
    half = incomplete_beta(df / 2, 0.5, df / (df + t * t)) / 2
    return half if t >= 0 else 1 - half


@functools.cache
def t_quantile(share: float, df: float) -> float:
    """Return the t below which it is with this chance, of 0.5 and more."""
    low, high = 0.0, 1.0
    while t_above(high, df) > 1 - share:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:  # there is no number between them
            break
        if t_above(middle, df) > 1 - share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def f_above(f: float, df1: float, df2: float) -> float:
    """Return how likely Fisher's F is above this."""
    return 1.0 if f <= 0 else incomplete_beta(df2 / 2, df1 / 2, df2 / (df2 + df1 * f))


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction (Lentz's method)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    ways = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(ways + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1 / _away_from_0(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _STEPS):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away_from_0(1 + step * d)
            c = _away_from_0(1 + step / c)
            value *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return value


def _away_from_0(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
