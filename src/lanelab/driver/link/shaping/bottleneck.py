"""The bottleneck of a direction: its `tc` lines, and what they mean for a packet's time. Pure.

A queue in packets is netem's own, whose clock gives each packet its exact time on the wire. Queues in bytes, and
disciplines that manage theirs, are paced by a shaper that lets the packet after an idle spell go at once; there the
rate stands in the second netem as well, which then adds the time on the wire and smooths the shaper's bursts.
"""

from lanelab.driver.base.units import PPB, Duration, Rate, Ratio, Size
from lanelab.driver.link import HEADER, Direction
from lanelab.driver.link.bottleneck import FIFO, INTERVALS, RED_PROBABILITY, TARGETS
from lanelab.driver.link.impairments.impairment import Words
from lanelab.driver.link.kinds import packets_in_words

SHAPER_BURST = Duration.parse("2ms")  # by how much a shaper may wake late and still keep its rate
MOVING_PACE = Ratio.parse("0.5%")  # by how much the second netem is faster where rates change: what it holds must drain
CAKE_BYTES_PER_PACKET = 2304  # cake's memory limit counts kernel memory: that of a packet of any size up to an MTU


def is_exact(way: Direction) -> bool:
    """Whether netem itself is the bottleneck, and no shaper is needed."""
    return way.discipline == FIFO and way.queue_packets is not None and not way.moves


def bottleneck(way: Direction, rate: Rate, mtu: int) -> list[Words]:
    speed, frame = f"{rate.bps}bit", mtu + HEADER
    if is_exact(way):
        text = f"root handle 1: netem rate {speed} limit {way.queue_packets}"
        return [
            Words(
                text, f"the bottleneck: {rate}, where {packets_in_words(way.queue_packets)} wait and more are dropped"
            )
        ]
    packets = way.queue_packets or -(-(way.queue_bytes or 0) // frame)
    if way.discipline == "cake":
        memory = packets * CAKE_BYTES_PER_PACKET
        interval = _ms(way.aqm.interval or INTERVALS["cake"])
        text = f"root handle 1: cake bandwidth {speed} besteffort triple-isolate rtt {interval} memlimit {memory}b"
        why = (
            f"the bottleneck: {rate}; cake serves hosts and flows in turn and drops or marks early where a queue "
            f"stands; {packets_in_words(packets)} can wait, which is {memory} bytes of kernel memory"
        )
        return [Words(text, why)]
    if way.discipline != FIFO:
        burst = frame + rate.carries(SHAPER_BURST).bytes
        return [
            Words(
                f"root handle 1: tbf rate {speed} burst {burst}b limit {packets * frame}b",
                f"the bottleneck: {rate}; the limit gives way to the queue of the next line",
            ),
            _managed(way, rate, packets, frame),
        ]
    burst, limit = _bucket(way, rate, frame)
    return [
        Words(
            f"root handle 1: tbf rate {speed} burst {burst}b limit {limit}b",
            f"the bottleneck: {rate}, where {Size(way.queue_bytes or 0)} wait and more are dropped"
            + (f"; {Size(burst)} of them pass here and wait for the way there" if pace_bps(way) else ""),
        )
    ]


def _managed(way: Direction, rate: Rate, packets: int, frame: int) -> Words:
    """Return the discipline behind a shaper that drops or marks early."""
    aqm, marks = way.aqm, "ecn" if way.aqm.ecn else "noecn"
    does = "drops or marks" if way.aqm.ecn else "drops"
    where = f"parent 1: handle 2: {way.discipline}"
    if way.discipline == "red":
        return _red(rate, packets, frame, where, "ecn" if aqm.ecn else "", does)
    target, interval = aqm.target or TARGETS[way.discipline], aqm.interval or INTERVALS[way.discipline]
    times = f"target {_ms(target)} {'tupdate' if way.discipline == 'pie' else 'interval'} {_ms(interval)}"
    limit = f"limit {packets}"
    if way.discipline == "fq_codel":
        text = f"{where} {limit} flows 1024 quantum {frame} {times} {marks}"
        why = f"serves flows in turn and {does} early where a queue stands for longer than {target}"
    elif way.discipline == "codel":
        text = f"{where} {limit} {times} {marks}"
        why = f"{does} early where the queue stands for longer than {target} during {interval}"
    else:
        text = f"{where} {limit} {times} alpha 2 beta 20 {marks}"
        why = f"{does} by a chance that it corrects every {interval}, so that packets wait {target}"
    return Words(text, f"its queue: {way.discipline} {why}; {packets_in_words(packets)} can wait")


def red_thresholds(packets: int, frame: int) -> tuple[int, int]:
    """Between which lengths of the queue, in bytes, red drops or marks by chance: up to half of the queue, and from a
    third of that, as Floyd advised (a maximum of three times the minimum). The queue beyond is for bursts, since red
    goes by the mean."""
    largest = packets * frame // 2
    return largest // 3, largest


def _red(rate: Rate, packets: int, frame: int, where: str, marks: str, does: str) -> Words:
    least, largest = red_thresholds(packets, frame)
    burst = -(-(2 * least + largest) // (3 * frame))  # packets, as tc's manual advises
    text = (
        f"{where} limit {packets * frame}b min {least}b max {largest}b avpkt {frame} burst {burst} "
        f"bandwidth {rate.bps}bit probability {RED_PROBABILITY} {marks}"
    )
    why = (
        f"its queue: red {does} by a chance that grows from 0 to {RED_PROBABILITY:.0%} while the mean queue grows from "
        f"{Size(least)} to {Size(largest)}, and all above; {packets_in_words(packets)} can wait"
    )
    return Words(text.rstrip(), why)


def _bucket(way: Direction, rate: Rate, frame: int) -> tuple[int, int]:
    """Return how much the shaper may send at once, and how much waits in it. What it sends at once waits in the second
    netem while that sends at the rate, so it is a part of the queue."""
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
    pace = pace_ppb(way)
    return None if pace is None else -(-way.rate.bps * pace // PPB)


def pace_ppb(way: Direction) -> int | None:
    """The rate of the second netem behind a shaper, as a share of the bottleneck's; None: it has none."""
    ahead = MOVING_PACE.ppb if way.moves else 0
    return None if way.jitter else PPB + ahead + 2 * way.copies.ppb


def pace_bps(way: Direction) -> int | None:
    """Return the rate of the second netem behind a shaper."""
    return None if is_exact(way) else wire_bps(way)


def _ms(time: Duration) -> str:
    """The times of disciplines are whole milliseconds."""
    return f"{time.ns // 1_000_000}ms"
