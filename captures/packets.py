"""What a packet capture says, in one fast pass over a classic pcap file. docs/reference/packets.md defines each number.

Pure Python on purpose: one `struct` call and one dictionary look-up for each packet, so that every trial can afford it.
Only IPv4 over Ethernet is looked into, which is all that a bed carries; other frames are counted.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from captures.connections import Flow, Udp
from captures.formats import classic
from model.errors import CaptureError
from model.evidence.packets import Connection, FlowSummary, PacketSummary

__all__ = ["Connection", "FlowSummary", "PacketSummary", "open_capture", "records", "summarise"]

FILE_HEADER = 24
RECORD_HEADER = 16
LARGEST_RECORD = 256 * 1024  # libpcap's own limit: a longer one is no record
ETHERNET = 1
MAGIC = {  # as the first four bytes are in the file -> byte order, nanoseconds of one unit of the fraction
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
IPV4, NO_OPTIONS, TCP, UDP, FRAGMENT = 0x0800, 0x45, 6, 17, 0x1FFF
TCP_END = 14 + 20 + 20  # of a frame without options: what the fast path reads
_FRAME = struct.Struct(">12xHBxHxxHxBxx12sIIHH")  # ethertype, version, length, fragment, protocol, ends, TCP's fields
_IP = struct.Struct(">HBxHxxHxBxx8s")  # from the ethertype on


class Opened:
    """The head of a capture file."""

    __slots__ = ("data", "fraction_ns", "order", "snaplen")

    def __init__(self, data: bytes, name: str) -> None:
        if len(data) < FILE_HEADER or data[:4] not in MAGIC:
            empty = "it is empty" if not data else "it does not begin as one"
            raise CaptureError(f"{name} is not a classic pcap file: {empty}", "Was it recorded by tcpdump?")
        self.data = data
        self.order, self.fraction_ns = MAGIC[data[:4]]
        self.snaplen, kind = struct.unpack_from(self.order + "II", data, 16)
        if kind & 0xFFFF != ETHERNET:
            raise CaptureError(f"{name} is of link type {kind & 0xFFFF}, not Ethernet (1)", "Capture on one interface")


def open_capture(pcap: bytes | Path) -> Opened:
    """A capture in any of the formats of formats.py."""
    if isinstance(pcap, bytes):
        return Opened(classic(pcap, "the capture"), "the capture")
    try:
        return Opened(classic(pcap.read_bytes(), str(pcap)), str(pcap))
    except OSError as error:
        raise CaptureError(f"cannot read the capture {pcap}: {error.strerror}", "Was it recorded?") from error


def records(capture: Opened) -> Iterator[tuple[int, int, int, bytes]]:
    """Of each whole packet the time in seconds and fraction as the file has them, its size on the wire, its bytes."""
    data, position, last_start = capture.data, FILE_HEADER, len(capture.data) - RECORD_HEADER
    record = struct.Struct(capture.order + "IIII").unpack_from
    while position <= last_start:
        seconds, fraction, captured, size = record(data, position)
        position += RECORD_HEADER
        if not _is_whole(captured, size, len(data) - position):
            return
        yield seconds, fraction, size, data[position : position + captured]
        position += captured


def summarise(pcap: bytes | Path, client: str = "10.10.1.2") -> PacketSummary:
    """What the capture says; `client` tells up from down where a connection's beginning is not in it.

    A file that ends within a packet, or goes on with what is none, gives the summary of what was before it, and says so
    in `incomplete`.
    """
    capture = open_capture(pcap)
    summary = _Reader(capture, client)
    summary.read()
    return summary.result()


class _Reader:
    """The pass over the packets."""

    def __init__(self, capture: Opened, client: str) -> None:
        self.capture = capture
        self.client = socket.inet_aton(client)
        self.flows: dict[bytes, Flow] = {}  # source and destination address, source and destination port
        self.connections: list[Flow] = []  # of each connection the client's flow
        self.udp: dict[bytes, Udp] = {}
        self.packets = self.bytes = self.others = self.other_down = self.other_up = 0
        self.first_ns = self.last_ns = 0
        self.incomplete: str | None = None

    def read(self) -> None:
        data, fraction_ns, flows = self.capture.data, self.capture.fraction_ns, self.flows
        record, frame = struct.Struct(self.capture.order + "IIII").unpack_from, _FRAME.unpack_from
        position, end, packets, total = FILE_HEADER, len(data), 0, 0
        earliest, latest = 1 << 63, 0
        last_start = end - RECORD_HEADER
        while position <= last_start:
            seconds, fraction, captured, size = record(data, position)
            position += RECORD_HEADER
            if (
                captured > end - position or captured > LARGEST_RECORD or size < captured
            ):  # as _is_whole, without a call
                self.incomplete = _why(captured, size, packets)
                break
            now = seconds * 1_000_000_000 + fraction * fraction_ns
            packets += 1
            total += size
            # min() and max() would cost a call for each packet
            earliest = now if now < earliest else earliest
            latest = now if now > latest else latest
            if captured >= TCP_END:
                kind, version, length, fragment, protocol, ends, seq, ack, flags, window = frame(data, position)
                if protocol == TCP and kind == IPV4 and version == NO_OPTIONS and not fragment & FRAGMENT:
                    flow = flows.get(ends)
                    if flow is None or flags & 0x12 == 0x02:
                        flow = self._flow(ends, seq, flags, flow)
                    header = (flags >> 10) & 0x3C
                    carried = (length or size - 14) - 20 - header
                    flow.take(now, size, seq, ack, flags, window, carried)
                    if flow.early:
                        flow.begins(data, position, position + 34, position + captured, seq, ack, flags, carried, now)
                    position += captured
                    continue
            self._other(data[position : position + captured], now, size)
            position += captured
        else:
            if position < end:
                self.incomplete = f"the file ends within the header of packet {packets + 1}"
        self.packets, self.bytes = packets, total
        self.first_ns, self.last_ns = (earliest, latest) if packets else (0, 0)

    def _flow(self, ends: bytes, seq: int, flags: int, known: Flow | None) -> Flow:
        """The flow of a packet that may begin a connection: unknown so far, or a SYN that is not sent again."""
        if known is not None and known.began_with(seq):
            return known
        source, target = ends[:4], ends[4:8]
        sent_by_client = bool(flags & 0x02 and not flags & 0x10) or (
            not flags & 0x02 and (source == self.client or (target != self.client and ends[8:10] > ends[10:12]))
        )
        own, back = Flow.pair(ends if sent_by_client else _turned(ends))
        self.flows[own.ends], self.flows[back.ends] = own, back
        self.connections.append(own)
        return self.flows[ends]

    def _other(self, frame: bytes, now: int, size: int) -> None:
        """Frames that are not plain TCP."""
        if len(frame) < 34:
            self.others += 1
            return
        kind, version, length, fragment, protocol, addresses = _IP.unpack_from(frame, 12)
        header = (version & 0x0F) * 4
        if kind != IPV4 or version >> 4 != 4 or header < 20:
            self.others += 1
            return
        rest = frame[14 + header :]
        if protocol == UDP and not fragment & FRAGMENT and len(rest) >= 4:
            self._udp(addresses + rest[:4], now, size)
        elif protocol == TCP and not fragment & FRAGMENT and len(rest) >= 20:
            self._tcp_with_options(addresses + rest[:4], frame, header, now, size, (length or size - 14) - header)
        else:
            self.others += 1
            self.other_up += size if addresses[:4] == self.client else 0
            self.other_down += size if addresses[4:] == self.client else 0

    def _tcp_with_options(self, ends: bytes, frame: bytes, before: int, now: int, size: int, length: int) -> None:
        """IP options are rare enough to take the slow way."""
        seq, ack, flags, window = struct.unpack_from(">IIHH", frame, 14 + before + 4)
        flow = self.flows.get(ends)
        if flow is None or flags & 0x12 == 0x02:
            flow = self._flow(ends, seq, flags, flow)
        header = (flags >> 10) & 0x3C
        flow.take(now, size, seq, ack, flags, window, length - header)
        if flow.early:
            flow.begins(frame, 0, 14 + before, len(frame), seq, ack, flags, length - header, now)

    def _udp(self, ends: bytes, now: int, size: int) -> None:
        known = self.udp.get(ends)
        back = None if known else self.udp.get(_turned(ends))
        if known is None and back is None:
            to_client = ends[4:8] == self.client and ends[:4] != self.client
            key = _turned(ends) if to_client else ends
            made = self.udp[key] = Udp(key, now)
            known, back = (None, made) if to_client else (made, None)
        if known:
            known.up(now, size)
        elif back:
            back.down(now, size)

    def result(self) -> PacketSummary:
        connections = tuple(flow.connection() for flow in self.connections)
        udp = tuple(flow.summary() for flow in self.udp.values())
        ends: tuple[Connection | FlowSummary, ...] = (*connections, *udp)
        return PacketSummary(
            packets=self.packets,
            bytes=self.bytes,
            bytes_down=self.other_down + sum(each.bytes_down for each in ends),
            bytes_up=self.other_up + sum(each.bytes_up for each in ends),
            other_packets=self.others,
            first_us=self.first_ns // 1000,
            last_us=self.last_ns // 1000,
            snaplen=self.capture.snaplen,
            incomplete=self.incomplete,
            by_connection=connections,
            by_udp_flow=udp,
        )


def _is_whole(captured: int, size: int, left: int) -> bool:
    return captured <= left and captured <= LARGEST_RECORD and size >= captured


def _turned(ends: bytes) -> bytes:
    return ends[4:8] + ends[:4] + ends[10:12] + ends[8:10]


def _why(captured: int, size: int, packets: int) -> str:
    if captured > LARGEST_RECORD or size < captured:
        return f"what follows packet {packets} is not a packet"
    return f"the file ends within packet {packets + 1}"
