"""What one TCP connection did: when it was set up, when the bottleneck delivered it, when it missed something. Pure.

A lost packet shows at the client in three ways. What came after it leaves a hole in the sequence until it comes again.
Where nothing came after it, there is silence, and the number that IP gives each packet of a connection has a gap. What
the client itself sends again is seen twice.
"""

import bisect
import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from lanelab.driver.trial.packets.sequence import signed
from lanelab.driver.trial.packets.timeline import ACK, SYN, Packet, Stream
from lanelab.driver.trial.parts.intervals import Interval

MS = 1_000_000
S = 1_000_000_000
TLS_PORT = 443
IP_IDS = 1 << 16
FEW = 1000  # numbers that may be missing between two packets; more, and the packet is an older one
TIMER = 180 * MS  # a retransmission that comes so long after a round trip was not asked for by acknowledgements


@dataclass(frozen=True, slots=True)
class Wire:
    """The link, as the parts need it."""

    bps: int | None  # of the bottleneck down
    rtt: int  # the shortest handshake, or what the link should have
    spread: int  # by how much handshakes differed

    def frame_ns(self, size: int) -> int:
        return 0 if self.bps is None else size * 8 * S // self.bps


@dataclass(frozen=True, slots=True)
class Missed:
    """A time in which the connection missed a packet, and how it came again."""

    begin: int
    end: int
    how: str
    by_server: bool  # the server lost it, and so reduces its window


