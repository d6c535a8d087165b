"""TCP connections as a capture shows them: handshakes, first bytes, and what was sent again.

Sequence numbers are compared modulo 2^32. A segment from before the highest number seen is sent again, was overtaken
by others, or is a copy that the network made (order.py); or it is a keep-alive probe: at most one byte, just before
that number, without SYN, FIN or RST. A probe of a closed window (one byte beyond what the other side takes) does not
count as sent: it comes again.
"""

from lanelab.driver.record.evidence.packets import Connection
from lanelab.driver.trial.packets import first_bytes
from lanelab.driver.trial.packets.frames import address, turned
from lanelab.driver.trial.packets.options import read, timestamp
from lanelab.driver.trial.packets.order import Kind, Order, Sent, counts
from lanelab.driver.trial.packets.sequence import ACK, FIN, HALF, NUMBERS, RST, SYN
from lanelab.driver.trial.packets.stream_start import Beginning, has_request, is_told, likely_request

CLOCK_TICK_NS = 2_000_000  # of a sender's timestamps, and one to be sure

Stamps = tuple[int, int] | None  # TCP's: value, echo


class FirstFlight:
    """The flight of one connection, while its capture is read. `open` until it has ended."""

    __slots__ = ("begin", "end", "heard_ns", "open", "stamp")

    def __init__(self) -> None:
        self.open = True
        self.begin: int | None = None  # the number of the server's first byte
        self.end: int | None = None  # the number behind the flight's last byte
        self.heard_ns = -1  # when the server can have heard that some of it came, as it would be seen here
        self.stamp: int | None = None  # the client's timestamp that it then echoes

    def acknowledged(self, now: int, ack: int, stamps: Stamps, answered_ns: int, rtt_ns: int) -> None:
        """The client has sent this number. From here to the server and back it takes `answered_ns`."""
        if self.heard_ns >= 0 or self.begin is None or self.end is None:
            return
        if 0 < (ack - self.begin) & NUMBERS < HALF:
            self.heard_ns = now + max(0, answered_ns)
            self.stamp = stamps[0] if stamps and rtt_ns > CLOCK_TICK_NS else None

    def sent(self, now: int, begin: int, seq: int, carried: int, stamps: Stamps) -> None:
        """The server has sent this segment; its SYN said where its data begins. What it sends echoes the newest
        timestamp that it has heard."""
        if self.heard_ns >= 0:
            if stamps and self.stamp is not None:
                self.open = (stamps[1] - self.stamp) & NUMBERS >= HALF
            else:
                self.open = now < self.heard_ns
        if not self.open:
            return
        self.begin = begin & NUMBERS
        end = (seq + carried) & NUMBERS
        if self.end is None or 0 < (end - self.end) & NUMBERS < HALF:
            self.end = end

    @property
    def bytes(self) -> int | None:
        """None: its beginning was not captured, or the client never said that any of it came."""
        if self.begin is None or self.end is None or self.heard_ns < 0:
            return None
        return (self.end - self.begin) & NUMBERS


IPV4_ENDS, PLAIN_IPV4 = 12, 0x45  # bytes of two addresses and ports; version and length of a header
UNKNOWN_RTT_NS = 6_000_000  # half of it is what other tools take for the time within which packets are out of order


