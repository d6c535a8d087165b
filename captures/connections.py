"""TCP connections as a capture shows them: handshakes, and what was sent again.

Sequence numbers are compared modulo 2^32. A segment from before the highest number seen is sent again, unless

- it is a keep-alive probe: at most one byte, just before that number, without SYN, FIN or RST;
- or it fills a gap sooner than half a round trip after the gap was seen: then the network had put it out of order. What
  was lost takes a whole round trip to be sent again, since the sender must first hear of it.

A probe of a closed window (one byte beyond what the other side takes) does not count as sent: it comes again.
"""

from __future__ import annotations

import socket

from captures import first_bytes
from captures.beginning import Beginning, has_request, is_told, likely_request
from captures.options import read, timestamp
from model.evidence.packets import Connection, FlowSummary

NUMBERS = 0xFFFF_FFFF
HALF = 0x8000_0000
FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
UNKNOWN_RTT_NS = 6_000_000  # half of it is what other tools take for the time within which packets are out of order
MOST_GAPS = 1000
CLOCK_TICK_NS = 2_000_000  # of a sender's timestamps, and one to be sure


class Flow:
    """One direction of a connection, while the capture is read."""

    # fmt: off
    __slots__ = (
        *("back", "ends", "first_ns", "last_ns", "data_ns", "packets", "bytes", "payload", "data_packets", "next"),
        *("window", "gaps", "resent", "overtaken", "probes", "start", "syn_ns", "answered_ns", "rtt_ns", "fin", "rst"),
        *("asks", "begin", "first", "told", "early", "header", "mss"),
        *("flight_open", "flight_end", "flight_heard", "flight_stamp"),
    )
    # fmt: on

    back: Flow

    def __init__(self, ends: bytes) -> None:
        self.ends = ends
        self.first_ns, self.last_ns, self.data_ns = -1, -1, -1
        self.packets = self.bytes = self.payload = self.resent = self.overtaken = self.probes = 0
        self.next: int | None = None  # the number after the highest seen
        self.window = -1
        self.gaps: list[tuple[int, int, int]] = []  # number, how many, since when
        self.start: int | None = None  # the SYN's number
        self.syn_ns = self.answered_ns = -1
        self.rtt_ns: int | None = None
        self.fin = self.rst = False
        self.data_packets = 0
        self.asks = False  # it is the client's
        self.begin = Beginning()
        self.first: int | None = None  # the number of its first byte
        self.told = False  # what the first bytes have to tell
        self.early = True  # a packet more may tell of the beginning
        self.header: int | None = None
        self.mss: int | None = None
        self.flight_open = True
        self.flight_end: int | None = None  # the number after the first flight
        self.flight_heard = -1  # when the server can have heard that some of it came, as seen here
        self.flight_stamp: int | None = None  # the timestamp that it then echoes

    @classmethod
    def pair(cls, ends: bytes) -> tuple[Flow, Flow]:
        own, back = cls(ends), cls(ends[4:8] + ends[:4] + ends[10:12] + ends[8:10])
        own.back, back.back = back, own
        own.asks = True
        return own, back

    def began_with(self, seq: int) -> bool:
        """Whether a SYN with this number is this connection's, maybe sent again."""
        return self.start == seq or (self.start is None and self.packets == 0 and self.back.packets == 0)

    def take(self, now: int, size: int, seq: int, ack: int, flags: int, window: int, carried: int) -> None:
        """One packet."""
        if self.packets == 0:
            self.first_ns = now
        self.last_ns = now
        self.packets += 1
        self.bytes += size
        if flags & 0x07:
            self._marked(now, seq, flags, carried)
            if flags & RST:
                return
            length = carried + (flags & 1) + (flags >> 1 & 1)
        else:
            length = carried
            if self.rtt_ns is None and self.syn_ns >= 0:
                self._maybe_established(now, ack, flags)
        self.window = window
        expected = self.next
        if length <= 0:
            if expected is not None and seq == (expected - 1) & NUMBERS and not flags & 0x07:
                self.probes += 1
            return
        self.payload += carried
        self.data_packets += 1
        if seq == expected:
            if length == 1 and self.back.window == 0 and not flags & 0x07:
                self._probe()
                return
            self.next = (seq + length) & NUMBERS
            self.data_ns = now if carried else self.data_ns
        elif expected is None:
            self.next = (seq + length) & NUMBERS
        else:
            self._unexpected(now, seq, length, flags, expected)

    def _probe(self) -> None:
        self.probes += 1
        self.payload -= 1
        self.data_packets -= 1

    def _marked(self, now: int, seq: int, flags: int, carried: int) -> None:
        """SYN, FIN, RST."""
        if flags & SYN:
            self.start = seq
            self.syn_ns = now
            if flags & ACK:
                self.back.answered_ns = now - self.back.syn_ns if self.back.syn_ns >= 0 else -1
        if flags & FIN:
            self.fin = True
        if flags & RST:
            self.rst = True
        elif not carried:
            self.data_packets -= 1  # `take` counts it as one, since it has a number in the sequence

    def _maybe_established(self, now: int, ack: int, flags: int) -> None:
        """The third packet of a handshake: with the SYN's own answer it makes a round trip, wherever it is seen."""
        start = self.back.start
        if self.answered_ns >= 0 and flags & ACK and start is not None and ack == (start + 1) & NUMBERS:
            self.rtt_ns = self.answered_ns + now - self.back.syn_ns

    def _unexpected(self, now: int, seq: int, length: int, flags: int, expected: int) -> None:
        ahead = (seq - expected) & NUMBERS
        if ahead < HALF:
            if len(self.gaps) < MOST_GAPS:
                self.gaps.append((expected, ahead, now))
            self.next = (seq + length) & NUMBERS
            return
        if length == 1 and ahead == NUMBERS and not flags & 0x07:
            self._probe()
            return
        if self._fills_early(now, seq, length):
            self.overtaken += 1
        else:
            self.resent += 1
        beyond = (seq + length - expected) & NUMBERS
        if 0 < beyond < HALF:
            self.next = (seq + length) & NUMBERS

    def _fills_early(self, now: int, seq: int, length: int) -> bool:
        """Take the segment out of the gaps; whether it was one that others had overtaken."""
        since, left = None, []
        for start, count, seen in self.gaps:
            before = (seq - start) & NUMBERS
            before = before if before < HALF else before - NUMBERS - 1  # how far into the gap the segment begins
            if before >= count or before + length <= 0:
                left.append((start, count, seen))
                continue
            since = seen if since is None else max(since, seen)
            if before > 0:
                left.append((start, before, seen))
            if before + length < count:
                left.append(((seq + length) & NUMBERS, count - before - length, seen))
        self.gaps = left
        if since is None:
            return False
        rtt = self.rtt_ns if self.rtt_ns is not None else self.back.rtt_ns
        return now - since < (UNKNOWN_RTT_NS if rtt is None else rtt) // 2

    def begins(  # noqa: PLR0913, PLR0917 - once for each packet of a beginning
        self, data: bytes, frame: int, at: int, end: int, seq: int, ack: int, flags: int, carried: int, now: int
    ) -> None:
        """A packet of the beginning. Its frame begins at `frame` of the data, its TCP header at `at`."""
        header = (flags >> 10) & 0x3C
        options = at + 20, min(end, at + header)
        if flags & SYN:
            self.mss = read(data, *options).mss
            seq += 1
        stamps = timestamp(data, *options)
        if self.asks:
            self._hears(ack, flags, stamps, now)
        elif carried > 0 and self.flight_open:
            self._flies(seq, carried, stamps, now)
        if carried > 0 and not self.told:
            self._says(data[at + header : end], at + header - frame, seq, carried)
        self.early = not self.told or (self.back if self.asks else self).flight_open

    def _hears(self, ack: int, flags: int, stamps: tuple[int, int] | None, now: int) -> None:
        """Of the client: with its first acknowledgement of data the server may go on."""
        answer = self.back
        if not answer.flight_open or answer.flight_heard >= 0 or answer.start is None or answer.flight_end is None:
            return
        if flags & ACK and 0 < (ack - answer.start - 1) & NUMBERS < HALF:
            answer.flight_heard = now + max(0, self.answered_ns)
            answer.flight_stamp = stamps[0] if stamps and (self.rtt_ns or 0) > CLOCK_TICK_NS else None

    def _flies(self, seq: int, carried: int, stamps: tuple[int, int] | None, now: int) -> None:
        """Of the server: what it sent before it can have heard that any of it came. Its timestamps tell: they echo the
        newest that it has heard."""
        if self.flight_heard >= 0:
            if stamps and self.flight_stamp is not None:
                self.flight_open = (stamps[1] - self.flight_stamp) & NUMBERS >= HALF
            else:
                self.flight_open = now < self.flight_heard
        if self.flight_open and self.start is not None:
            end = (seq + carried) & NUMBERS
            known = self.flight_end
            self.flight_end = end if known is None or 0 < (end - known) & NUMBERS < HALF else known

    def _says(self, piece: bytes, header: int, seq: int, carried: int) -> None:
        """First bytes of this side."""
        if self.first is None:
            self.header = header
            self.first = seq if self.start is None else self.start + 1
        offset = (seq - self.first) & NUMBERS
        if offset < HALF:
            self.begin.add(offset, piece, carried)
            self.told = has_request(self.begin, self.back.begin) is not False if self.asks else is_told(self.begin)

    def first_flight(self) -> int | None:
        """Of the server. None: its beginning was not captured, or it sent nothing."""
        if self.start is None or self.flight_end is None:
            return None
        return (self.flight_end - self.start - 1) & NUMBERS

    def _used(self) -> bool:
        """Of the client: whether it asked for something."""
        if self.payload <= 0:
            return False
        asked = has_request(self.begin, self.back.begin) if self.start is not None else None
        return likely_request(self.begin, self.payload) if asked is None else asked

    def connection(self) -> Connection:
        """Of the client's flow: both directions."""
        up, down = self, self.back
        first_up, first_down = up.begin.known(), down.begin.known()
        asked, answered = first_bytes.hello(first_up), first_bytes.hello(first_down)
        times = [time for time in (up.first_ns, down.first_ns) if time >= 0]
        return Connection(
            client_port=int.from_bytes(up.ends[8:10]),
            server=socket.inet_ntoa(up.ends[4:8]),
            server_port=int.from_bytes(up.ends[10:12]),
            first_us=min(times) // 1000,
            last_us=max(up.last_ns, down.last_ns) // 1000,
            packets_up=up.packets,
            packets_down=down.packets,
            bytes_up=up.bytes,
            bytes_down=down.bytes,
            payload_up=up.payload,
            payload_down=down.payload,
            syn=up.start is not None,
            handshake=up.rtt_ns is not None,
            handshake_rtt_us=None if up.rtt_ns is None else up.rtt_ns // 1000,
            tls=asked is not None and asked.kind == first_bytes.CLIENT_HELLO,
            retransmissions_up=up.resent,
            retransmissions_down=down.resent,
            out_of_order=up.overtaken + down.overtaken,
            probes=up.probes + down.probes,
            fin_up=up.fin,
            fin_down=down.fin,
            rst_up=up.rst,
            rst_down=down.rst,
            header_down=down.header,
            data_us=None if down.data_ns < 0 else down.data_ns // 1000,
            spoken_up=first_bytes.protocol(first_up),
            spoken_down=first_bytes.protocol(first_down),
            alpn_offered=asked.alpn if asked else None,
            tls_version=first_bytes.tls_version(answered),
            tls_resumed=first_bytes.resumed(asked, answered),
            mss_up=up.mss,
            mss_down=down.mss,
            data_packets_up=up.data_packets,
            data_packets_down=down.data_packets,
            first_flight_down=down.first_flight(),
            used=up._used(),
        )


class Udp:
    """Packets between two UDP ports, while the capture is read."""

    __slots__ = ("count", "ends", "first_ns", "last_ns", "sizes")

    def __init__(self, ends: bytes, now: int) -> None:
        self.ends = ends
        self.first_ns = self.last_ns = now
        self.count = [0, 0]
        self.sizes = [0, 0]

    def up(self, now: int, size: int) -> None:
        self._take(0, now, size)

    def down(self, now: int, size: int) -> None:
        self._take(1, now, size)

    def _take(self, way: int, now: int, size: int) -> None:
        self.last_ns = now
        self.count[way] += 1
        self.sizes[way] += size

    def summary(self) -> FlowSummary:
        return FlowSummary(
            client_port=int.from_bytes(self.ends[8:10]),
            server=socket.inet_ntoa(self.ends[4:8]),
            server_port=int.from_bytes(self.ends[10:12]),
            first_us=self.first_ns // 1000,
            last_us=self.last_ns // 1000,
            packets_up=self.count[0],
            packets_down=self.count[1],
            bytes_up=self.sizes[0],
            bytes_down=self.sizes[1],
        )
