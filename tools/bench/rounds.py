"""Two servers that were loaded in turns, as figures: requests per second, and processor time."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tools.bench.figures import Figure

LEAST_RATIO = 1.0


@dataclass(frozen=True, slots=True)
class Round:
    """The work of one server in one round."""

    requests_per_s: float
    processor_us: float  # of the server's, for each request


def compared(what: str, names: tuple[str, str], ours: Sequence[Round], others: Sequence[Round]) -> list[Figure]:
    """Compare requests per second, and processor time, which is steadier where others use the machine too."""
    rates = tuple(one.requests_per_s / other.requests_per_s for one, other in zip(ours, others, strict=True))
    times = tuple(other.processor_us / one.processor_us for one, other in zip(ours, others, strict=True))
    medians = [statistics.median(each.requests_per_s for each in rounds) for rounds in (ours, others)]
    took = [statistics.median(each.processor_us for each in rounds) for rounds in (ours, others)]
    ratio = statistics.median(rates)
    return [
        Figure(
            f"{what}: requests/s of {names[0]} / of {names[1]}",
            f"{ratio:.2f} ({medians[0]:,.0f} and {medians[1]:,.0f})",
            f">= {LEAST_RATIO}", ratio >= LEAST_RATIO, rates,
        ),
        Figure(
            f"{what}: processor time of {names[1]} / of {names[0]}",
            f"{statistics.median(times):.2f} ({took[1]:,.0f} and {took[0]:,.0f} µs a request)", "", None, times,
        ),
    ]  # fmt: skip
