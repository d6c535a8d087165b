"""Numbers as people read them. A dash where there is none."""

import math
from collections.abc import Iterable

from lanelab.analysis.statistics import ALPHA
from lanelab.driver.record.metrics import Metric

NONE = "-"
NO_END = "no end"  # of an interval that time-outs leave open


def shown(metric: Metric, value: float | None) -> str:
    """Return a metric's value in its unit, without the unit."""
    if value is None:
        return NONE
    if metric.decimals is not None:
        return f"{value / metric.scale:.{metric.decimals}f}"
    if metric.unit == "kB":
        return kilobytes(value)
    if metric.unit == "s":
        return f"{value:.3f}"
    return count(value / metric.scale) if metric.whole else milliseconds(value / metric.scale)


def with_unit(metric: Metric, value: float) -> str:
    """Return a metric's value in words: 840 ms, 1.23 s, 12,300 requests/s."""
    return seconds(value) if metric.unit == "ms" else f"{shown(metric, value)} {metric.unit}".rstrip()


def values_of(metric: Metric) -> str:
    """What values of the metric are called: page load times."""
    return f"{metric.words}s" if metric.unit == "ms" else metric.words


def in_unit(metric: Metric) -> str:
    """What numbers of a table are: Page load times in milliseconds."""
    return f"{metric.heading}s in milliseconds" if metric.unit == "ms" else metric.heading


def milliseconds(value: float | None) -> str:
    """Return milliseconds: whole above 100, else with a decimal, so that every digit means something."""
    if value is None:
        return NONE
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}"


def difference(value: float) -> str:
    """Return milliseconds with a sign; a decimal where there would be little without."""
    if math.isinf(value):
        return NO_END
    return f"{value:+,.0f}" if abs(value) >= 10 else f"{value:+.1f}"


def seconds(ms: float) -> str:
    """Return a time in words: 840 ms, 1.23 s."""
    return f"{ms / 1000:.2f} s" if ms >= 1000 else f"{ms:.0f} ms"


def percent(value: float | None) -> str:
    return NONE if value is None else f"{value:.1f}%"


def kilobytes(value: float | None) -> str:
    """Kilobytes, with a decimal below 10: a warm load moves little, and little is not nothing."""
    if value is None:
        return NONE
    return f"{value / 1000:,.0f}" if value >= 10_000 or value == 0 else f"{max(0.1, value / 1000):.1f}"


def count(value: float | None) -> str:
    return NONE if value is None else f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def ratio(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def change_words(value: float) -> str:
    """A ratio as a change: 0.8 is -20%."""
    if math.isinf(value):
        return NO_END
    changed = 100 * (value - 1)
    return f"{changed:+.0f}%" if abs(changed) >= 10 else f"{changed:+.1f}%"


def probability(p: float) -> str:
    """Return a p with two digits that count; with more where rounding would put it on the other side of 5%."""
    if p < 0.0001:
        return "< 0.0001"
    texts = (f"{p:.{digits}g}" for digits in range(2, 18))
    return next(text for text in texts if (float(text) <= ALPHA) == (p <= ALPHA))


def size(value: float) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= factor:
            return f"{value / factor:.1f} {unit}"
    return f"{value:.0f} B"


def span(seconds_: float) -> str:
    """Return how long something took."""
    if seconds_ < 90:
        return f"{seconds_:.0f} s"
    minutes = seconds_ / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def listed(words: Iterable[str]) -> str:
    """List words: a, b and c."""
    several = list(words)
    return " and ".join([", ".join(several[:-1]), several[-1]]) if len(several) > 1 else "".join(several)
