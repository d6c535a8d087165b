"""Every packet of QUIC connections with its time, and what the keys show of it: numbers, acknowledgements, streams.

Beside these each connection is a `Stream` too, as those of TCP are, with a packet for each datagram: so whoever goes by
times, sizes and payloads alone need not know the difference. Its payload is the data of requests and answers where the
packets could be opened; elsewhere all of a datagram that is too long to be an acknowledgement alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lanelab.driver.trial.packets.packet_fields import NS_PER_US, Packet, RoundTripNs, Seen, Stream
from lanelab.driver.trial.packets.quic import Kind
from lanelab.driver.trial.packets.quic_frames import STREAMS
from lanelab.driver.trial.packets.quic_session import ONE_RTT, Session
from lanelab.driver.trial.packets.quic_session import Packet as Opened
from lanelab.driver.trial.packets.secrets import Secrets

LONGEST_ACKNOWLEDGEMENT = 100  # bytes of a datagram
FLIGHT_NS = 5_000_000  # datagrams of one hello are sent so close together; one that is sent again comes much later
KINDS_OF_STREAMS = 4  # the first are those of requests: begun by the client, in both directions


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
    number: int  # -1: it could not be opened, and nothing more is known of it. Of one that was cut nothing else is
    acknowledged: tuple[tuple[int, int], ...]
    pieces: tuple[Piece, ...]
    held: int = 0  # how long its acknowledgement was held back, in the unit that its sender named


@dataclass(slots=True)
class QuicStream:
    """One connection."""

    stream: Stream
    session: Session
    packets: list[QuicPacket] = field(default_factory=list)
    unread: int = 0  # datagrams to the client that are long enough for data, and do not tell what they carry

    def take(self, seen: Seen, payload: bytes, length: int, ip_id: int) -> None:
        """Take one datagram; `payload` is what was captured of its `length` bytes."""
        opened = self.session.take(payload, up=seen.up, cut=len(payload) < length)
        packets = [_packet(seen, each) for each in opened]
        self.packets += packets
        carried = _carried(opened, packets, length)
        self.unread += carried > 0 and not seen.up and not _is_read(opened)
        self.stream.packets.append(Packet(*seen, 0, 0, carried, 0, 0, ip_id, None, None, sacks=False))

    @property
    def ready_ns(self) -> int | None:
        """Return when the client first sent what may be a request."""
        ready = (each.at_ns for each in self.packets if each.up and each.kind in (Kind.ZERO_RTT, ONE_RTT))
        return next(ready, None)


def opening(client: tuple[str, int], server: tuple[str, int], secrets: Secrets) -> QuicStream:
    return QuicStream(Stream(client, server), Session(secrets, whole=True))


def _packet(seen: Seen, opened: Opened) -> QuicPacket:
    ranges = tuple(each for frame in opened.frames for each in frame.acknowledged)
    pieces = tuple(
        Piece(frame.stream, frame.offset, len(frame.data), frame.fin)
        for frame in opened.frames
        if frame.kind in STREAMS
    )
    held = next((frame.held for frame in opened.frames if frame.acknowledged), 0)
    return QuicPacket(*seen, opened.kind, opened.number, ranges, pieces, held)


def _is_read(opened: Sequence[Opened]) -> bool:
    """Return whether all packets of a datagram that may be of requests and answers could be opened."""
    return all(each.is_open for each in opened if each.kind in (Kind.ZERO_RTT, ONE_RTT))


def _carried(opened: Sequence[Opened], packets: Iterable[QuicPacket], length: int) -> int:
    """Return how many bytes of requests and answers a datagram has, as far as is known."""
    if _is_read(opened):
        return sum(piece.length for packet in packets for piece in packet.pieces if piece.of_request)
    return length if length > LONGEST_ACKNOWLEDGEMENT else 0


def round_trips(connection: QuicStream) -> list[RoundTripNs]:
    """Return the round trips of packets from the client, each until its first acknowledgement. Numbers are used once,
    so each acknowledgement names one packet. Where none of an Initial can be read (of a short snap length, say), there
    is that of the handshake's beginning; but not where the client said its hello again, if anything else is known:
    nobody knows which of the two was answered."""
    trips = list(_acknowledged(connection))
    if not any(trip.shakes for trip in trips):
        trips += _handshake(connection.stream.packets, alone=not trips)
    return trips


def _handshake(datagrams: Sequence[Packet], *, alone: bool) -> Iterator[RoundTripNs]:
    """Yield the round trip from the client's first datagram to the server's. A server that has more to say than an
    acknowledgement has read the whole hello, which may be in several datagrams."""
    first = next(iter(datagrams), None)
    answer = next((each for each in datagrams if not each.up), None)
    if first is None or answer is None or not first.up:
        return
    before = [each for each in datagrams if each.up and each.at_ns <= answer.at_ns]
    hello = [each for each in before if each.at_ns <= first.at_ns + FLIGHT_NS]
    if len(before) > len(hello) and not alone:
        return
    whole = sum(each.frame_bytes for each in hello)
    up_bytes = first.frame_bytes if answer.frame_bytes <= LONGEST_ACKNOWLEDGEMENT else whole
    sizes = up_bytes, answer.frame_bytes
    yield RoundTripNs(answer.at_ns - first.at_ns, *sizes, True, first.at_ns, by_program=True)


def _acknowledged(connection: QuicStream) -> Iterator[RoundTripNs]:
    """Yield those of packets whose numbers are known. Only acknowledgements of the application's packets may be held
    back, and say for how long."""
    unit_ns = (connection.session.held_unit_us or 0) * NS_PER_US
    sent: dict[tuple[int, int], QuicPacket] = {}
    for packet in connection.packets:
        space = ONE_RTT if packet.kind == Kind.ZERO_RTT else packet.kind
        if packet.up and packet.number >= 0:
            sent[space, packet.number] = packet
            continue
        newest = next((number for _, number in packet.acknowledged), -1)
        packet_up = sent.pop((space, newest), None)
        if packet_up is not None:
            took, held = packet.at_ns - packet_up.at_ns, packet.held * unit_ns if space == ONE_RTT else 0
            sizes = packet_up.frame_bytes, packet.frame_bytes
            yield RoundTripNs(took, *sizes, space == Kind.INITIAL, packet_up.at_ns, min(held, took), by_program=True)
