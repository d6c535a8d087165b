"""The self-test: what the link does, measured from inside the bed, against what was asked for."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from driver.bed.node import Node
from driver.link import HEADER, Direction, GilbertElliott, Link
from driver.selftest import plan, traffic
from driver.selftest.results import Result, SelfTest, at_most, chance, failed, not_measured, shown, within
from driver.topology import ADDRESSES

RTT_TOLERANCE_MS, RTT_TOLERANCE = 0.5, 0.01
RATE_TOLERANCE = 0.01
QUEUE_TOLERANCE_PACKETS, QUEUE_TOLERANCE = 3, 0.05
CALM_DEVIATION_MS = 2.0  # without jitter; more than this and the machine is too busy to measure on
JITTER_TOLERANCE = 0.35
ATTEMPTS = 3

Send = Callable[[plan.Train], traffic.Seen]
FAST_BPS = 50_000_000  # above it, directions are measured one after the other


def measure(
    link: Link, client: Node, server: Node, lost_at_input: Callable[[], int], *, thorough: bool = False
) -> SelfTest:
    """Measure everything that the link sets; a few seconds unless `thorough`. `lost_at_input`: what the router was too
    slow to take in meanwhile."""
    started = time.monotonic()
    results = _round_trip(link, client, server)
    ways = (("down", link.down, server, client), ("up", link.up, client, server))
    fast = any(way.rate and way.rate.bps > FAST_BPS for _, way, _, _ in ways)
    with ThreadPoolExecutor(1 if fast else 2) as pool:
        for found in pool.map(lambda way: _one_way(way[0], way[1], link.mtu, way[2], way[3], thorough=thorough), ways):
            results += found
    results.append(at_most("lost at input", "packets", lost_at_input(), 0))
    return SelfTest(tuple(results), time.monotonic() - started)


def _round_trip(link: Link, client: Node, server: Node) -> list[Result]:
    sent, times_ms = traffic.ping(client, server, ADDRESSES["server"], plan.pings(link))
    if len(times_ms) < 2:
        return [failed("rtt", "ms", link.rtt.milliseconds, f"of {sent} packets {len(times_ms)} came back")]
    on_wire = plan.serialization_ms(link, plan.PING_FRAME)
    achieved = statistics.median(times_ms) - on_wire
    deviation = statistics.pstdev(times_ms)
    target = link.rtt.milliseconds
    tolerance = max(RTT_TOLERANCE_MS, RTT_TOLERANCE * target)
    spread = _expected_deviation_ms(link)
    if spread:
        tolerance += 3 * 1.2533 * spread / len(times_ms) ** 0.5  # the standard error of a median
    note = f"median of {len(times_ms)}"
    if on_wire >= 0.01:
        note += f", without the {on_wire:.2f} ms that the packets take on the wire"
    results = [within("rtt", "ms", target, achieved, tolerance, note)]
    if _skewed(link):
        results.append(shown("rtt deviation", "ms", deviation, "this distribution's tail makes it vary"))
    elif spread:
        allowed = JITTER_TOLERANCE * spread + RTT_TOLERANCE_MS
        results.append(within("rtt deviation", "ms", spread, deviation, allowed, "from the jitter of both directions"))
    else:
        results.append(at_most("rtt deviation", "ms", deviation, CALM_DEVIATION_MS))
    return results


def _expected_deviation_ms(link: Link) -> float:
    """Of a round trip, from the jitter of its two directions. A uniform jitter is half the width of its
    range."""
    parts = [
        way.jitter.milliseconds / (3**0.5 if way.jitter_distribution == "uniform" else 1)
        for way in (link.down, link.up)
    ]
    return float((parts[0] ** 2 + parts[1] ** 2) ** 0.5)


def _skewed(link: Link) -> bool:
    return any(way.jitter and way.jitter_distribution.startswith("pareto") for way in (link.down, link.up))


def _one_way(name: str, way: Direction, mtu: int, sender: Node, receiver: Node, *, thorough: bool) -> list[Result]:
    def send(train: plan.Train) -> traffic.Seen:
        return traffic.send(sender, receiver, ADDRESSES[receiver.name], train)

    results = []
    train = plan.rate_train(way, mtu)
    if way.rate:
        results.append(_settled(lambda: _rate(f"rate {name}", way, train, send)))
        burst = plan.queue_burst(way, mtu, thorough=thorough)
        results.append(_settled(lambda: _queue(f"queue {name}", way, mtu, burst, send)))
    chances = plan.chance_train(way, thorough=thorough)
    if chances:
        results += _chances(name, way, send(chances))
    return results


def _settled(measure_once: Callable[[], Result]) -> Result:
    """A busy machine can spoil a measurement but not mend a wrong link: one that is out is measured again."""
    for attempt in range(1, ATTEMPTS + 1):
        result = measure_once()
        if result.verdict != "out" or attempt == ATTEMPTS:
            break
    return result if attempt == 1 else replace(result, note=f"{result.note}; attempt {attempt} of {ATTEMPTS}")


def _rate(name: str, way: Direction, train: plan.Train | str, send: Send) -> Result:
    """Between the first and the last packet the bottleneck was busy. Packets that the link loses took its time too, so
    with loss the numbers tell how many passed; what a full queue, an AQM or a busy machine drops took none."""
    assert way.rate is not None  # noqa: S101 - there is no train without one
    target_mbit = way.rate.mbit
    if isinstance(train, str):
        return not_measured(name, "Mbit/s", target_mbit, train)
    seen = send(train)
    packets = sorted(seen.once, key=lambda packet: packet[2])
    if len(packets) < 2:
        return failed(name, "Mbit/s", target_mbit, f"of {seen.sent} packets {len(packets)} arrived")
    first, last = packets[0], packets[-1]
    if way.loss.mean_loss and not plan.is_fast(way):
        passed: float = last[0] - first[0]
    else:
        passed = (len(packets) - 1 + seen.dropped_here) / (1 - way.loss.mean_loss)
    took_s = (last[2] - first[2]) / 1e9
    note = f"{len(packets)} packets in {took_s * 1000:.0f} ms"
    achieved = passed * train.frame * 8 / took_s / 1e6
    tolerance = RATE_TOLERANCE + 2 * way.jitter.seconds / took_s  # jitter moves the first and the last packet
    return within(name, "Mbit/s", target_mbit, achieved, target_mbit * tolerance, note)


def _queue(name: str, way: Direction, mtu: int, burst: plan.Train | str, send: Send) -> Result:
    """How long the last packets of an overflowing burst waited, in full-size packets at the link's rate."""
    assert way.rate is not None  # noqa: S101 - the caller has asked
    frame = mtu + HEADER
    target = way.queue_bytes / frame if way.queue_bytes is not None else float(way.queue_packets or 0)
    if isinstance(burst, str):
        return not_measured(name, "packets", target, burst)
    seen = send(burst)
    if len(seen.packets) < 2:
        return failed(name, "packets", target, f"of {seen.sent} packets {len(seen.packets)} arrived")
    waits_s = [(arrived - sent) / 1e9 for _, sent, arrived in sorted(seen.packets)]
    full = waits_s[-max(3, len(waits_s) // 12) :]
    waited_s = statistics.median(full) - min(waits_s)
    achieved = waited_s * way.rate.bps / (8 * frame)
    tolerance = max(QUEUE_TOLERANCE_PACKETS, QUEUE_TOLERANCE * target)
    tolerance += 4 * way.jitter.seconds * way.rate.bps / (8 * frame)
    return within(name, "packets", target, achieved, tolerance, f"its last packets waited {waited_s * 1000:.0f} ms")


def _chances(name: str, way: Direction, seen: traffic.Seen) -> list[Result]:
    arrived = seen.once
    results = []
    if way.loss.mean_loss:
        lost = seen.sent - len(arrived) - seen.dropped_here
        bunched = way.loss.mean_burst * 2 if isinstance(way.loss, GilbertElliott) else 1.0
        results.append(chance(f"loss {name}", way.loss.mean_loss, max(0, lost), seen.sent, bunched=bunched))
    if way.duplicate:
        results.append(
            chance(f"duplicate {name}", way.duplicate.fraction, len(seen.packets) - len(arrived), len(arrived))
        )
    if way.reorder:
        results.append(chance(f"reorder {name}", way.reorder.fraction, _overtaking(arrived), len(arrived)))
    return results


def _overtaking(packets: list[tuple[int, int, int]]) -> int:
    """How many packets arrived before one that was sent earlier."""
    count, lowest_later = 0, float("inf")
    for number, _, _ in sorted(packets, key=lambda packet: packet[2], reverse=True):
        count += number > lowest_later
        lowest_later = min(lowest_later, number)
    return count
