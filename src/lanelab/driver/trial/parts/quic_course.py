"""What one QUIC connection did: when it was set up, and with its keys what it missed. Pure.

A packet is never sent again under its number, so nothing in clear tells of a loss. What the keys open are the streams:
where the data of one have a hole, the connection missed them until they came, as with TCP.
"""

from collections.abc import Iterator
from itertools import pairwise

from lanelab.driver.trial.packets.quic import Kind
from lanelab.driver.trial.packets.quic_session import ONE_RTT
from lanelab.driver.trial.packets.quic_timeline import Piece, QuicPacket, QuicStream
from lanelab.driver.trial.packets.quic_timeline import round_trips as trips_of
from lanelab.driver.trial.parts.streams import Course, Missed, Wire, hole

MS = 1_000_000
FLIGHT = 50 * MS  # an Initial that comes sooner than this after another is of the same flight
Bytes = list[tuple[int, int]]  # of a stream: from and to, in order, apart from each other


def quic_course(connection: QuicStream, wire: Wire) -> Course:
    """Return the handshake, which TLS is a part of, counts as opening the connection."""
    stream, ready = connection.stream, connection.ready_ns
    first = stream.packets[0].at_ns
    early = any(each.kind == Kind.ZERO_RTT and each.up for each in connection.packets)
    heard = next((each.at_ns for each in connection.packets if not each.up), stream.packets[-1].at_ns)
    opened = first, ready if ready is not None else heard
    again, holes = _received(connection, wire)
    return Course(
        stream=stream,
        connect=None if early else opened,
        tls=None,
        again=again,
        missed=(*holes, *_asked_again(connection)),
        arrivals=tuple(packet.at_ns for packet in stream.packets if not packet.up and packet.payload),
        acknowledgements=tuple(packet.at_ns for packet in stream.packets if packet.up),
    )


def handshake_ns(connection: QuicStream) -> int | None:
    """Return the round trip of its quickest Initial."""
    return min((each.took_ns for each in trips_of(connection) if each.shakes), default=None)


def _received(connection: QuicStream, wire: Wire) -> tuple[frozenset[int], list[Missed]]:
    """Return frames with nothing new, and the holes of all streams."""
    have: dict[int, Bytes] = {}
    since: dict[int, int] = {}  # a stream with a hole -> when it was seen
    again: set[int] = set()
    holes: list[Missed] = []
    for packet in connection.packets:
        if packet.up or packet.kind != ONE_RTT:
            continue
        pieces = [piece for piece in packet.pieces if piece.of_request and piece.length]
        news = [_is_new(have.setdefault(piece.stream, []), piece) for piece in pieces]
        if pieces and not any(news):
            again.add(packet.frame)
        for piece in pieces:
            holes += _closed(have[piece.stream], since, piece, packet, wire)
    return frozenset(again), holes


def _closed(have: Bytes, since: dict[int, int], piece: Piece, packet: QuicPacket, wire: Wire) -> Iterator[Missed]:
    whole = len(have) == 1 and have[0][0] == 0
    if not whole:
        since.setdefault(piece.stream, packet.at_ns)
    elif piece.stream in since:
        yield hole(since.pop(piece.stream), packet.at_ns, wire)


def _is_new(have: Bytes, piece: Piece) -> bool:
    """Return whether it has bytes that were not there; they are now."""
    begin, end = piece.offset, piece.offset + piece.length
    if any(start <= begin and end <= stop for start, stop in have):
        return False
    apart = [each for each in have if each[1] < begin or end < each[0]]
    touching = [each for each in have if not (each[1] < begin or end < each[0])]
    merged = min([begin, *(start for start, _ in touching)]), max([end, *(stop for _, stop in touching)])
    have[:] = sorted([*apart, merged])
    return True


def _asked_again(connection: QuicStream) -> Iterator[Missed]:
    """Yield the waits of handshakes whose first datagrams, or the answers, were lost: the client tried again before
    anything came."""
    packets = [each for each in connection.packets if each.kind == Kind.INITIAL]
    heard = next((each.at_ns for each in packets if not each.up), None)
    tries = sorted({each.at_ns for each in packets if each.up and (heard is None or each.at_ns < heard)})
    for before, after in pairwise(tries):
        if after - before > FLIGHT:
            how = f"lost Initial, or its answer: sent again after {(after - before) / MS:.0f} ms"
            yield Missed(before, after, how, by_server=False)
