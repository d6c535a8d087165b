"""A series of a load at one place of its course, as a metric of each trial: how long pages take at 200 users. Pure."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.driver.base.amounts import form_for
from lanelab.driver.record.load_series import SERIES
from lanelab.driver.record.load_spans import combined
from lanelab.driver.record.metrics import LOAD, Metric, metric_named
from lanelab.driver.record.series import Series

USERS, TIME = "users", "time"
AROUND_MS = 15_000.0  # to either side: 30 s in all, as the lines of figures are made of
_NAME = re.compile(r"([a-z_0-9]+)@(users|time)=(?:([0-9.]+)-)?([0-9.]+)")


@dataclass(frozen=True, slots=True)
class LoadPlace:
    """A place in a series: the first with that many users, or that many seconds after the load began. With `since` its
    value is what the series grew by since an earlier one."""

    series: str
    along: str  # USERS or TIME
    at: float
    since: float | None = None

    @property
    def name(self) -> str:
        """Return the name of the metric that it is."""
        since = "" if self.since is None else f"{self.since:g}-"
        return f"{self.series}@{self.along}={since}{self.at:g}"

    @property
    def metric(self) -> Metric:
        kind = SERIES[self.series]
        unit = form_for(self.at, "user") if self.along == USERS else "s after the load began"
        where = f"{self.at:g} {unit}"
        if self.since is not None:
            words = f"growth of {kind.words} from {self.since:g} to {where}"
        else:
            words = f"{kind.words} {'at ' if self.along == USERS else ''}{where}"
        return Metric(self.name, words, kind.unit, (LOAD,), kind.scale)

    def value(self, series: Mapping[str, Series], until_ms: float = math.inf) -> float | None:
        """Return what 30 s around the place come to, as figures combine them, less those around the earlier one. None
        where the load did not get there, or not before its generator was the limit (`until_ms`), or nothing was read
        then."""
        value = self._value_at(self.at, series, until_ms)
        if value is None or self.since is None:
            return value
        before = self._value_at(self.since, series, until_ms)
        return None if before is None else value - before

    def _value_at(self, at: float, series: Mapping[str, Series], until_ms: float) -> float | None:
        at_ms = 1000 * at if self.along == TIME else _reached_at(series, at)
        if at_ms is None or self.series not in series:
            return None
        points = series[self.series].points
        if not points or at_ms > points[-1][0] + AROUND_MS or at_ms + AROUND_MS > until_ms:
            return None
        return combined(series, self.series, at_ms - AROUND_MS, at_ms + AROUND_MS)


def _reached_at(series: Mapping[str, Series], users: float) -> float | None:
    points = series[USERS].points if USERS in series else ()
    return next((t_ms for t_ms, value in points if value >= users), None)


def place_named(name: str) -> LoadPlace | None:
    """Return what a metric of this name is about; None where it is about whole trials."""
    match = _NAME.fullmatch(name)
    if match is None or match[1] not in SERIES:
        return None
    return LoadPlace(match[1], match[2], float(match[4]), float(match[3]) if match[3] else None)


def metric_of_claim(name: str) -> Metric | None:
    """Return the metric that a claim is about: one of whole trials, or of one place of a load's course."""
    place = place_named(name)
    return place.metric if place else metric_named(name)
