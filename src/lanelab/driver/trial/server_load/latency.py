"""From how long each request took to its percentiles and its histogram. Pure."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from lanelab.driver.record.evidence.load import Latency

KEPT = 2  # significant digits of the ends of a histogram's buckets


def of_values(ms: Sequence[float]) -> Latency | None:
    """Return the latency of every value; None where there is none."""
    return of_counts(Counter(ms))


def of_counts(counts: Mapping[float, int]) -> Latency | None:
    """Return the latency from values and how often each is there. A percentile is the smallest value that so many are
    not above."""
    ordered = sorted((value, count) for value, count in counts.items() if count)
    total = sum(count for _, count in ordered)
    if not total:
        return None
    wanted = {name: math.ceil(total * share) for name, share in SHARES.items()}
    percentiles: dict[str, float] = {}
    buckets: dict[float, int] = {}
    seen = 0
    for value, count in ordered:
        seen += count
        percentiles |= {name: value for name, rank in wanted.items() if name not in percentiles and seen >= rank}
        end = bucket_end(value)
        buckets[end] = buckets.get(end, 0) + count
    return Latency(
        count=total,
        min=ordered[0][0],
        mean=sum(value * count for value, count in ordered) / total,
        max=ordered[-1][0],
        histogram=tuple(buckets.items()),
        **percentiles,
    )


SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999}


def bucket_end(value: float) -> float:
    """Return the upper end of the bucket that a value is in: the value with two digits, rounded up."""
    if value <= 0:
        return 0.0
    unit = math.floor(math.log10(value)) - KEPT + 1
    # Through text, so that an end is the same number whichever value it comes from.
    return float(f"{math.ceil(round(value * 10.0**-unit, 9))}e{unit}")