class Flow:
    """One direction of a connection, while the capture is read."""

    # fmt: off
    __slots__ = (
        *("back", "ends", "data", "stamped", "first_ns", "last_ns", "data_ns", "packets", "bytes", "payload"),
        *("data_packets", "next", "window", "order", "segments", "probes", "start", "syn_ns"),
        *("answered_ns", "rtt_ns", "fin", "rst", "ended_ns"),
        *("first_at", "last_at", "opening", "asks", "begin", "first", "is_known", "early", "header", "mss"),
        *("settled", "flight"),
    )
    # fmt: on

    back: "Flow"

    def __init__(self, ends: bytes, data: bytes, *, stamped: bool) -> None:
        self.ends = ends
        self.data = data  # of the whole capture
        self.stamped = stamped  # packets were captured as far as their timestamps
        self.first_ns, self.last_ns, self.data_ns = -1, -1, -1
        self.packets = self.bytes = self.payload = self.probes = self.data_packets = 0
        self.next: int | None = None  # the number after the highest seen
        self.window = -1
        self.order: Order | None = None  # once something came that was not the next
        self.segments = [0] * len(Kind)  # how many segments of each kind
        self.first_at = self.last_at = -1  # TCP headers of the first packet, and of the newest with data
        self.start: int | None = None  # the SYN's number
        self.syn_ns = self.answered_ns = -1
        self.rtt_ns: int | None = None
        self.opening = False  # the client's handshake is not complete
        self.fin = self.rst = False
        self.ended_ns = -1  # its first FIN or RST
        self.asks = False  # it is the client's
        self.begin = Beginning()
        self.first: int | None = None  # the number of its first byte
        self.is_known = False  # what the first bytes have to tell
        self.early = True  # a packet more may tell of the beginning
        self.settled = False  # neither that, nor is a handshake going on
        self.header: int | None = None
        self.mss: int | None = None
        self.flight = FirstFlight()  # the server's

    @classmethod
    def pair(cls, ends: bytes, data: bytes, *, stamped: bool) -> "tuple[Flow, Flow]":
        ours, back = cls(ends, data, stamped=stamped), cls(turned(ends), data, stamped=stamped)
        ours.back, back.back = back, ours
        ours.asks = True
        ours.flight = back.flight
        return ours, back

    def began_with(self, seq: int) -> bool:
        """Return whether a SYN with this number is this connection's, maybe sent again."""
        return self.start == seq or (self.start is None and self.packets == 0 and self.back.packets == 0)

    def take(  # noqa: PLR0913, PLR0917 - once for each packet
        self, now: int, size: int, seq: int, ack: int, flags: int, window: int, carried: int, at: int
    ) -> None:
        """One packet; its TCP header is at that place of the capture."""
        if self.packets == 0:
            self.first_ns, self.first_at = now, at
        self.last_ns = now
        self.packets += 1
        self.bytes += size
        if flags & 0x07:
            length = self._marked(now, seq, flags, carried)
        else:
            length = carried
            if self.opening:
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
            self.next, self.last_at, new = (seq + length) & NUMBERS, at, True
        elif expected is None:
            self.next, self.last_at, new = (seq + length) & NUMBERS, at, True
        else:
            new = self._unexpected(now, seq, length, flags, expected, at)
        if new and carried:
            self.data_ns = now

    def _probe(self) -> None:
        self.probes += 1
        self.payload -= 1
        self.data_packets -= 1

    def _marked(self, now: int, seq: int, flags: int, carried: int) -> int:
        """Return SYN, FIN, RST; how many numbers the packet has."""
        if flags & (FIN | RST) and self.ended_ns < 0:
            self.ended_ns = now
        if flags & RST:
            self.rst = True
            return 0
        if flags & SYN:
            self.start = seq
            self.syn_ns = now
            self.opening = self.asks
            if flags & ACK:
                self.back.answered_ns = now - self.back.syn_ns if self.back.syn_ns >= 0 else -1
        if flags & FIN:
            self.fin = True
        if not carried:
            self.data_packets -= 1  # `take` counts it as one, since it has a number
        return carried + (flags & 1) + (flags >> 1 & 1)

    def _maybe_established(self, now: int, ack: int, flags: int) -> None:
        """The third packet of a handshake: with the SYN's own answer it makes a round trip, wherever it is seen."""
        start = self.back.start
        if self.answered_ns >= 0 and flags & ACK and start is not None and ack == (start + 1) & NUMBERS:
            self.rtt_ns = self.answered_ns + now - self.back.syn_ns
            self.opening = False

    def _unexpected(self, now: int, seq: int, length: int, flags: int, expected: int, at: int) -> bool:
        """Return whether the segment has anything that had not come before."""
        ahead = (seq - expected) & NUMBERS
        if self.order is None:
            self.order = Order()
        if ahead < HALF:
            last_id, own_id = self._ip_id(self.last_at), self._ip_id(at)
            # The SYN's may be 0 where others are not.
            counting = last_id == 0 or counts(last_id, own_id) or counts(own_id, last_id)
            self.order.missing(expected, ahead, self._sent(now, at, counting=counting))
            self.next = (seq + length) & NUMBERS
            self.last_at = at
            return True
        if length == 1 and ahead == NUMBERS and not flags & 0x07:
            self._probe()
            return False
        changing = self._ip_id(self.last_at) not in (self._ip_id(self.first_at), 0)
        sent, last = self._sent(now, at), self._sent(now, self.last_at, counting=changing)
        rtt = self.rtt_ns if self.rtt_ns is not None else self.back.rtt_ns
        kind, fills = self.order.judge(seq, length, sent, last, (UNKNOWN_RTT_NS if rtt is None else rtt) // 2)
        self.segments[kind] += 1
        if kind == Kind.RESENT:
            self.last_at = at
        beyond = (seq + length - expected) & NUMBERS
        if not 0 < beyond < HALF:
            return fills
        self.next = (seq + length) & NUMBERS
        return True

    def _sent(self, now: int, at: int, *, counting: bool = True) -> Sent:
        """Return what the packet whose TCP header is there says of its time of sending. `counting`: as far as is known
        its sender counts packets."""
        if at < 0:
            return Sent(now, None, None)
        data = self.data
        end = min(len(data), at + (data[at + 12] >> 2 & 0x3C)) if self.stamped else 0
        stamps = timestamp(data, at + 20, end)
        ip_id = self._ip_id(at) if counting else None
        return Sent(now, stamps[0] if stamps else None, ip_id, int.from_bytes(data[at + 4 : at + 8]))

    def _ip_id(self, at: int) -> int | None:
        """Return the identification in the header of IPv4, where it has no options."""
        if at < 0 or len(self.ends) > IPV4_ENDS or self.data[at - 20] != PLAIN_IPV4:
            return None
        return self.data[at - 16] << 8 | self.data[at - 15]

    def begins(  # noqa: PLR0913, PLR0917 - once for each packet of a beginning
        self, now: int, seq: int, ack: int, flags: int, carried: int, frame: int, at: int, end: int
    ) -> None:
        """A packet of the beginning: its frame, its TCP header and its end are at these places of the capture."""
        header = (flags >> 10) & 0x3C
        if flags & SYN:
            self.mss = read(self.data, at + 20, min(end, at + header)).mss
            seq += 1
        flight = self.flight
        if flight.open:
            if not self.asks:
                if carried > 0 and self.start is not None:
                    heard = flight.heard_ns >= 0
                    stamps = timestamp(self.data, at + 20, min(end, at + header)) if heard else None
                    flight.sent(now, self.start + 1, seq, carried, stamps)
            elif flight.end is not None and flight.heard_ns < 0 and flags & ACK:
                stamps = timestamp(self.data, at + 20, min(end, at + header))
                flight.acknowledged(now, ack, stamps, self.answered_ns, self.rtt_ns or 0)
        if carried > 0 and not self.is_known:
            text = self.data[at + header : min(end, at + header + carried)]  # behind it there may be padding
            self._says(text, at + header - frame, seq, carried)
        self.early = not self.is_known or (flight.heard_ns < 0 if self.asks else flight.open)

    def _says(self, piece: bytes, header: int, seq: int, carried: int) -> None:
        """Take the first bytes of this side."""
        if self.first is None:
            self.header = header
            self.first = seq if self.start is None else self.start + 1
        offset = (seq - self.first) & NUMBERS
        if offset < HALF:
            self.begin.add(offset, piece, carried)
            self.is_known = has_request(self.begin, self.back.begin) is not False if self.asks else is_told(self.begin)

    def used(self) -> bool:
        """Return whether the client asked for something."""
        if self.payload <= 0:
            return False
        requested = has_request(self.begin, self.back.begin) if self.start is not None else None
        return likely_request(self.begin, self.payload) if requested is None else requested

    def ended_first(self) -> bool:
        """Return whether this side ended the connection, and not the other one."""
        return self.ended_ns >= 0 and (self.back.ended_ns < 0 or self.ended_ns < self.back.ended_ns)

    def connection(self) -> Connection:
        """Return the connection of the client's flow: both directions."""
        up, down = self, self.back
        first_up, first_down = up.begin.known(), down.begin.known()
        hello_up, hello_down = first_bytes.hello(first_up), first_bytes.hello(first_down)
        times = [time for time in (up.first_ns, down.first_ns) if time >= 0]
        return Connection(
            client_port=int.from_bytes(up.ends[-4:-2]),
            server=address(down.ends),
            server_port=int.from_bytes(up.ends[-2:]),
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
            tls=hello_up is not None and hello_up.kind == first_bytes.CLIENT_HELLO,
            retransmissions_up=up.segments[Kind.RESENT],
            retransmissions_down=down.segments[Kind.RESENT],
            out_of_order=up.segments[Kind.OVERTAKEN] + down.segments[Kind.OVERTAKEN],
            copies=up.segments[Kind.COPY] + down.segments[Kind.COPY],
            probes=up.probes + down.probes,
            fin_up=up.fin,
            fin_down=down.fin,
            rst_up=up.rst,
            rst_down=down.rst,
            header_down=down.header,
            data_us=None if down.data_ns < 0 else down.data_ns // 1000,
            spoken_up=first_bytes.protocol(first_up),
            spoken_down=first_bytes.protocol(first_down),
            alpn_offered=hello_up.alpn if hello_up else None,
            tls_version=first_bytes.tls_version(hello_down),
            tls_resumed=first_bytes.resumed(hello_up, hello_down),
            mss_up=up.mss,
            mss_down=down.mss,
            data_packets_up=up.data_packets,
            data_packets_down=down.data_packets,
            first_flight_down=up.flight.bytes,
            used=up.used(),
            server_ended_us=down.ended_ns // 1000 if down.ended_first() else None,
        )
