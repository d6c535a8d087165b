"""Numbers out of what arrived. Pure. A packet is (number, sent, arrived), times in ns."""

import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from lanelab.driver.link.arrivals import Packet, in_order

MOST_NOISE = 0.02  # of the rate: noisier, and it is not tolerated but measured again


class Pace(NamedTuple):
    """The time that a packet takes in a train, and by what part it may be off."""

    packet_s: float
    uncertain: float
    packets: int
    took_s: float


def pace_by_ends(packets: Sequence[Packet]) -> Pace | None:
    """For a train of which nothing should be lost: what is missing was dropped before the wire and took no time."""
    times = sorted(arrived for _, _, arrived in packets)
    if len(times) < 2 or times[-1] == times[0]:
        return None
    took_s = (times[-1] - times[0]) / 1e9
    return Pace(took_s / (len(times) - 1), 0.0, len(times), took_s)


def pace_by_neighbours(packets: Sequence[Packet]) -> Pace | None:
    """Estimate the pace of a train of which some should be lost. Between packets with consecutive numbers nothing was,
    neither in a full queue, which takes no time, nor after it, which does: their gaps tell the rate whatever is missing
    elsewhere."""
    ordered = in_order(packets)
    gaps_s, runs, before = [], 0, -2
    for first, second in pairwise(ordered):
        if second[0] == first[0] + 1:
            gaps_s.append((second[2] - first[2]) / 1e9)
            runs += before != first[0]
            before = second[0]
    total_s = sum(gaps_s)
    if len(gaps_s) < 2 or total_s <= 0:
        return None
    # within a run the gaps' errors cancel out, except at its two ends
    noise = 3 * statistics.pstdev(gaps_s) * runs**0.5 / total_s
    return Pace(total_s / len(gaps_s), min(noise, MOST_NOISE), len(ordered), (ordered[-1][2] - ordered[0][2]) / 1e9)


def pace_by_slope(packets: Sequence[Packet], jitter_s: float, *, numbered: bool) -> Pace | None:
    """Least squares of arrival over number (over rank, if not `numbered`): with jitter no single arrival can be relied
    on. Jitter that keeps the order holds packets up behind late ones, for about three times itself: so long one
    arrival is like the next, and the first ones, behind none, are early."""
    arrived = sorted(packets, key=lambda packet: packet[2])
    if len(arrived) < 2:
        return None
    early_ns = arrived[0][2] + 6e9 * jitter_s
    settled = [packet for packet in arrived if packet[2] >= early_ns]
    if len(settled) < max(4, len(arrived) // 2):
        settled = arrived
    ranks = [float(packet[0]) if numbered else float(rank) for rank, packet in enumerate(settled)]
    times_s = [(packet[2] - settled[0][2]) / 1e9 for packet in settled]
    took_s = times_s[-1]
    if took_s <= 0:
        return None
    packet_s = statistics.linear_regression(ranks, times_s).slope
    if packet_s <= 0:
        return None
    uncertain = 3 * jitter_s / took_s * (12 * max(packet_s, 3 * jitter_s) / took_s) ** 0.5
    return Pace(packet_s, uncertain, len(settled), took_s)


def queue_depth(waited_s: float, packet_s: float, gap_s: float) -> float:
    """Return the depth of the queue in packets, from how much longer the last packets of an overflowing burst waited
    than the first. The queue's limit counts the packet that is being sent, which the first one did not wait for either:
    one more. And a packet is taken in only once another has left, half a gap of the burst before on average, which it
    did not wait for."""
    return waited_s / packet_s + 1 + min(gap_s, packet_s) / packet_s / 2


def undisturbed(times_ms: Sequence[float], delay_ms: float) -> list[float]:
    """Return delays without those of packets that skipped the delay."""
    ordered = sorted(times_ms)
    usual = ordered[int(len(ordered) * 0.9)] if ordered else 0.0
    return [value for value in times_ms if value > usual - delay_ms / 2]
