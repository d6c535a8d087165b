"""Every packet of a capture with its time, by TCP connection: what judges of the link, decompositions of a load time
and time-sequence plots are made of.

The summary (packets.py) counts in one fast pass; this keeps each packet, and so is for single trials.
"""

import ipaddress
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from lanelab.driver.record.evidence.ends import Ends
from lanelab.driver.trial.packets.frames import (
    ETHERTYPE_AT,
    FRAGMENT_OFFSET,
    IPV4,
    NETWORK_AT,
    TCP,
    UDP_HEADER,
    Inside,
    inside,
    turned,
)
from lanelab.driver.trial.packets.options import LINUX, read
from lanelab.driver.trial.packets.packet_fields import Packet, Seen, Stream
from lanelab.driver.trial.packets.packets import LARGEST_RECORD, NO_OPTIONS, Opened, open_capture, places
from lanelab.driver.trial.packets.quic import begins_quic
from lanelab.driver.trial.packets.quic_timeline import QuicStream, opening
from lanelab.driver.trial.packets.secrets import read_secrets
from lanelab.driver.trial.packets.sequence import ACK, FIN, RST, SYN

__all__ = [
    "ACK",
    "FIN",
    "RST",
    "SYN",
    "Datagram",
    "Packet",
    "QuicStream",
    "Seen",
    "Stream",
    "Timeline",
    "read_timeline",
]

BEGINNING = 256  # bytes of what a datagram carries by which it is known again: more than a token of QUIC's first ones
SHORT_WAY = HEADERS = 20 + 32  # bytes of IPv4, and of TCP with timestamps
_ONLY_STAMPS, _HEADER_AND_SYN = 8 << 12, 0xF002  # a header of eight words, which is no SYN
_TCP = struct.Struct(">HHIIHH").unpack_from  # ports, numbers, header length and flags, window


class Datagram(NamedTuple):
    """One UDP packet."""

    number: int
    at_ns: int
    up: bool
    frame_bytes: int
    client_port: int
    server: str
    server_port: int
    ip_id: int
    length: int  # of what it carries
    beginning: bytes  # of that, as much as is kept here and was captured

    @property
    def ends(self) -> Ends:
        return Ends(self.client_port, self.server, self.server_port)


@dataclass(slots=True)
class Timeline:
    """All of a capture that is TCP or UDP, in the order of its packets."""

    streams: list[Stream] = field(default_factory=list)
    datagrams: list[Datagram] = field(default_factory=list)
    quic: list[QuicStream] = field(default_factory=list)  # their datagrams are among those, too

    @property
    def connections(self) -> list[Stream]:
        """Return the connections of TCP and of QUIC."""
        return [*self.streams, *(each.stream for each in self.quic)]


def read_timeline(pcap: bytes | Path, client: str, keys: str = "") -> Timeline:
    """Read the timeline of a capture. `client` is its address, which tells up from down. Takes what lanelab stores too:
    pcapng, compressed or not. `keys`: the client's log of secrets, which opens QUIC."""
    reader = _Reader(open_capture(pcap), client, keys)
    reader.read()
    return reader.timeline


