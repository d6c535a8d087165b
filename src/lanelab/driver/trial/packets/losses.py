"""Packets that the link lost, as the client's capture alone can tell. Pure.

Down, a lost packet leaves a gap: a later one of its connection comes first, and it comes when it is sent again. A gap
counts as many packets as fill it, and at least as many as its bytes take: ends of answers make short ones. The last
packet of what the server has to say leaves none, so it does not count as one whose loss would show. Up, what is
lost the client sends again; where it does so for nothing, the acknowledgement echoes when it sent the first, or says
that the server got something twice: of its last packet, as where an answer was lost, Linux echoes when it came again.

A gap that is filled by a packet which was sent before the one that showed the gap was no loss: it was overtaken.
"""

import itertools
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lanelab.driver.base.units import NS_PER_S
from lanelab.driver.link import HEADER, Direction, Link
from lanelab.driver.record.evidence.link import Losses
from lanelab.driver.trial.packets.sequence import HALF, NUMBERS
from lanelab.driver.trial.packets.timeline import FIN, SYN, Packet, Stream, Timeline

BUSY, BUSY_NS = 1.3, 20_000_000  # frames that came within this times what the rate takes, and this much, had to wait
FULL = 0.8  # of the queue's length: with so many before it a packet may have found it full
FULL_SHAPER = 0.3  # the same of a queue in bytes, whose shaper falls behind where the router wakes late
STANDING_FRAMES = 4  # from which on fq_codel and cake may drop
AGAIN_NS = 1_000_000_000  # how long before a packet others of its flight may have been dropped, of which it is a repeat


class _Frame(NamedTuple):
    number: int
    at_ns: int
    size: int


@dataclass(slots=True)
class _Gap:
    since_ns: int  # from when on its packets may have been dropped
    packet: Packet  # that showed it
    start: int  # how far into its connection, counted on beyond 2^32
    length: int
    overtaken: bool = False
    filled_at: set[int] = field(default_factory=set)  # where the packets begin that filled it


@dataclass(slots=True)
class _Seen:
    """The segments of one connection, as far as they were seen."""

    visible: int = 0
    gaps: list[_Gap] = field(default_factory=list)


