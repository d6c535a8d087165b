"""Which packet is which at both ends of a link: datagrams by what they carry, packets that are alike by time."""

import random
from collections.abc import Collection, Sequence

import pytest

from lanelab.driver.link import Link
from lanelab.driver.record.evidence.link import Losses
from lanelab.driver.trial.packets.crossing import CUT, Passage, crossing
from lanelab.driver.trial.packets.emulation import emulation_error
from lanelab.driver.trial.packets.frames import UDP_HEADER, inside
from lanelab.driver.trial.packets.link_evidence import link_evidence
from lanelab.driver.trial.packets.packets import open_capture, places
from lanelab.driver.trial.packets.timeline import ACK, SYN, Packet, Stream, Timeline, read_timeline
from tests.kit.frames import CLIENT, SERVER, pcap, udp
from tests.kit.machine import ROOT

CAPTURE, SERVER_PORT = ROOT / "tests" / "data" / "quic" / "chromium.pcapng.gz", 8443
LINK = Link.parse({"rtt": "20ms", "rate": "8mbit", "queue": "1000p"})  # a byte takes a microsecond
DELAY_US, APART_US, PAUSE_US, BEGAN_US = 10_000, 1000, 400_000, 1_700_000_000_000_000
WHOLE, MS = 262_144, 1_000_000
SIZE = 1402  # of most full datagrams of that server
Frames = list[tuple[int, bytes]]


def _talk() -> list[tuple[bool, bytes]]:
    """Of a real browser and server, and as many again as they would send of a larger page: whether it is from the
    client, and what is in it. At the end one each way."""
    capture, said, rng = open_capture(CAPTURE), [], random.Random(5)
    for _, size, begin, end in places(capture):
        found = inside(capture.data, begin, end, size, capture.link)
        assert found is not None
        to_server = int.from_bytes(capture.data[found.at + 2 : found.at + 4]) == SERVER_PORT
        said.append((to_server, capture.data[found.at + UDP_HEADER : end]))
    more = [(False, rng.randbytes(SIZE)) for _ in range(60)]  # encrypted, and Chromium's ids are empty
    return [*said, *more, (True, b"\x40" + bytes(range(60))), (False, b"\x41" + bytes(range(60)))]


TALK = _talk()
FULL = [number for number, (up, payload) in enumerate(TALK) if not up and len(payload) == SIZE]
UP = [number for number, (up, _) in enumerate(TALK) if up]
DOWN = [number for number, (up, _) in enumerate(TALK) if not up]


def over_the_link(lost: Collection[int]) -> tuple[Frames, Frames, dict[bool, list[Passage]]]:
    """What client and server capture of the talk, and what happened. What is lost was sent by the bottleneck."""
    client, server, busy_us = Frames(), Frames(), {True: 0, False: 0}
    truth: dict[bool, list[Passage]] = {True: [], False: []}
    for number, (up, payload) in enumerate(TALK):
        left_us = BEGAN_US + number * APART_US + (PAUSE_US if number >= len(TALK) - 2 else 0)
        ends = (CLIENT, 50_000, SERVER, 443) if up else (SERVER, 443, CLIENT, 50_000)
        frame = udp(*ends, payload, number=0)
        busy_us[up] = max(busy_us[up], left_us) + len(frame)
        arrives_us = None if number in lost else busy_us[up] + DELAY_US
        near, far = (client, server) if up else (server, client)
        near.append((left_us, frame))
        far += [] if arrives_us is None else [(arrives_us, frame)]
        truth[up].append(Passage(left_us * 1000, None if arrives_us is None else arrives_us * 1000, len(frame)))
    return sorted(client), sorted(server), truth


def timelines(client: Frames, server: Frames, snaplens: Sequence[int] = (WHOLE, WHOLE)) -> tuple[Timeline, Timeline]:
    near, far = (pcap(frames, snaplen=most) for frames, most in zip((client, server), snaplens, strict=True))
    return read_timeline(near, CLIENT), read_timeline(far, CLIENT)


