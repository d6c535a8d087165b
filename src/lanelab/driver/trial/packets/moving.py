"""What came out of a link that moves, by its traces' own time. Pure."""

from lanelab.driver.record.evidence.moving import Carried
from lanelab.driver.trial.packets.link_evidence import frames_of
from lanelab.driver.trial.packets.timeline import Timeline

APART_US = 10_000


def carried(timeline: Timeline, began_unix_us: int, *, up: bool) -> Carried:
    """`timeline`: of the node where this direction's packets arrive. The last frame of each stretch of time is told."""
    points: list[tuple[int, int]] = []
    total = 0
    for at_ns, size in frames_of(timeline, up=up):
        total += size
        at_us = at_ns // 1000 - began_unix_us
        if points and at_us // APART_US == points[-1][0] // APART_US:
            points[-1] = (at_us, total)
        else:
            points.append((at_us, total))
    return Carried(tuple(points))
