"""Sizes that vary."""

from decimal import Decimal

from lanelab.driver.site.generate.noise import lognormal


def drawn(seed: str, median: int, count: int, spread: Decimal, step: int = 1) -> tuple[int, ...]:
    """Draw numbers around a median; multiples of `step`."""
    return tuple(int(median * factor) // step * step for factor in lognormal(seed, count, spread))


def shared(seed: str, total: int, count: int, spread: Decimal, step: int = 1) -> tuple[int, ...]:
    """Divide a sum into parts, which stay its sum to the byte. What rounding leaves goes to the largest part."""
    factors = lognormal(seed, count, spread)
    whole = sum(factors)
    sizes = [int(total * factor / whole) // step * step for factor in factors]
    sizes[sizes.index(max(sizes))] += total - sum(sizes)
    return tuple(sizes)