@dataclass(frozen=True, slots=True)
class Course:
    """The course of one connection."""

    stream: Stream
    connect: Interval | None
    tls: Interval | None
    again: frozenset[int]  # numbers of packets with data that the client had already
    missed: tuple[Missed, ...]
    arrivals: tuple[int, ...]  # of all data from the server
    acknowledgements: tuple[int, ...]  # of all packets from the client

    @property
    def reduced_ns(self) -> int | None:
        """Return from when on the server's window was reduced, since a packet of its own was lost."""
        return min((missed.begin for missed in self.missed if missed.by_server), default=None)

    @property
    def set_up(self) -> int:
        """Return when it could carry its first request."""
        return self.tls[1] if self.tls else self.connect[1] if self.connect else self.stream.packets[0].at_ns

    def late(self, arrival: int, wire: Wire, since: int = 0) -> bool:
        """Return whether data that came after a silence had been waiting for no acknowledgement: the client had sent
        nothing (since that moment) one round trip before. Then the server itself was late."""
        slack = max(5 * MS, wire.rtt // 4) + wire.spread
        at = bisect.bisect_left(self.acknowledgements, max(since, arrival - wire.rtt - slack))
        return at == len(self.acknowledgements) or self.acknowledgements[at] > arrival - wire.rtt + slack


def course_of(stream: Stream, wire: Wire, request_ns: int | None, tls_version: str | None) -> Course:
    """`request_ns`: when its first request was sent; None: it had none."""
    connect = _connect(stream)
    secure = stream.server[1] == TLS_PORT or tls_version is not None
    last_word = request_ns if tls_version != "TLSv1.3" else None
    tls = _tls(stream, connect[1], last_word) if connect and secure else None
    again, holes = _received(stream, wire)
    arrivals = tuple(packet.at_ns for packet in stream.packets if not packet.up and packet.payload)
    return Course(
        stream=stream,
        connect=connect,
        tls=tls,
        again=again,
        missed=(*holes, *_silences(stream, wire), *_sent_again(stream)),
        arrivals=arrivals,
        acknowledgements=tuple(packet.at_ns for packet in stream.packets if packet.up),
    )


def handshake_ns(stream: Stream) -> int | None:
    """Return its round trip, where its first SYN was answered."""
    connect = _connect(stream)
    syns = sum(packet.up and bool(packet.flags & SYN) for packet in stream.packets[:8])
    return connect[1] - connect[0] if connect and syns == 1 else None


def _connect(stream: Stream) -> Interval | None:
    """Return the time from the first SYN to the answer; None: it was open before the capture, or nobody answered."""
    first = stream.packets[0]
    if not first.up or first.flags & (SYN | ACK) != SYN:
        return None
    return next((
        (first.at_ns, packet.at_ns)
        for packet in stream.packets
        if not packet.up and packet.flags & (SYN | ACK) == SYN | ACK
    ), None)  # fmt: skip


def _tls(stream: Stream, opened: int, request_ns: int | None) -> Interval:
    """Return the time from the TCP handshake to the client's last message of TLS: its first data after the server's.
    Where the client then waits for the server's last word before it asks (TLS 1.2 without False Start), to that;
    `request_ns`: when it asks, None where it waits for nothing."""
    data = [packet for packet in stream.packets if packet.payload]
    heard = next((packet.at_ns for packet in data if not packet.up), None)
    if heard is None:
        return opened, stream.packets[-1].at_ns
    last_ns = next((packet.at_ns for packet in data if packet.up and packet.at_ns >= heard), None)
    if last_ns is None:
        return opened, heard
    last_word = next((packet.at_ns for packet in data if not packet.up and packet.at_ns > last_ns), None)
    waits = request_ns is not None and last_word is not None and last_word <= request_ns
    return opened, last_word if waits and last_word else last_ns


def _received(stream: Stream, wire: Wire) -> tuple[frozenset[int], list[Missed]]:
    """Return packets with nothing new, and the holes."""
    again: set[int] = set()
    holes: list[Missed] = []
    ahead: dict[int, int] = {}  # beginnings of what came early -> their ends
    early: list[int] = []  # the same beginnings, the first one on top
    base = next((packet.seq + 1 for packet in stream.packets if not packet.up and packet.flags & SYN), None)
    next_byte, opened = 0, 0
    for packet in stream.down:
        if not packet.payload:
            continue
        base = packet.seq if base is None else base
        begin = signed(packet.seq - base)
        end = begin + packet.payload
        if end <= next_byte or ahead.get(begin, 0) >= end:
            again.add(packet.number)
        if begin > next_byte:
            opened = opened if ahead else packet.at_ns
            if begin not in ahead:
                heapq.heappush(early, begin)
            ahead[begin] = max(end, ahead.get(begin, 0))
        elif end > next_byte:
            next_byte = end
            while early and early[0] <= next_byte:
                next_byte = max(next_byte, ahead.pop(heapq.heappop(early)))
            if opened:
                holes.append(hole(opened, packet.at_ns, wire))
                opened = packet.at_ns if ahead else 0
    return frozenset(again), holes


def hole(begin: int, end: int, wire: Wire) -> Missed:
    """Return a hole in the sequence. Packets that came out of order made it where it was filled so soon that nobody can
    have sent one again."""
    after = end - begin
    if after < wire.rtt // 2:
        return Missed(begin, end, "packets came out of order", by_server=False)
    how = "a lost packet was sent again after duplicate acknowledgements"
    if after >= wire.rtt + TIMER:
        how = f"retransmission time-out: a packet came {after / MS:.0f} ms late"
    return Missed(begin, end, how, by_server=True)


def _silences(stream: Stream, wire: Wire) -> Iterator[Missed]:
    """Silences that end with data in sequence, before which a number of IP is missing: the last packets of a flight
    were lost, or all of it."""
    last: Packet | None = None
    sent_ns = 0
    expected: int | None = None
    for packet in stream.packets:
        if packet.up:
            sent_ns = packet.at_ns if packet.payload else sent_ns
            continue
        if last and packet.payload and (expected is None or signed(packet.seq - expected) == 0):
            missing = (packet.ip_id - last.ip_id - 1) % IP_IDS
            begin = max(last.at_ns, sent_ns + wire.rtt if sent_ns > last.at_ns else 0)
            if last.ip_id and 0 < missing < FEW and packet.at_ns - begin > max(wire.rtt, 10 * MS):
                late = packet.at_ns - begin
                timer = late >= TIMER
                what = "retransmission time-out" if timer else "the end of a flight was lost"
                how = f"{what}: a packet came {late / MS:.0f} ms late"
                yield Missed(begin, packet.at_ns, how, by_server=True)
        last = packet
        if packet.payload:
            expected = packet.seq + packet.payload


def _sent_again(stream: Stream) -> Iterator[Missed]:
    """Yield what the client sent twice: a SYN, a request."""
    sent: dict[int, int] = {}
    for packet in stream.packets:
        opening = bool(packet.flags & SYN)
        if not packet.up or not (packet.payload or opening):
            continue
        before = sent.get(packet.seq)
        if before is not None:
            what = "lost SYN, or its answer" if opening else "lost request, or its acknowledgement"
            how = f"{what}: sent again after {(packet.at_ns - before) / MS:.0f} ms"
            yield Missed(before, packet.at_ns, how, by_server=False)
        sent[packet.seq] = packet.at_ns
