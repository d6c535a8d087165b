"""What is estimated from arrivals, with arrivals whose truth is known."""

import random

import pytest

from lanelab.driver.link.arrivals import Packet, in_order, overtaking
from lanelab.driver.link.selftest import estimate

NS = 1_000_000_000


def bottleneck(count: int, sent_gap_s: float, each_s: float, limit: int) -> list[Packet]:
    """A train behind a queue: numbers of dropped packets are missing."""
    ends: list[float] = []
    packets = []
    for number in range(count):
        now = number * sent_gap_s
        if sum(end > now for end in ends[-limit - 1 :]) >= limit:
            continue
        ends.append(max(now, ends[-1] if ends else 0.0) + each_s)
        packets.append((number, int(now * NS), int(ends[-1] * NS)))
    return packets


def lose(packets: list[Packet], share: float, seed: int) -> list[Packet]:
    chance = random.Random(seed)
    return [packet for packet in packets if chance.random() >= share]


def shake(packets: list[Packet], jitter_s: float, seed: int, *, ordered: bool) -> list[Packet]:
    """Jitter; where it keeps the order, a packet behind a late one is late too."""
    chance, latest, shaken = random.Random(seed), 0, []
    for number, sent, arrived in packets:
        there = arrived + int((0.05 + max(-0.05, chance.gauss(0, jitter_s))) * NS)
        latest = max(latest, there)
        shaken.append((number, sent, latest if ordered else there))
    return shaken


@pytest.mark.parametrize("seed", range(20))
def test_a_slow_bottleneck_is_seen_through_losses(seed: int) -> None:
    """Asked 10 Mbit/s, there are 9: the queue drops what does not pass, and the loss must not be blamed for it."""
    packets = lose(bottleneck(280, 0.00121, 0.00121 * 10 / 9, 10), 0.005, seed)
    pace = estimate.pace_by_neighbours(packets)
    assert pace
    assert pace.packet_s == pytest.approx(0.00121 * 10 / 9, rel=0.001)
    sound = estimate.pace_by_neighbours(lose(bottleneck(280, 0.00121, 0.00121, 10), 0.3, seed))
    assert sound
    assert sound.packet_s == pytest.approx(0.00121, rel=0.001)


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_jitter_moves_a_rate_by_no_more_than_is_tolerated(seed: int, ordered: bool) -> None:
    for jitter_s, packet_s in ((0.005, 0.006), (0.01, 0.00121), (0.005, 0.00121), (0.02, 0.006)):
        count = int(min(2, 150 * jitter_s) / packet_s)
        packets = shake(bottleneck(count, packet_s, packet_s, 10**6), jitter_s, seed, ordered=ordered)
        pace = estimate.pace_by_slope(packets, jitter_s, numbered=False)
        assert pace
        assert pace.packet_s == pytest.approx(packet_s, rel=0.005 + pace.uncertain)
        assert pace.uncertain < 0.03


def test_skipping_packets_are_the_ones_that_overtook() -> None:
    packets = [(0, 0, 10), (1, 1, 11), (2, 2, 3), (3, 3, 13), (4, 4, 5)]
    assert overtaking(packets) == 2
    assert [packet[0] for packet in in_order(packets)] == [0, 1, 3]
    assert overtaking([]) == 0


@pytest.mark.parametrize("limit", [2, 4, 10, 100])
@pytest.mark.parametrize("factor", [1.5, 4])
def test_the_depth_of_a_queue_is_its_limit(limit: int, factor: float) -> None:
    each_s = 0.001
    packets = bottleneck(int(limit / (1 - 1 / factor) * 1.3) + 40, each_s / factor, each_s, limit)
    waits_s = [(arrived - sent) / NS for _, sent, arrived in packets]
    waited_s = sorted(waits_s[-6:])[4] - min(waits_s)
    assert estimate.queue_depth(waited_s, each_s, each_s / factor) == pytest.approx(limit, abs=0.6)


def test_pings_that_skipped_the_delay_are_left_out() -> None:
    assert estimate.undisturbed([40.1, 20.2, 40.0, 0.3, 39.9, 20.1, 40.0], 20) == [40.1, 40.0, 39.9, 40.0]
    assert len(estimate.undisturbed([40.1, 40.0, 39.9], 20)) == 3


def test_nothing_is_said_about_too_few_packets() -> None:
    for pace in (
        estimate.pace_by_ends([(0, 0, 0)]),
        estimate.pace_by_neighbours([]),
        estimate.pace_by_slope([], 1, numbered=True),
    ):
        assert pace is None
