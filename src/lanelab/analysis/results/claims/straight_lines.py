"""The straight line through the values of one round, by least squares: its slope, where it begins, and how well it
fits. Pure."""

import math
import statistics
from collections.abc import Sequence

from lanelab.driver.experiment.claim import ClaimKind

NS_PER_MS = 1e6


def slope_weights(xs: Sequence[float]) -> list[float]:
    """Return by what each value counts in the slope."""
    middle = statistics.fmean(xs)
    square = math.fsum((x - middle) ** 2 for x in xs)
    return [(x - middle) / square for x in xs]


def line_weights(kind: ClaimKind, xs: Sequence[float]) -> list[float]:
    """Return by what each value counts in a claim's number. A slope is over a time, and of milliseconds, so its
    number is one of round trips. How well a line fits is no such sum."""
    slopes = slope_weights(xs)
    if kind == "intercept":
        middle = statistics.fmean(xs)
        return [1 / len(xs) - middle * weight for weight in slopes]
    return [weight * NS_PER_MS for weight in slopes]


def number_of_line(kind: ClaimKind, xs: Sequence[float], values: Sequence[float]) -> float:
    """Return what a claim of this kind is about. Below 0 there is none of it."""
    if kind == "straightness":
        return statistics.correlation(xs, values) ** 2 if len(set(values)) > 1 else 1.0
    weights = line_weights(kind, xs)
    return max(0.0, math.fsum(weight * value for weight, value in zip(weights, values, strict=True)))
