"""What a full queue may have dropped is no loss of the link: also where the packets behind came long afterwards, since
their whole flight was dropped and TCP's timer had to go off."""

import pytest

from lanelab.driver.link import Link
from lanelab.driver.trial.packets.losses import losses_down
from lanelab.driver.trial.packets.timeline import ACK, SYN, Packet, Stream, Timeline
from tests.kit.simulated_link import CLIENT, MS, SERVER

LINK = Link.parse({"rtt": "70ms", "rate": "1.2mbit", "queue": "20p"})
ON_WIRE_MS = 10.1  # of a full packet
FULL = 1448
Came = list[tuple[float, int, int]]  # at which ms, the sequence number, how much


def stream(port: int, came: Came) -> Stream:
    packets = [
        Packet(round(at_ms * 10), round(at_ms * MS), False, 66 + size, seq, 1, size, ACK, 500, 0, None, None, False)
        for at_ms, seq, size in came
    ]
    return Stream((CLIENT, port), (SERVER, 80), [packets[0]._replace(flags=SYN | ACK), *packets[1:]])


def busy(begins_ms: float, packets: int, apart_ms: float = ON_WIRE_MS) -> Stream:
    """Another connection, whose packets came one behind the other."""
    came = [(begins_ms + number * apart_ms, 1 + number * FULL, FULL) for number in range(packets)]
    return stream(40000, [(begins_ms - 80, 0, 0), *came])


def dropped(seen_again_ms: float) -> Stream:
    """A connection of whose first flight of four packets none came. The first is sent again when TCP's timer goes off,
    and shows nothing; what is new behind it shows the gap."""
    new = (seen_again_ms + 80, 1 + 4 * FULL, FULL)
    return stream(40001, [(1000, 0, 0), (seen_again_ms, 1, FULL), new])


def losses(*streams: Stream) -> tuple[int, int]:
    counted = losses_down(Timeline(list(streams), []), LINK, lambda _: 70 * MS)
    return counted.lost, counted.overflowed


@pytest.mark.parametrize("again_ms", [1450, 1900, 3000])
def test_a_flight_that_met_a_full_queue_was_dropped_by_it(again_ms: float) -> None:
    """It is 400 ms, or some seconds, from the drop to what is sent again."""
    assert losses(busy(1100, 20), dropped(again_ms)) == (3, 3)


def test_a_gap_behind_what_was_sent_again_is_of_the_same_flight() -> None:
    """The first two packets are sent again, and the second of them shows nothing either."""
    again: Came = [(1700, 1, FULL), (1780, 1 + FULL, FULL), (1860, 1 + 6 * FULL, FULL)]
    assert losses(busy(1100, 20), stream(40001, [(1000, 0, 0), *again])) == (4, 4)


def test_without_a_queue_that_was_full_it_is_a_loss() -> None:
    assert losses(busy(1100, 20, apart_ms=30), dropped(1900)) == (3, 0)
    assert losses(busy(1100, 8), dropped(1900)) == (3, 0)


def test_a_queue_that_was_full_long_before_dropped_nothing_of_it() -> None:
    came: Came = [(4000, 1, FULL), (4080, 1 + FULL, FULL), (4160, 1 + 3 * FULL, FULL)]
    assert losses(busy(1100, 20), stream(40001, [(3900, 0, 0), *came])) == (1, 0)