LOST = {
    "none": (),
    "one, down": FULL[1:2],
    "two together": FULL[len(FULL) // 2 :][:2],
    "the first, and one in the middle": (FULL[0], FULL[len(FULL) // 2]),
    "up": UP[len(UP) // 2 :][:2],
    "both ways": (FULL[1], FULL[3], UP[2]),
}


@pytest.mark.parametrize("snaplens", [(WHOLE, WHOLE), (WHOLE, 96), (96, WHOLE), (96, 96)], ids=str)
@pytest.mark.parametrize("lost", LOST.values(), ids=LOST)
def test_of_quic_exactly_those_are_lost_that_were(lost: Collection[int], snaplens: Sequence[int]) -> None:
    """Most have one size, and all of them one identification."""
    assert len(FULL) > len(DOWN) / 2
    client_frames, server_frames, truth = over_the_link(lost)
    client, server = timelines(client_frames, server_frames, snaplens)
    down, up = crossing(server, client, up=False), crossing(client, server, up=True)
    assert down is not None
    assert up is not None
    assert {False: down.passages, True: up.passages} == truth
    assert down.strange == up.strange == 0
    error = emulation_error(client, server, LINK)
    assert (error.median_ms, error.worst_99_ms, error.not_told) == (0, 0, None)
    seen = link_evidence(client, server, LINK)
    # Had the very last packet of a way been lost, nobody would know.
    assert seen.losses_down == Losses(len(DOWN) - 1, len({*DOWN} & {*lost}), 0)
    assert seen.losses_up == Losses(len(UP) - 1, len({*UP} & {*lost}), 0)


@pytest.mark.parametrize("snaplens", [(WHOLE, 81), (81, WHOLE), (60, 60)], ids=str)
def test_of_captures_that_are_cut_too_short_nothing_is_told(snaplens: Sequence[int]) -> None:
    client_frames, server_frames, _ = over_the_link(FULL[1:2])
    client, server = timelines(client_frames, server_frames, snaplens)
    error = emulation_error(client, server, LINK)
    assert error.not_told == CUT
    assert (error.median_ms, error.worst_99_ms, error.down.packets, error.up.idle_ms) == (None, None, 0, None)
    seen = link_evidence(client, server, LINK)
    assert seen.losses_down == seen.losses_up == Losses(0, 0, 0)


def test_a_copy_that_the_link_made_is_the_same_datagram() -> None:
    client_frames, server_frames, truth = over_the_link(())
    copied = sorted([*client_frames, *((at_us + 5, frame) for at_us, frame in client_frames[10:20])])
    client, server = timelines(copied, server_frames)
    down = crossing(server, client, up=False)
    assert down is not None
    assert (down.passages, down.strange) == (truth[False], 0)


def answer(at_ms: int, seq: int = 0, flags: int = SYN | ACK) -> Packet:
    """Of the server: one without a timestamp is the same each time that it is sent."""
    return Packet(at_ms + 1, at_ms * MS, False, 74, seq, 1, 0, flags, 500, 0, None, 1460, sacks=False)


@pytest.mark.parametrize(
    ("left_ms", "came_ms", "arrived_ms"),
    [
        ((0, 1000), (1010,), (None, 1010)),
        ((0, 1000), (10,), (10, None)),
        ((0, 1000), (10, 1010), (10, 1010)),
        ((0, 1000), (), (None, None)),
        ((0, 200, 1000), (210,), (None, 210, None)),
        ((0, 200, 1000), (10, 1015), (10, None, 1015)),
        ((0, 200, 1000), (215, 1010), (None, 215, 1010)),
        ((0, 200), (10, 11, 210), (10, 210)),  # a copy that the link made
    ],
)
def test_of_packets_that_are_alike_time_tells_which_came(
    left_ms: Sequence[int], came_ms: Sequence[int], arrived_ms: Sequence[int | None]
) -> None:
    def capture(times: Sequence[int], other: int) -> Timeline:
        packets = [*map(answer, times), answer(other, 1, ACK)]
        return Timeline([Stream((CLIENT, 40_000), (SERVER, 80), packets)], [])

    found = crossing(capture(left_ms, 2000), capture(came_ms, 2010), up=False)
    assert found is not None
    expected = [None if each is None else each * MS for each in arrived_ms]
    assert [each.arrived_ns for each in found.passages] == [*expected, 2010 * MS]


def test_a_link_slower_than_the_timer_is_no_riddle() -> None:
    """Sent again before the first could come."""
    left, came = [answer(0), answer(200), answer(2000, 1, ACK)], [answer(500), answer(2300, 1, ACK)]
    sender, receiver = (Timeline([Stream((CLIENT, 40_000), (SERVER, 80), each)], []) for each in (left, came))
    found = crossing(sender, receiver, up=False)
    assert found is not None
    assert [each.arrived_ns for each in found.passages] == [None, 500 * MS, 2300 * MS]
