"""Every packet of a capture with its time, by TCP connection: what judges of the link, decompositions of a load time
and time-sequence plots are made of.

The summary (packets.py) counts in one fast pass; this keeps each packet, and so is for single trials.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from captures.packets import open_capture, records

FIN, SYN, RST, PUSH, ACK = 0x01, 0x02, 0x04, 0x08, 0x10
IPV4_TCP = 0x0800, 6
FRAGMENT = 0x1FFF
_IP = struct.Struct(">HBxHHHxBxx4s4s")  # from the ethertype on: version, length, id, fragment, protocol, addresses
_TCP = struct.Struct(">HHIIHH")  # ports, numbers, header length and flags, window
TIMESTAMPS, SACK, MSS, NO_OPERATION, END = 8, 5, 2, 1, 0  # kinds of TCP options


class Packet(NamedTuple):
    """One TCP packet. Sequence numbers are raw, modulo 2^32."""

    number: int  # in the capture, from 1, as other tools number frames
    at_ns: int  # since 1970
    up: bool  # from the client
    frame_bytes: int  # of the whole frame, on the wire
    seq: int
    ack: int
    payload: int  # bytes
    flags: int
    window: int  # as written, not scaled
    ip_id: int
    timestamp: tuple[int, int] | None  # TCP's own: value, echo
    mss: int | None  # of a SYN
    sacks: bool  # whether it tells of what came out of order


@dataclass(slots=True)
class Stream:
    """One TCP connection with its packets in the order of the capture."""

    client: tuple[str, int]
    server: tuple[str, int]
    packets: list[Packet] = field(default_factory=list)

    @property
    def down(self) -> list[Packet]:
        return [packet for packet in self.packets if not packet.up]

    @property
    def up(self) -> list[Packet]:
        return [packet for packet in self.packets if packet.up]


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


@dataclass(slots=True)
class Timeline:
    """All of a capture that is TCP or UDP, in the order of its packets."""

    streams: list[Stream] = field(default_factory=list)
    datagrams: list[Datagram] = field(default_factory=list)


def read_timeline(pcap: bytes | Path, client: str) -> Timeline:
    """`client`: its address, which tells up from down. Takes what lanelab stores too: pcapng, compressed or not."""
    capture = open_capture(pcap)
    timeline, known = Timeline(), dict[tuple[str, int, str, int], Stream]()
    for number, (seconds, fraction, size, frame) in enumerate(records(capture), 1):
        if len(frame) < 14 + 20 + 8:
            continue
        kind, version, length, ip_id, fragment, protocol, source, target = _IP.unpack_from(frame, 12)
        if kind != IPV4_TCP[0] or fragment & FRAGMENT:
            continue
        at_ns = seconds * 1_000_000_000 + fraction * capture.fraction_ns
        ends = socket.inet_ntoa(source), socket.inet_ntoa(target)
        up = ends[0] == client
        rest = frame[14 + (version & 0x0F) * 4 :]
        if protocol == IPV4_TCP[1] and len(rest) >= 20:
            ports = struct.unpack_from(">HH", rest)
            body = (length or size - 14) - (version & 0x0F) * 4
            packet = _packet(rest, (number, at_ns, up, size, ip_id), body)
            stream = _stream(timeline, known, ((ends[0], ports[0]), (ends[1], ports[1])), packet)
            stream.packets.append(packet)
        elif protocol == 17:
            ports = struct.unpack_from(">HH", rest)
            near, far = (ports[0], ports[1]) if up else (ports[1], ports[0])
            server = ends[1] if up else ends[0]
            timeline.datagrams.append(Datagram(number, at_ns, up, size, near, server, far, ip_id))
    return timeline


def _packet(segment: bytes, frame: tuple[int, int, bool, int, int], body: int) -> Packet:
    number, at_ns, up, size, ip_id = frame
    _, _, seq, ack, bits, window = _TCP.unpack_from(segment)
    header = (bits >> 12) * 4
    timestamp, mss, sacks = _options(segment[20:header])
    return Packet(
        number, at_ns, up, size, seq, ack, max(0, body - header), bits & 0x3F, window, ip_id, timestamp, mss, sacks
    )


def _options(options: bytes) -> tuple[tuple[int, int] | None, int | None, bool]:
    timestamp: tuple[int, int] | None = None
    mss: int | None = None
    sacks, at = False, 0
    while at < len(options):
        kind = options[at]
        if kind == END:
            break
        if kind == NO_OPERATION:
            at += 1
            continue
        length = options[at + 1] if at + 1 < len(options) else 0
        if length < 2 or at + length > len(options):
            break
        if kind == TIMESTAMPS and length == 10:
            timestamp = struct.unpack_from(">II", options, at + 2)
        elif kind == MSS and length == 4:
            (mss,) = struct.unpack_from(">H", options, at + 2)
        sacks = sacks or kind == SACK
        at += length
    return timestamp, mss, sacks


def _stream(
    timeline: Timeline,
    known: dict[tuple[str, int, str, int], Stream],
    ends: tuple[tuple[str, int], tuple[str, int]],
    packet: Packet,
) -> Stream:
    """The connection of a packet; a new SYN on old ports begins another one."""
    client, server = ends if packet.up else (ends[1], ends[0])
    key = (*client, *server)
    stream = known.get(key)
    begins = packet.flags & (SYN | ACK) == SYN and stream is not None and stream.packets[0].seq != packet.seq
    if stream is None or begins:
        stream = known[key] = Stream(client, server)
        timeline.streams.append(stream)
    return stream
