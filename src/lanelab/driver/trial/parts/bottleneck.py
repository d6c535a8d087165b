"""When the bottleneck was busy with answers. Pure.

A frame that arrives was on the bottleneck just before, for as long as the rate says. Frames that come closer together
than that had left it earlier, and came late (a router that slept, a shaper that lets bursts pass): they are put back to
back, the last one where it came. So a load is as long on the bottleneck as its bytes take, however they arrive.
"""

from collections.abc import Sequence
from typing import NamedTuple

from lanelab.driver.trial.parts.streams import Course, Wire


class Busy(NamedTuple):
    """A time in which frames followed each other."""

    begin: int
    end: int
    new: bool  # False: they had nothing that the client did not have
    course: int  # the connection of the first of them


def busy(courses: Sequence[Course], wire: Wire, pause: int) -> list[Busy]:
    """In order. `pause`: so long a time between two frames is no pause of the bottleneck."""
    frames = sorted(
        (packet.at_ns, packet.frame_bytes, number, packet.number, packet.payload > 0 and packet.at_ns > course.set_up)
        for number, course in enumerate(courses)
        for packet in course.stream.packets
        if not packet.up
    )
    result: list[Busy] = []
    free = frames[-1][0] if frames else 0
    for at, size, number, packet, answers in reversed(frames):
        end = min(at, free)
        begin = free = end - wire.frame_ns(size)
        if not answers:
            continue
        new = packet not in courses[number].again
        last = result[-1] if result else None
        if last and last.new == new and last.begin - end <= pause:
            result[-1] = Busy(begin, last.end, new, number)
        else:
            result.append(Busy(begin, end, new, number))
    return result[::-1]