class _Reader:
    """The pass over the packets."""

    def __init__(self, capture: Opened, client: str, keys: str) -> None:
        self.capture, self.client = capture, ipaddress.ip_address(client).packed
        self.timeline = Timeline()
        # By addresses and ports as its sender has them: whether they go up, and its connection's packets.
        self.ways = dict[bytes, tuple[bool, list[Packet]]]()
        self.quic, self.secrets = dict[Ends, QuicStream](), read_secrets(keys)

    def read(self) -> None:
        data, link, ways, new = self.capture.data, self.capture.link, self.ways, tuple.__new__
        frame, lead = _short_way(link), NETWORK_AT[link]
        least = lead + SHORT_WAY if link in ETHERTYPE_AT else LARGEST_RECORD + 1
        for number, (at_ns, size, begin, end) in enumerate(places(self.capture), 1):
            if end - begin >= least:
                kind, version, length, ip_id, fragment, protocol, ends, seq, ack, bits, window, head, value, echo = (
                    frame(data, begin)
                )
                if (
                    protocol == TCP
                    and kind == IPV4
                    and version == NO_OPTIONS
                    and not fragment & FRAGMENT_OFFSET
                    and head == LINUX
                    and bits & _HEADER_AND_SYN == _ONLY_STAMPS
                    and (way := ways.get(ends)) is not None
                ):
                    up, packets = way
                    payload = (length or size - lead) - HEADERS
                    # max() would cost a call, as would a NamedTuple's own way to make one
                    payload = payload if payload > 0 else 0
                    known = number, at_ns, up, size, seq, ack, payload, bits & 0x3F, window, ip_id
                    packets.append(new(Packet, (*known, (value, echo), None, False, None)))
                    continue
            self._other(Seen(number, at_ns, False, size), begin, end)

    def _other(self, seen: Seen, begin: int, end: int) -> None:
        """Take what does not go the short way."""
        data = self.capture.data
        content = inside(data, begin, end, seen.frame_bytes, self.capture.link)
        if content is None or not content.protocol:
            return
        seen = seen._replace(up=content.source == self.client)
        if content.protocol == TCP:
            self._tcp(content, _packet(data, content, end, seen))
        else:
            self._udp(content, data[content.at + UDP_HEADER : min(end, content.at + content.length)], seen)

    def _tcp(self, inside: Inside, packet: Packet) -> None:
        """Take a packet; a new SYN on old ports begins another connection. A connection is known by the bytes of its
        addresses and ports, which only a new one has written as text."""
        ports = self.capture.data[inside.at : inside.at + 4]
        ends = inside.source + inside.target + ports
        way = self.ways.get(ends)
        if way is None or (packet.flags & (SYN | ACK) == SYN and way[1][0].seq != packet.seq):
            numbers = struct.unpack(">HH", ports)
            both = (inside.source_name, numbers[0]), (inside.target_name, numbers[1])
            stream = Stream(*(both if packet.up else reversed(both)))
            self.timeline.streams.append(stream)
            way = self.ways[ends] = packet.up, stream.packets
            if packet.up != (inside.target == self.client):
                self.ways[turned(ends)] = not packet.up, stream.packets
        way[1].append(packet)

    def _udp(self, inside: Inside, payload: bytes, seen: Seen) -> None:
        datagram = _datagram(self.capture.data, inside, seen, payload)
        self.timeline.datagrams.append(datagram)
        key = datagram.ends
        if key not in self.quic and seen.up and begins_quic(payload, inside.length - UDP_HEADER):
            ends = (inside.source_name, key.client_port), (inside.target_name, key.server_port)
            self.quic[key] = opening(*ends, self.secrets)
            self.timeline.quic.append(self.quic[key])
        if key in self.quic:
            self.quic[key].take(seen, payload, inside.length - UDP_HEADER, inside.ip_id)


def _datagram(data: bytes, inside: Inside, seen: Seen, payload: bytes) -> Datagram:
    source, target = struct.unpack_from(">HH", data, inside.at)
    near, far, server = (source, target, inside.target_name) if seen.up else (target, source, inside.source_name)
    length, beginning = max(0, inside.length - UDP_HEADER), payload[:BEGINNING]
    return Datagram(*seen, near, server, far, inside.ip_id, length, beginning)


def _packet(data: bytes, inside: Inside, end: int, seen: Seen) -> Packet:
    _, _, seq, ack, bits, window = _TCP(data, inside.at)
    header = (bits >> 12) * 4
    options = read(data, inside.at + 20, min(end, inside.at + header))
    payload = max(0, inside.length - header)
    return Packet(*seen, seq, ack, payload, bits & 0x3F, window, inside.ip_id, *options)


def _short_way(link: int) -> Callable[[bytes, int], tuple[Any, ...]]:
    """Return what reads frames of TCP over IPv4 with timestamps: the kind of network protocol; of IPv4: version,
    length, identification, fragment, protocol, ends; of TCP: numbers, flags, window, beginning of options,
    timestamps."""
    kind_at, ip_at = ETHERTYPE_AT.get(link, 0), NETWORK_AT[link]
    between = max(0, ip_at - kind_at - 2)
    return struct.Struct(f">{kind_at}xH{between}xBxHHHxBxx12sIIHH4xIII").unpack_from
