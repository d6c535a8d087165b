"""The bottleneck of a direction: its `tc` lines, and what they mean for a packet's time. Pure.

A queue in packets is netem's own, whose clock gives each packet its exact time on the wire. Queues in bytes, fq_codel
and cake are paced by a shaper that lets the packet after an idle spell go at once; there the rate stands in the second
netem as well, which then adds the time on the wire and smooths the shaper's bursts.
"""

from __future__ import annotations

from model.link import HEADER, Direction
from model.link.impairments.impairment import Words
from model.units import PPB, Duration, Rate, Size

SHAPER_BURST = Duration.parse("2ms")  # by how much a shaper may wake late and still keep its rate
CAKE_BYTES_PER_PACKET = 2304  # cake's memory limit counts kernel memory: that of a packet of any size up to an MTU


def is_exact(way: Direction) -> bool:
    """Whether netem itself is the bottleneck, and no shaper is needed."""
    return way.discipline == "fifo" and way.queue_packets is not None


def bottleneck(way: Direction, rate: Rate, mtu: int) -> list[Words]:
    speed, frame = f"{rate.bps}bit", mtu + HEADER
    if is_exact(way):
        text = f"root handle 1: netem rate {speed} limit {way.queue_packets}"
        return [Words(text, f"the bottleneck: {rate}, where {_packets(way.queue_packets)} wait and more are dropped")]
    packets = way.queue_packets or -(-(way.queue_bytes or 0) // frame)
    if way.discipline == "cake":
        memory = packets * CAKE_BYTES_PER_PACKET
        text = f"root handle 1: cake bandwidth {speed} besteffort triple-isolate rtt 100ms memlimit {memory}b"
        why = (
            f"the bottleneck: {rate}; cake serves hosts and flows in turn and drops or marks early where a queue "
            f"stands; {_packets(packets)} can wait, which is {memory} bytes of kernel memory"
        )
        return [Words(text, why)]
    if way.discipline == "fq_codel":
        burst = frame + rate.carries(SHAPER_BURST).bytes
        return [
            Words(
                f"root handle 1: tbf rate {speed} burst {burst}b limit {packets * frame}b",
                f"the bottleneck: {rate}; the limit gives way to the queue of the next line",
            ),
            Words(
                f"parent 1: handle 2: fq_codel limit {packets} flows 1024 quantum {frame} "
                "target 5ms interval 100ms ecn",
                f"its queue: fq_codel serves flows in turn and drops or marks early where a queue stands for longer "
                f"than 5ms; {_packets(packets)} can wait",
            ),
        ]
    burst, limit = _bucket(way, rate, frame)
    return [
        Words(
            f"root handle 1: tbf rate {speed} burst {burst}b limit {limit}b",
            f"the bottleneck: {rate}, where {Size(way.queue_bytes or 0)} wait and more are dropped"
            + (f"; {Size(burst)} of them pass here and wait for the way there" if pace_bps(way) else ""),
        )
    ]


def _bucket(way: Direction, rate: Rate, frame: int) -> tuple[int, int]:
    """How much the shaper may send at once, and how much waits in it. What it sends at once waits in the second netem
    while that sends at the rate, so it is a part of the queue."""
    queue = way.queue_bytes or 0
    burst = frame + min(rate.carries(SHAPER_BURST).bytes, max(0, queue - 2 * frame) // 2)
    return burst, max(queue - burst, frame) if pace_bps(way) else queue


def wire_bps(way: Direction) -> int | None:
    """The rate at which a direction sends a packet that does not have to wait; None where that takes no time: there is
    no rate, or a shaper lets such a packet go at once and the second netem has none. Behind a shaper, copies take their
    time in the second netem too, so its rate must be higher than the bottleneck's, or they would queue. With jitter it
    has none: what one late packet holds up would never drain."""
    if way.rate is None:
        return None
    if is_exact(way):
        return way.rate.bps
    if way.jitter:
        return None
    return -(-way.rate.bps * (PPB + 2 * way.copies.ppb) // PPB)


def pace_bps(way: Direction) -> int | None:
    """The rate of the second netem behind a shaper."""
    return None if is_exact(way) else wire_bps(way)


def _packets(count: int | None) -> str:
    return "1 packet" if count == 1 else f"{count} packets"
