"""Several comparisons at once: p values that hold for all of them together (Holm 1979)."""

from collections.abc import Sequence


def holm(values: Sequence[float]) -> list[float]:
    """Each p adjusted: where only those at or below alpha are believed, the chance of believing even one wrongly is at
    most alpha, however the comparisons hang together."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    adjusted = [0.0] * len(values)
    largest = 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - place) * values[i]))
        adjusted[i] = largest
    return adjusted