def losses_down(client: Timeline, link: Link, rtt_ns: Callable[[Stream], int]) -> Losses:
    """Count the losses of all connections. `rtt_ns`: of a connection."""
    visible = lost = overflowed = 0
    frames = sorted(
        _Frame(packet.number, packet.at_ns, packet.frame_bytes)
        for stream in client.streams
        for packet in stream.packets
        if not packet.up
    )
    full_at = _full_at(frames, link.down, link.mtu)
    for stream in client.streams:
        seen = _gaps(stream, rtt_ns(stream))
        segment = max((packet.payload for packet in stream.packets if not packet.up), default=0)
        missing = [gap for gap in seen.gaps if not gap.overtaken]
        counts = [max(-(-gap.length // segment), len(gap.filled_at)) for gap in missing]
        visible += seen.visible + sum(counts)
        lost += sum(counts)
        overflowed += sum(
            count
            for gap, count in zip(missing, counts, strict=True)
            if _may_have_overflowed(frames, full_at, gap, link.down)
        )
    return Losses(visible, lost, overflowed)


def _gaps(stream: Stream, rtt_ns: int) -> _Seen:
    """What was missing when something later came, and how many packets had one behind them that would have shown it."""
    seen, expected, place = _Seen(), None, 0
    before_ns = earlier_ns = 0  # when the last packet came, and the one before it
    recent = deque[int]()  # when packets came that nothing later has followed yet
    for packet in stream.packets:
        if packet.up or (not packet.payload and not packet.flags & SYN):
            continue
        end = (packet.seq + packet.payload + bool(packet.flags & SYN)) & NUMBERS
        ahead = 0 if expected is None else (packet.seq - expected) & NUMBERS
        if expected is not None and ahead >= HALF:
            _fill(seen.gaps, packet, place - (NUMBERS + 1 - ahead), rtt_ns)
            continue
        if ahead and expected is not None:
            since_ns = min(earlier_ns or before_ns, before_ns - AGAIN_NS)
            seen.gaps.append(_Gap(since_ns, packet, place, ahead))
        while recent and packet.at_ns - recent[0] > rtt_ns:
            recent.popleft()
        seen.visible += len(recent)
        recent.clear()
        if packet.payload:
            recent.append(packet.at_ns)
        place += ahead + packet.payload + bool(packet.flags & SYN)
        expected, earlier_ns, before_ns = end, before_ns, packet.at_ns
    return seen


def _fill(gaps: Sequence[_Gap], packet: Packet, start: int, rtt_ns: int) -> None:
    """Fill gaps by TCP's own time of sending where there is one, else by how soon it came. The gaps are in order."""
    at = bisect_right(gaps, start, key=lambda gap: gap.start) - 1
    if at < 0 or start - gaps[at].start >= gaps[at].length:
        return
    gap = gaps[at]
    gap.filled_at.add(start)
    if packet.timestamp and gap.packet.timestamp:
        later = (packet.timestamp[0] - gap.packet.timestamp[0]) & NUMBERS
        gap.overtaken = later == 0 or later >= HALF
    else:
        gap.overtaken = packet.at_ns - gap.packet.at_ns < rtt_ns // 2


def _full_at(frames: Sequence[_Frame], way: Direction, mtu: int) -> list[int]:
    """Return the frames, by their place, before which as many as the queue holds came one behind the other."""
    if way.rate is None:
        return []
    full = mtu + HEADER
    held = way.queue_packets or (way.queue_bytes or 0) // full
    share = FULL if way.queue_packets is not None else FULL_SHAPER
    held = min(held, STANDING_FRAMES) if way.discipline != "fifo" else max(1, round(held * share) - 1)
    sent = [0, *itertools.accumulate(frame.size for frame in frames)]
    ns_per_byte = 8 * NS_PER_S / way.rate.bps * BUSY
    return [
        at
        for at in range(held, len(frames))
        if frames[at].at_ns - frames[at - held].at_ns <= (sent[at + 1] - sent[at - held + 1]) * ns_per_byte + BUSY_NS
    ]


def _may_have_overflowed(frames: Sequence[_Frame], full_at: Sequence[int], gap: _Gap, way: Direction) -> bool:
    """Return whether the queue may have been full at any time at which packets of the gap may have been dropped: before
    the one that showed it, but not long before the last one without a gap. That may itself have been dropped with them,
    and sent again when TCP's timer went off."""
    if way.moves:  # where rates change nobody knows what the queue held
        return True
    first = bisect_left(frames, gap.since_ns, key=lambda frame: frame.at_ns)
    last = bisect_left(frames, gap.packet.number, key=lambda frame: frame.number)
    return bisect_left(full_at, first) < bisect_right(full_at, last)


def losses_up(client: Timeline, link: Link) -> Losses:
    visible = lost = 0
    frames = [packet for stream in client.streams for packet in stream.packets if packet.up]
    for stream in client.streams:
        sent, first_again = set[int](), dict[int, Packet]()
        for packet in _as_long_as_it_is_told(stream):
            if packet.up and packet.payload:
                if packet.seq in sent:
                    first_again.setdefault(packet.seq, packet)
                sent.add(packet.seq)
        visible += len(sent)
        missed = sum(not _had_arrived(stream, packet) for packet in first_again.values())
        lost += max(0, missed - _told_twice(stream))
    return Losses(visible, lost, lost if _may_overflow(frames, link.up, link.mtu) else 0)


def _as_long_as_it_is_told(stream: Stream) -> Iterator[Packet]:
    """Without timestamps up to the server's FIN: one that has closed answers what comes twice with a reset, which says
    nothing of the first."""
    for packet in stream.packets:
        yield packet
        if not packet.up and packet.flags & FIN and packet.timestamp is None:
            return


def _had_arrived(stream: Stream, again: Packet) -> bool:
    """Return whether it was sent again for nothing: the first acknowledgement echoes the time of an earlier packet, or
    says that it came twice."""
    end = (again.seq + again.payload) & NUMBERS
    begin = bisect_right(stream.packets, again.number, key=lambda packet: packet.number)
    for packet in itertools.islice(stream.packets, begin, None):
        if not packet.up and (packet.ack - end) & NUMBERS < HALF:
            if packet.timestamp is None or again.timestamp is None:
                return False
            return _got_twice(packet) == again.seq or (packet.timestamp[1] - again.timestamp[0]) & NUMBERS >= HALF
    return True  # nobody knows: the capture ended


def _told_twice(stream: Stream) -> int:
    """Return how often a server without timestamps says that it got something for the second time."""
    answers = (each for each in stream.packets if not each.up and each.timestamp is None)
    return sum(_got_twice(packet) is not None for packet in answers)


def _got_twice(packet: Packet) -> int | None:
    """Return where that begins of which it says that it came for the second time: a selective acknowledgement of what
    it has acknowledged (RFC 2883)."""
    if packet.block is None or (packet.ack - packet.block[1]) & NUMBERS >= HALF:
        return None
    return packet.block[0]


def _may_overflow(frames: Sequence[Packet], way: Direction, mtu: int) -> bool:
    """Return whether the client ever sent enough to fill the queue."""
    if way.rate is None or way.moves:
        return way.moves
    held = way.queue_packets or (way.queue_bytes or 0) // (mtu + HEADER)
    return len(frames) >= (min(held, STANDING_FRAMES) if way.discipline != "fifo" else held)
