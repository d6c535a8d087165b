"""Every packet of a capture with its time, by TCP connection: what judges of the link, decompositions of a load time
and time-sequence plots are made of.

The summary (packets.py) counts in one fast pass; this keeps each packet, and so is for single trials.
"""

import ipaddress
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from lanelab.driver.trial.packets.frames import TCP, UDP_HEADER, Inside, inside
from lanelab.driver.trial.packets.options import read
from lanelab.driver.trial.packets.packet_fields import Packet, Seen, Stream
from lanelab.driver.trial.packets.packets import open_capture, places
from lanelab.driver.trial.packets.quic import begins_quic
from lanelab.driver.trial.packets.quic_timeline import QuicStream, opening
from lanelab.driver.trial.packets.secrets import read_secrets

__all__ = ["Datagram", "Packet", "QuicStream", "Seen", "Stream", "Timeline", "read_timeline"]

FIN, SYN, RST, PUSH, ACK = 0x01, 0x02, 0x04, 0x08, 0x10
BEGINNING = 256  # bytes of what a datagram carries by which it is known again: more than a token of QUIC's first ones
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
    capture = open_capture(pcap)
    client_packed = ipaddress.ip_address(client).packed
    timeline, known = Timeline(), dict[bytes, Stream]()
    data, link = capture.data, capture.link
    quic, secrets = dict[tuple[int, str, int], QuicStream](), read_secrets(keys)
    for number, (at_ns, size, begin, end) in enumerate(places(capture), 1):
        content = inside(data, begin, end, size, link)
        if content is None or not content.protocol:
            continue
        up = content.source == client_packed
        if content.protocol == TCP:
            packet = _packet(data, content, end, Seen(number, at_ns, up, size))
            _stream(timeline, known, content, data[content.at : content.at + 4], packet).packets.append(packet)
        else:
            seen = Seen(number, at_ns, up, size)
            payload = data[content.at + UDP_HEADER : min(end, content.at + content.length)]
            datagram = _datagram(data, content, seen, payload)
            timeline.datagrams.append(datagram)
            key = datagram.client_port, datagram.server, datagram.server_port
            if key not in quic and up and begins_quic(payload, content.length - UDP_HEADER):
                quic[key] = opening((content.source_name, key[0]), (content.target_name, key[2]), secrets)
                timeline.quic.append(quic[key])
            if key in quic:
                quic[key].take(seen, payload, content.ip_id)
    return timeline


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


def _stream(timeline: Timeline, known: dict[bytes, Stream], inside: Inside, ports: bytes, packet: Packet) -> Stream:
    """The connection of a packet; a new SYN on old ports begins another one. It is known by the bytes of its addresses
    and ports, which only a new one has written as text."""
    source, target = inside.source + ports[:2], inside.target + ports[2:]
    key = source + target if packet.up else target + source
    stream = known.get(key)
    begins = packet.flags & (SYN | ACK) == SYN and stream is not None and stream.packets[0].seq != packet.seq
    if stream is None or begins:
        numbers = struct.unpack(">HH", ports)
        ends = (inside.source_name, numbers[0]), (inside.target_name, numbers[1])
        stream = known[key] = Stream(*(ends if packet.up else reversed(ends)))
        timeline.streams.append(stream)
    return stream
