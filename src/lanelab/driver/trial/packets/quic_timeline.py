"""Every packet of QUIC connections with its time, and what the keys show of it: numbers, acknowledgements, streams.

Beside these each connection is a `Stream` too, as those of TCP are, with a packet for each datagram: so whoever goes by
times, sizes and payloads alone need not know the difference. Its payload is the data of requests and answers where the
packets could be opened; elsewhere all of a datagram that is too long to be an acknowledgement alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lanelab.driver.trial.packets.packet_fields import Packet, Seen, Stream
from lanelab.driver.trial.packets.quic import Kind
from lanelab.driver.trial.packets.quic_frames import STREAMS
from lanelab.driver.trial.packets.quic_session import ONE_RTT, Session
from lanelab.driver.trial.packets.quic_session import Packet as Opened
from lanelab.driver.trial.packets.secrets import Secrets

LONGEST_ACKNOWLEDGEMENT = 100  # bytes of a datagram
FLIGHT_NS = 5_000_000  # datagrams of one hello are sent so close together; one that is sent again comes much later
KINDS_OF_STREAMS = 4  # the first are those of requests: begun by the client, in both directions

# How long, bytes of the frames up and down, whether it was a handshake, when the client sent it.
RoundTripNs = tuple[int, int, int, bool, int]


class Piece(NamedTuple):
    """A piece of a stream, as one packet carries it."""

    stream: int
    offset: int
    length: int
    fin: bool

    @property
    def of_request(self) -> bool:
        return self.stream % KINDS_OF_STREAMS == 0


class QuicPacket(NamedTuple):
    """One packet. Several may be in a datagram, and so in a frame."""

    frame: int  # its number in the capture
    at_ns: int
    up: bool
    frame_bytes: int
    kind: int
    number: int  # -1: it could not be opened, and nothing more is known of it
    acknowledged: tuple[tuple[int, int], ...]
    pieces: tuple[Piece, ...]


@dataclass(slots=True)
class QuicStream:
    """One connection."""

    stream: Stream
    session: Session
    packets: list[QuicPacket] = field(default_factory=list)

    def take(self, seen: Seen, payload: bytes, ip_id: int) -> None:
        """Take one datagram."""
        opened = self.session.take(payload, up=seen.up)
        packets = [_packet(seen, each) for each in opened]
        self.packets += packets
        carried = _carried(opened, packets, len(payload))
        self.stream.packets.append(Packet(*seen, 0, 0, carried, 0, 0, ip_id, None, None, sacks=False))

    @property
    def ready_ns(self) -> int | None:
        """Return when the client first sent what may be a request."""
        ready = (each.at_ns for each in self.packets if each.up and each.kind in (Kind.ZERO_RTT, ONE_RTT))
        return next(ready, None)

    @property
    def is_open(self) -> bool:
        """Return whether all that came of the application could be opened."""
        packets = [each for each in self.packets if each.kind == ONE_RTT]
        return bool(packets) and all(each.number >= 0 for each in packets)


def opening(client: tuple[str, int], server: tuple[str, int], secrets: Secrets) -> QuicStream:
    return QuicStream(Stream(client, server), Session(secrets, whole=True))


def _packet(seen: Seen, opened: Opened) -> QuicPacket:
    ranges = tuple(each for frame in opened.frames for each in frame.acknowledged)
    pieces = tuple(
        Piece(frame.stream, frame.offset, len(frame.data), frame.fin)
        for frame in opened.frames
        if frame.kind in STREAMS
    )
    return QuicPacket(*seen, opened.kind, opened.number, ranges, pieces)


def _carried(opened: Iterable[Opened], packets: Iterable[QuicPacket], length: int) -> int:
    """Return how many bytes of requests and answers a datagram has, as far as is known."""
    of_application = [each for each in opened if each.kind in (Kind.ZERO_RTT, ONE_RTT)]
    if all(each.is_open for each in of_application):
        return sum(piece.length for packet in packets for piece in packet.pieces if piece.of_request)
    return length if length > LONGEST_ACKNOWLEDGEMENT else 0


def round_trips(connection: QuicStream) -> Iterable[RoundTripNs]:
    """Return the round trips of packets from the client, each until its first acknowledgement. Numbers are used once,
    so each acknowledgement names one packet. Where no packet could be opened (a snap length), return that of the
    handshake alone."""
    if not any(packet.up and packet.number >= 0 for packet in connection.packets):
        return _handshake(connection.stream.packets)
    return _acknowledged(connection.packets)


def _handshake(datagrams: Sequence[Packet]) -> Iterator[RoundTripNs]:
    """Yield the round trip from the client's first datagram to the server's. A server that has more to say than an
    acknowledgement has read the whole hello, which may be in several datagrams."""
    first = next(iter(datagrams), None)
    answer = next((each for each in datagrams if not each.up), None)
    if first is None or answer is None or not first.up:
        return
    until = min(first.at_ns + FLIGHT_NS, answer.at_ns)
    hello = sum(each.frame_bytes for each in datagrams if each.up and each.at_ns <= until)
    up_bytes = first.frame_bytes if answer.frame_bytes <= LONGEST_ACKNOWLEDGEMENT else hello
    yield answer.at_ns - first.at_ns, up_bytes, answer.frame_bytes, True, first.at_ns


def _acknowledged(packets: Sequence[QuicPacket]) -> Iterator[RoundTripNs]:
    sent: dict[tuple[int, int], QuicPacket] = {}
    for packet in packets:
        space = ONE_RTT if packet.kind == Kind.ZERO_RTT else packet.kind
        if packet.up and packet.number >= 0:
            sent[space, packet.number] = packet
            continue
        newest = [number for _, number in packet.acknowledged[:1]]
        for number in newest:
            request_ns = sent.pop((space, number), None)
            if request_ns is not None:
                took, begins = packet.at_ns - request_ns.at_ns, space == Kind.INITIAL
                yield took, request_ns.frame_bytes, packet.frame_bytes, begins, request_ns.at_ns
