"""What a packet capture says, in one fast pass. docs/reference/packets.md defines each number.

Pure Python on purpose: one `struct` call and one dictionary look-up for each packet, so that every trial can afford it.
TCP over plain IPv4, which is nearly all that a bed carries, takes a short way; everything else is found by frames.py.
"""

import ipaddress
import struct
from collections.abc import Iterator
from pathlib import Path

from lanelab.driver.base.errors import CaptureError
from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.record.evidence.packets import Connection, FlowSummary, PacketSummary
from lanelab.driver.trial.packets.connections import Flow
from lanelab.driver.trial.packets.formats import classic
from lanelab.driver.trial.packets.frames import ETHERTYPE_AT, IPV4, LINKS, NETWORK_AT, TCP, UDP, Inside, inside, turned
from lanelab.driver.trial.packets.secrets import Secrets, read_secrets
from lanelab.driver.trial.packets.sequence import NUMBERS
from lanelab.driver.trial.packets.udp import Udp

__all__ = ["Connection", "FlowSummary", "PacketSummary", "open_capture", "places", "summarise"]

FILE_HEADER = 24
RECORD_HEADER = 16
LARGEST_RECORD = 256 * 1024  # libpcap's own limit: a longer one is no record
MAGIC = {  # as the first four bytes are in the file -> byte order, nanoseconds of one unit of the fraction
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
NO_OPTIONS, FRAGMENT = 0x45, 0x1FFF
IP_TCP_HEADER = 20 + 20  # without options: what the short way reads
WITH_STAMPS = 8 + 40 + IP_TCP_HEADER - 20 + 12  # two VLAN tags, IPv6, TCP and the options with which Linux begins


class Opened:
    """The head of a capture file."""

    __slots__ = ("data", "fraction_ns", "link", "order", "snaplen")

    def __init__(self, data: bytes, name: str) -> None:
        if len(data) < FILE_HEADER or data[:4] not in MAGIC:
            empty = "it is empty" if not data else "it does not begin as one"
            raise CaptureError(f"{name} is not a pcap or pcapng file: {empty}", "Was it recorded by tcpdump?")
        self.data = data
        self.order, self.fraction_ns = MAGIC[data[:4]]
        self.snaplen, kind = struct.unpack_from(self.order + "II", data, 16)
        self.link: int = {12: 101, 14: 101}.get(kind & 0xFFFF, kind & 0xFFFF)  # raw IP has had several numbers
        if self.link not in LINKS:
            raise CaptureError(
                f"{name} is of link type {self.link}, none of {', '.join(map(str, LINKS))}",
                "Capture on an Ethernet interface, or on `any`",
            )


def open_capture(pcap: bytes | Path) -> Opened:
    """Return a capture in any of the formats of formats.py."""
    if isinstance(pcap, bytes):
        return Opened(classic(pcap, "the capture"), "the capture")
    try:
        return Opened(classic(pcap.read_bytes(), str(pcap)), str(pcap))
    except OSError as error:
        raise CaptureError(f"cannot read the capture {pcap}: {error.strerror}", "Was it recorded?") from error


def places(capture: Opened) -> Iterator[tuple[int, int, int, int]]:
    """Yield for each whole packet the time in nanoseconds, its size on the wire, where its frame begins and ends."""
    data, position, whole, fraction_ns = capture.data, FILE_HEADER, len(capture.data), capture.fraction_ns
    last_start = whole - RECORD_HEADER
    record = struct.Struct(capture.order + "IIII").unpack_from
    while position <= last_start:
        seconds, fraction, captured, size = record(data, position)
        begin = position + RECORD_HEADER
        position = begin + captured
        if position > whole or captured > LARGEST_RECORD or size < captured:
            return
        yield seconds * 1_000_000_000 + fraction * fraction_ns, size, begin, position


def summarise(pcap: bytes | Path, client: str = ADDRESSES["client"], keys: str = "") -> PacketSummary:
    """What the capture says; `client` tells up from down where a connection's beginning is not in it. `keys`: the
    client's log of secrets, with which more of QUIC can be read.

    A file that ends within a packet, or goes on with what is none, gives the summary of what was before it, and says so
    in `incomplete`.
    """
    capture = open_capture(pcap)
    summary = _Reader(capture, client, read_secrets(keys))
    summary.read()
    return summary.result()


class _Reader:
    """The pass over the packets."""

    def __init__(self, capture: Opened, client: str, secrets: Secrets) -> None:
        self.capture = capture
        self.secrets = secrets
        self.client = ipaddress.ip_address(client).packed
        self.flows: dict[bytes, Flow] = {}  # source and destination address, source and destination port
        self.connections: list[Flow] = []  # of each connection the client's flow
        self.udp: dict[bytes, Udp] = {}
        self.packets = self.bytes = self.others = self.other_down = self.other_up = 0
        self.first_ns = self.last_ns = 0
        self.incomplete: str | None = None
        self.stamped = capture.snaplen >= NETWORK_AT[capture.link] + WITH_STAMPS

    def read(self) -> None:
        data, fraction_ns, flows, link = self.capture.data, self.capture.fraction_ns, self.flows, self.capture.link
        record, frame = struct.Struct(self.capture.order + "IIII").unpack_from, _short_way(link).unpack_from
        lead = NETWORK_AT[link]  # where IP begins
        least, ip_header = lead + IP_TCP_HEADER if link in ETHERTYPE_AT else LARGEST_RECORD + 1, lead + 20
        position, end, packets, total = FILE_HEADER, len(data), 0, 0
        earliest, latest = 1 << 63, 0
        last_start = end - RECORD_HEADER
        while position <= last_start:
            seconds, fraction, captured, size = record(data, position)
            position += RECORD_HEADER
            if captured > end - position or captured > LARGEST_RECORD or size < captured:
                self.incomplete = _why(captured, size, packets)
                break
            now = seconds * 1_000_000_000 + fraction * fraction_ns
            packets += 1
            total += size
            # min() and max() would cost a call for each packet
            earliest = now if now < earliest else earliest
            latest = now if now > latest else latest
            if captured >= least:
                kind, version, length, fragment, protocol, ends, seq, ack, flags, window = frame(data, position)
                if protocol == TCP and kind == IPV4 and version == NO_OPTIONS and not fragment & FRAGMENT:
                    flow = flows.get(ends)
                    if flow is None or flags & 0x12 == 0x02:
                        flow = self._flow(ends, seq, flags, flow)
                    carried = (length or size - lead) - 20 - ((flags >> 10) & 0x3C)
                    if seq == flow.next and carried != 1 and flow.settled and not flags & 0x07:
                        # Nearly every packet: what `take` does with one that comes in its turn, without its call.
                        flow.last_ns = now
                        flow.packets += 1
                        flow.bytes += size
                        flow.window = window
                        if carried > 0:
                            flow.payload += carried
                            flow.data_packets += 1
                            flow.next = (seq + carried) & NUMBERS
                            flow.last_at = position + ip_header
                            flow.data_ns = now
                    else:
                        at = position + ip_header
                        flow.take(now, size, seq, ack, flags, window, carried, at)
                        if flow.early:
                            flow.begins(now, seq, ack, flags, carried, position, at, position + captured)
                        flow.settled = not flow.early and not flow.opening
                    position += captured
                    continue
            self._other(now, size, position, position + captured)
            position += captured
        else:
            if position < end:
                self.incomplete = f"the file ends within the header of packet {packets + 1}"
        self.packets, self.bytes = packets, total
        self.first_ns, self.last_ns = (earliest, latest) if packets else (0, 0)

    def _flow(self, ends: bytes, seq: int, flags: int, known: Flow | None) -> Flow:
        """Return the flow of a packet that may begin a connection: unknown so far, or a SYN that is not sent again."""
        if known is not None and known.began_with(seq):
            return known
        half = (len(ends) - 4) // 2
        source, target = ends[:half], ends[half:-4]
        sent_by_client = bool(flags & 0x02 and not flags & 0x10) or (
            not flags & 0x02 and (source == self.client or (target != self.client and ends[-4:-2] > ends[-2:]))
        )
        ours, back = Flow.pair(ends if sent_by_client else turned(ends), self.capture.data, stamped=self.stamped)
        self.flows[ours.ends], self.flows[back.ends] = ours, back
        self.connections.append(ours)
        return self.flows[ends]

    def _other(self, now: int, size: int, begin: int, end: int) -> None:
        """Take frames that are not TCP over plain IPv4."""
        data = self.capture.data
        content = inside(data, begin, end, size, self.capture.link)
        if content is None or not content.protocol:
            self.others += 1
            if content is not None:
                self.other_up += size if content.source == self.client else 0
                self.other_down += size if content.target == self.client else 0
            return
        ends = content.source + content.target + data[content.at : content.at + 4]
        if content.protocol == UDP:
            self._udp(ends, now, size, content, end)
            return
        seq, ack, flags, window = struct.unpack_from(">IIHH", data, content.at + 4)
        flow = self.flows.get(ends)
        if flow is None or flags & 0x12 == 0x02:
            flow = self._flow(ends, seq, flags, flow)
        carried = content.length - ((flags >> 10) & 0x3C)
        flow.take(now, size, seq, ack, flags, window, carried, content.at)
        if flow.early:
            flow.begins(now, seq, ack, flags, carried, begin, content.at, end)
        flow.settled = not flow.early and not flow.opening

    def _udp(self, ends: bytes, now: int, size: int, inside: Inside, end: int) -> None:
        flow, up = self.udp.get(ends), True
        if flow is None and (flow := self.udp.get(turned(ends))) is not None:
            up = False
        if flow is None:
            up = inside.target != self.client or inside.source == self.client
            key = ends if up else turned(ends)
            flow = self.udp[key] = Udp(key, now, self.secrets)
        flow.take(
            now, size, self.capture.data[inside.at + 8 : min(end, inside.at + inside.length)], inside.length - 8, up=up
        )

    def result(self) -> PacketSummary:
        connections = tuple(flow.connection() for flow in self.connections)
        begun = [flow for flow in self.udp.values() if flow.quic is not None]
        udp = tuple(
            flow.summary(next((each for each in begun if flow.goes_on(each)), None)) for flow in self.udp.values()
        )
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


def _short_way(link: int) -> struct.Struct:
    """Return the kind of network protocol, then of IPv4: version, length, fragment, protocol, ends; of TCP: numbers,
    flags, window."""
    kind_at, ip_at = ETHERTYPE_AT.get(link, 0), NETWORK_AT[link]
    between = max(0, ip_at - kind_at - 2)
    return struct.Struct(f">{kind_at}xH{between}xBxHxxHxBxx12sIIHH")


def _why(captured: int, size: int, packets: int) -> str:
    if captured > LARGEST_RECORD or size < captured:
        return f"what follows packet {packets} is not a packet"
    return f"the file ends within packet {packets + 1}"
