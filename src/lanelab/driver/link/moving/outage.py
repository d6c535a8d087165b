"""Outages: a rate that is zero for a while, again and again. Pure."""

import re
from dataclasses import dataclass

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import Kind
from lanelab.driver.base.units import Duration, Rate
from lanelab.driver.link.moving.trace import SHORTEST_STEP, Trace, trace_of

_LIKE = "Write one like 500ms every 10s"


@dataclass(frozen=True, slots=True)
class Outage:
    """At the end of each period nothing passes for `lasts`: what comes waits in the queue."""

    lasts: Duration
    every: Duration

    def __str__(self) -> str:
        return f"{self.lasts} every {self.every}"

    def trace(self, rate: Rate) -> Trace:
        begins = (self.every.ns - self.lasts.ns) // 1000
        return trace_of("rate", "outage", [(0, rate.bps), (begins, 0)], self.every.ns // 1000)


def _parse(value: object, key: str) -> Outage:
    if isinstance(value, Outage):
        return value
    match = re.fullmatch(r"\s*(\S+)\s+every\s+(\S+)\s*", str(value))
    if not match:
        raise InputError(f"{str(value)[:60]!r} is no outage", _LIKE, key=key)
    lasts, every = (Duration.parse(text, key=key) for text in match.groups())
    if lasts.ns % 1000 or every.ns % 1000:
        raise InputError("an outage is told in whole microseconds", _LIKE, key=key)
    if lasts.ns < SHORTEST_STEP.ns or every.ns - lasts.ns < SHORTEST_STEP.ns:
        what = f"an outage of {lasts} every {every}: each part has to last {SHORTEST_STEP} or more"
        raise InputError(what, _LIKE, key=key)
    if not Duration.parse("1s") <= every <= Duration.parse("3600s"):
        raise InputError(f"an outage every {every} is not between every 1s and every 3600s", _LIKE, key=key)
    return Outage(lasts, every)


OUTAGE = Kind("OUTAGE", "`500ms every 10s`", _parse)
