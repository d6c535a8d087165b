"""The numbers of a claim as people write them: changes in percent, margins in percentage points, values with a unit."""

import math
import re
from dataclasses import dataclass

from lanelab.driver.base.settings.source import Written
from lanelab.driver.record.metrics import Metric

_NUMBER = r"([+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+))"
_TYPESET = re.compile("[\N{MINUS SIGN}\N{EN DASH}]")  # as copied from a PDF
_PERCENT = re.compile(rf"{_NUMBER}\s*%")
_POINTS = re.compile(rf"{_NUMBER}\s*(?:pp|points)")
_VALUE = re.compile(rf"{_NUMBER}\s*([A-Za-z/%]*)")
# What one of each unit is in the unit that a metric is stored in.
_UNITS = {"ms": {"ms": 1.0, "s": 1e3}, "s": {"ms": 1e-3, "s": 1.0}, "kB": {"B": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6}}


@dataclass(frozen=True, slots=True)
class Margin:
    """How far a measured effect may lie from the published one: in percentage points of a change, as a share of a
    published value, or as an amount of it."""

    points: float = 0.0  # as a share of the base: 8pp is 0.08
    share: float = 0.0
    amount: float = 0.0


def read_percent(written: Written) -> float:
    """Read -39% as -0.39."""
    text = written.text().strip()
    match = _PERCENT.fullmatch(text)
    if not match and _TYPESET.search(text):
        raise written.error(f"{text[:40]!r} has the minus sign of a printed page", "Write a hyphen: -39%")
    if not match:
        raise written.error(f"{text[:40]!r} is no change", "Write it in percent, like -39%")
    value = float(match[1]) / 100
    if value <= -1:
        remedy = "Write a change above -100%, or claim a value: published: 0"
        raise written.error("a change of -100% leaves nothing whose share it could be", remedy)
    return _finite(value, written)


def read_share(written: Written) -> float:
    """Read 5% as 0.05: how large an effect may be and still be none."""
    value = read_percent(written)
    if not 0 < value < 1:
        raise written.error("it is no distance from no effect", "Write a margin like 5%, above 0% and below 100%")
    return value


def _finite(value: float, written: Written) -> float:
    if not math.isfinite(value):
        raise written.error("this is larger than any number here can be", "Write what was published")
    return value


def units_of(metric: Metric) -> dict[str, float]:
    """Return the units that a value may have, and what one of each is as the metric is stored."""
    return {metric.unit: metric.scale} | _UNITS.get(metric.unit, {})


def read_value(written: Written, metric: Metric) -> float:
    """Return a value of a metric, as it is stored."""
    text = written.text().strip()
    match = _VALUE.fullmatch(text)
    units = units_of(metric)
    known = {**units, "": units[metric.unit]}
    if not match or match[2] not in known:
        choices = [each for each in known if each]
        remedy = f"Write a number{f' with {choices[0]}' if choices else ''}"
        more = f", or with {' or '.join(choices[1:])}" if choices[1:] else ""
        raise written.error(f"{text[:40]!r} is no value of {metric.words}", f"{remedy}{more}")
    value = float(match[1]) * known[match[2]]
    if value < 0:
        raise written.error("it is below 0", "Write what was published")
    return _finite(value, written)


def read_margin(written: Written, metric: Metric, *, of_change: bool) -> Margin:
    text = written.text().strip()
    points, percent = _POINTS.fullmatch(text), _PERCENT.fullmatch(text)
    if of_change:
        if not points and text != "0":
            what = f"{text[:40]!r} is no margin of a change"
            raise written.error(what, "Write percentage points, like 8pp: from -39% it then reaches to -47% and -31%")
        margin = Margin(points=float(points[1]) / 100 if points else 0.0)
    elif points:
        raise written.error("percentage points are for changes", "Write a share of the value, like 5%, or an amount")
    else:
        margin = Margin(share=float(percent[1]) / 100) if percent else Margin(amount=read_value(written, metric))
    _finite(margin.points + margin.share, written)
    if min(margin.points, margin.share, margin.amount) < 0:
        raise written.error("it is below 0", "Write how far it reaches to either side")
    return margin
