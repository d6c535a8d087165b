"""What a connection of QUIC missed, and whether the server's window is smaller for it."""

from lanelab.driver.trial.packets.packet_fields import Packet, Stream
from lanelab.driver.trial.packets.quic import Kind
from lanelab.driver.trial.packets.quic_session import ONE_RTT, Session
from lanelab.driver.trial.packets.quic_timeline import Piece, QuicPacket, QuicStream
from lanelab.driver.trial.parts.quic_course import quic_course
from lanelab.driver.trial.parts.streams import Course, Wire
from tests.kit.tcp_simulation import CLIENT, EPOCH, MS, SERVER

WIRE = Wire(bps=10_000_000, rtt=40 * MS, spread=0)
SIZE = 1200


def course(*packets: tuple[int, bool, int, int | None]) -> Course:
    """Of each packet: when it came, in ms; whether the client sent it; its kind; and which piece of stream 0 it
    carries."""
    stream, made = Stream((CLIENT, 50_000), (SERVER, 443)), []
    for number, (at_ms, up, kind, piece) in enumerate(packets, 1):
        at_ns = EPOCH + at_ms * MS
        stream.packets.append(Packet(number, at_ns, up, SIZE, 0, 0, SIZE, 0, 0, 0, None, None, sacks=False))
        pieces = () if piece is None else (Piece(0, piece * SIZE, SIZE, fin=False),)
        made.append(QuicPacket(number, at_ns, up, SIZE, kind, number, (), pieces))
    return quic_course(QuicStream(stream, Session({}), made), WIRE)


SHAKEN = ((0, True, Kind.INITIAL, None), (40, False, Kind.INITIAL, None), (41, True, ONE_RTT, None))


def test_a_hole_that_a_new_packet_fills_reduced_the_servers_window() -> None:
    made = course(*SHAKEN, (81, False, ONE_RTT, 0), (83, False, ONE_RTT, 2), (124, False, ONE_RTT, 1))
    (missed,) = made.missed
    assert (missed.begin, missed.end) == (EPOCH + 83 * MS, EPOCH + 124 * MS)
    assert made.reduced_ns == missed.begin


def test_a_packet_that_came_late_reduced_nothing() -> None:
    made = course(*SHAKEN, (81, False, ONE_RTT, 0), (83, False, ONE_RTT, 2), (90, False, ONE_RTT, 1))
    assert [each.how for each in made.missed] == ["packets came out of order"]
    assert made.reduced_ns is None


def test_a_first_datagram_that_was_lost_is_no_loss_of_the_servers() -> None:
    again = (Kind.INITIAL, None)
    made = course((0, True, *again), (300, True, *again), (340, False, *again), (341, True, ONE_RTT, None))
    assert [each.how for each in made.missed] == ["lost Initial, or its answer: sent again after 300 ms"]
    assert made.reduced_ns is None
