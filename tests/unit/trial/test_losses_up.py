"""What a client sent again is a loss only where the server had not got it: also where packets have no timestamps."""

import pytest

from lanelab.driver.link import Link
from lanelab.driver.trial.packets.losses import losses_up
from lanelab.driver.trial.packets.options import read
from lanelab.driver.trial.packets.timeline import ACK, FIN, RST, Packet, Stream, Timeline
from tests.kit.simulated_link import CLIENT, MS, SERVER

LINK = Link.parse({"rtt": "20ms", "rate": "10mbit", "queue": "1000p"})
REQUEST = 600
NEAR_THE_END = 2**32 - 100  # of what sequence numbers can say


def up(number: int, at_ms: int, seq: int) -> Packet:
    return Packet(number, at_ms * MS, True, 54 + REQUEST, seq, 1, REQUEST, ACK, 500, 0, None, None, False)


def down(number: int, at_ms: int, ack: int, block: tuple[int, int] | None = None) -> Packet:
    ack &= 2**32 - 1
    return Packet(number, at_ms * MS, False, 54, 1, ack, 0, ACK, 500, 0, None, None, block is not None, block)


def lost(*packets: Packet) -> int:
    return losses_up(Timeline([Stream((CLIENT, 40000), (SERVER, 80), list(packets))], []), LINK).lost


@pytest.mark.parametrize("seq", [1, NEAR_THE_END])
def test_what_the_server_says_it_got_twice_was_not_lost(seq: int) -> None:
    end = (seq + REQUEST) & (2**32 - 1)
    twice = down(4, 150, seq + REQUEST, (seq, end))
    assert lost(up(1, 0, seq), up(2, 60, seq), down(3, 100, seq + REQUEST), twice) == 0


def test_what_was_sent_again_and_came_once_was_lost() -> None:
    assert lost(up(1, 0, 1), up(2, 230, 1), down(3, 250, 1 + REQUEST)) == 1


def test_a_gap_that_the_server_tells_of_is_a_loss() -> None:
    """The block lies behind what is acknowledged: something is missing, and nothing came twice."""
    second = 1 + REQUEST
    packets = [up(1, 0, 1), up(2, 0, second), down(3, 20, 1, (second, second + REQUEST)), up(4, 30, 1)]
    assert lost(*packets, down(5, 50, second + REQUEST)) == 1


def test_what_a_closed_server_cannot_tell_of_does_not_count() -> None:
    """The last word of TLS, said again to a server that has closed: the reset says nothing of the first."""
    end = 1 + REQUEST
    fin = down(2, 40, end)._replace(flags=ACK | FIN)
    assert lost(up(1, 0, 1), fin, up(3, 41, end), up(4, 300, end), down(5, 320, end)._replace(flags=RST)) == 0


def test_each_word_of_the_server_excuses_one() -> None:
    """Of two that were sent again one had arrived."""
    second = 1 + REQUEST
    packets = [up(1, 0, 1), up(2, 0, second), up(3, 60, 1), up(4, 61, second)]
    assert lost(*packets, down(5, 100, second + REQUEST), down(6, 101, second + REQUEST, (1, second))) == 1


@pytest.mark.parametrize(("block", "is_lost"), [((1, 1 + REQUEST), 0), (None, 1)])
def test_a_request_whose_answer_was_lost_had_arrived(block: tuple[int, int] | None, is_lost: int) -> None:
    """The server acknowledges with its answer, which the link loses. The request comes again: Linux echoes the repeat's
    time, as it does where the first was lost, and says besides that it came twice."""
    first, again = (packet._replace(timestamp=(packet.at_ns // MS, 7)) for packet in (up(1, 0, 1), up(2, 290, 1)))
    answer = down(3, 350, 1 + REQUEST, block)._replace(timestamp=(8, 290))
    assert lost(first, again, answer) == is_lost


def test_the_first_block_of_a_selective_acknowledgement_is_read() -> None:
    block = (7).to_bytes(4) + (9).to_bytes(4)
    options = read(bytes([1, 1, 5, 18]) + block + bytes(8), 0, 20)
    assert options.sacks
    assert options.block == (7, 9)
