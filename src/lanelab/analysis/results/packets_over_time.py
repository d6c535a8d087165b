"""The packets of a connection over time: where their bytes belong, what was acknowledged, what came late. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lanelab.driver.trial.packets.sequence import NUMBERS, signed
from lanelab.driver.trial.packets.timeline import ACK, SYN, Packet, Stream

MOST_DRAWN = 6  # connections of one load


class Segment(NamedTuple):
    """Payload of one packet from the server, by its place among all bytes of the connection."""

    at: float  # ms
    start: int
    end: int
    late: bool  # bytes beyond it had come before: it was sent again, or overtaken
    number: int  # of the packet in the capture


class Acknowledged(NamedTuple):
    at: float
    until: int
    selective: bool  # it tells of what came beyond a gap


@dataclass(frozen=True, slots=True)
class PacketsOverTime:
    """The packets of one connection, down."""

    port: int
    server: str
    segments: tuple[Segment, ...]
    acknowledged: tuple[Acknowledged, ...]

    @property
    def bytes(self) -> int:
        return max((segment.end for segment in self.segments), default=0)

    @property
    def late(self) -> int:
        return sum(segment.late for segment in self.segments)


def busiest(streams: Sequence[Stream], asked_ns: int, end: float) -> tuple[PacketsOverTime, ...]:
    """Return the connections with most payload, in the order of their beginning."""
    carried = sorted(streams, key=lambda stream: -sum(packet.payload for packet in stream.down))[:MOST_DRAWN]
    chosen = [stream for stream in streams if stream in carried and any(packet.payload for packet in stream.down)]
    return tuple(of_stream(stream, asked_ns, end) for stream in chosen)


def of_stream(stream: Stream, asked_ns: int, end: float) -> PacketsOverTime:
    """Return all packets until this moment, in ms."""

    def at(packet: Packet) -> float:
        return (packet.at_ns - asked_ns) / 1_000_000

    first = next((packet for packet in stream.down), None)
    begin = 0 if first is None else (first.seq + bool(first.flags & SYN)) & NUMBERS
    segments: list[Segment] = []
    acknowledged: list[Acknowledged] = []
    highest = 0
    for packet in stream.packets:
        moment = at(packet)
        if moment > end:
            break
        if packet.up and not packet.flags & ACK:
            continue  # its first one, which acknowledges nothing
        if packet.up:
            until = signed(packet.ack - begin)
            if until > 0 or packet.sacks:
                acknowledged.append(Acknowledged(moment, max(0, until), packet.sacks))
        elif packet.payload:
            start = signed(packet.seq - begin)
            segments.append(Segment(moment, start, start + packet.payload, start < highest, packet.number))
            highest = max(highest, start + packet.payload)
    return PacketsOverTime(
        stream.client[1], f"{stream.server[0]}:{stream.server[1]}", tuple(segments), tuple(acknowledged)
    )
