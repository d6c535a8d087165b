"""What trains tell of one direction: its rate, its queue, and what happens to packets by chance."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lanelab.driver.link import HEADER, Direction
from lanelab.driver.link.arrivals import Arrivals, in_order
from lanelab.driver.link.chances import likely
from lanelab.driver.link.impairments.jitter import Jitter
from lanelab.driver.link.results import Result, failed, not_measured, within
from lanelab.driver.link.selftest import estimate, plan
from lanelab.driver.link.selftest.retries import Attempts

LATE_S, MOST_LATE = 0.001, 0.02
NOISE_MS = 0.15  # what a calm machine adds to the deviation of delays, at most
RATE_TOLERANCE = 0.01
QUEUE_TOLERANCE_PACKETS, QUEUE_TOLERANCE = 1.5, 0.03
STALL_S = plan.BUNCHED_S  # a queue holds what comes within so long; a router that stands still for longer drops
TOO_SLOW = 1.02  # times the rate: a sender below it has not overflowed the queue, so it has measured itself

Samples = Callable[[plan.Train], Iterator[Arrivals]]


@dataclass(frozen=True, slots=True)
class Scope:
    """Says how much is measured, and how much is tolerated."""

    attempts: Attempts
    thorough: bool
    slack: float  # times what is tolerated


def measure(name: str, way: Direction, mtu: int, samples: Samples, scope: Scope) -> list[Result]:
    """Judge one direction. `samples`: what arrived of a train, and whenever more is wanted, of another one like it."""
    results, settled = [], scope.attempts.settled
    if way.rate:
        both = plan.busy_train(way, mtu, thorough=scope.thorough)
        train = both or plan.rate_train(way, mtu)
        seen = samples(train) if isinstance(train, plan.Train) else iter(())
        results += settled(lambda: [_rate(f"rate {name}", way, train, seen, scope.slack)])
        burst = both or plan.queue_burst(way, mtu, thorough=scope.thorough)
        bursts = samples(burst) if isinstance(burst, plan.Train) else iter(())
        results += settled(lambda: [_queue(f"queue {name}", way, mtu, burst, bursts, scope.slack)])
    once = 1 if scope.thorough else None  # so many packets settle it
    if way.jitter:
        paced, noise_ms = samples(plan.jitter_train(way, thorough=scope.thorough)), NOISE_MS * scope.slack
        results += scope.attempts.pooled(
            lambda: next(paced),
            lambda trains: way.impairment(Jitter).judge(way, name, trains, noise_ms),
            once,
            sent_late,
        )
    chances = samples(plan.chance_train(way, thorough=scope.thorough))
    return results + scope.attempts.pooled(
        lambda: next(chances),
        lambda trains: _impairments(name, way, trains),
        once,
        lambda train: stood_still(way, train),
    )


def sent_late(train: Arrivals) -> str:
    """Return whether the sender was often kept from its processor: then so was the router. Empty: it was not."""
    sent = [at for _, at, _ in sorted(train.once)]
    late = sum(second - first > (train.gap_s + LATE_S) * 1e9 for first, second in pairwise(sent))
    lost = train.sent - len(sent)  # leaves a gap too
    share = (late - lost) / max(1, len(sent))
    return f"the sender was kept waiting for its processor before {share:.0%} of packets" if share > MOST_LATE else ""


def stood_still(way: Direction, train: Arrivals) -> str:
    """Return whether a packet was on its way for longer than anything that the link does explains: those that came
    meanwhile met a full queue. Empty: none was."""
    waits_s = sorted((arrived - sent) / 1e9 for _, sent, arrived in train.once)
    longest_s = waits_s[-1] - waits_s[len(waits_s) // 2] if waits_s else 0.0
    return (
        f"the router held packets for {longest_s * 1000:.0f} ms"
        if longest_s > STALL_S + way.extra_delay.seconds
        else ""
    )


def _rate(name: str, way: Direction, train: plan.Train | str, samples: Iterator[Arrivals], slack: float) -> Result:
    """Between the first and the last packet the bottleneck was busy. Packets that the link loses took its time too;
    what a full queue, an AQM or a busy machine drops took none."""
    assert way.rate is not None  # noqa: S101 - there is no train without one
    target = way.rate.mbit
    if isinstance(train, str):
        return not_measured(name, "Mbit/s", target, train)
    seen = next(samples)
    pace, lacking = _pace(way, train, seen)
    if pace is None:
        return failed(name, "Mbit/s", target, f"of {seen.sent} packets {len(seen.once)} arrived")
    note = f"{pace.packets} packets in {pace.took_s * 1000:.0f} ms"
    achieved = train.frame * 8 / pace.packet_s / 1e6
    if plan.is_fast(way) or not (way.mean_loss or way.skips_delay):  # told from how many arrived, here too
        achieved *= 1 + seen.dropped_here / len(seen.once)
    if lacking:
        achieved *= 1 - lacking
        note += f"; {lacking:.1%} more were dropped than the loss explains"
    tolerance = target * (slack * RATE_TOLERANCE + pace.uncertain)
    result = within(name, "Mbit/s", target, achieved, tolerance, note)
    sends_mbit = seen.sent * train.frame * 8 / max(seen.took_s, 1e-9) / 1e6
    if result.verdict == "out" and plan.is_fast(way) and sends_mbit < TOO_SLOW * target:
        return not_measured(name, "Mbit/s", target, f"this machine sends only {sends_mbit:.0f} Mbit/s")
    return result


def _pace(way: Direction, train: plan.Train, seen: Arrivals) -> tuple[estimate.Pace | None, float]:
    """Return how long a packet takes; and with jitter, which hides the gaps, what part of the train is missing beyond
    what the loss explains: a bottleneck that is slower than the train drops it."""
    packets, loss = seen.once, way.mean_loss
    if plan.is_fast(way):  # overflows on purpose: what arrives is what passes, less the loss
        pace = (
            estimate.pace_by_slope(packets, way.jitter.seconds, numbered=False)
            if way.jitter
            else estimate.pace_by_ends(packets)
        )
        if pace is None:
            return None, 0.0
        expects = likely(len(packets), loss) if loss else (0.0, 0.0)
        noise = (expects[1] - expects[0]) / 2 / (1 - loss)
        return pace._replace(packet_s=pace.packet_s * (1 - loss), uncertain=pace.uncertain + noise), 0.0
    if not way.jitter:
        by_neighbours = bool(loss or way.skips_delay)
        return (estimate.pace_by_neighbours if by_neighbours else estimate.pace_by_ends)(packets), 0.0
    if not loss and not way.skips_delay:
        return estimate.pace_by_slope(packets, way.jitter.seconds, numbered=False), 0.0
    pace = estimate.pace_by_slope(in_order(packets), way.jitter.seconds, numbered=True)
    missing = (train.count - len(packets) - seen.dropped_here) / train.count
    explained = likely(train.count / max(chance.bunched for chance in way.chances), loss)[1] if loss else 0.0
    return pace, missing - loss if missing > explained else 0.0


def _queue(
    name: str, way: Direction, mtu: int, burst: plan.Train | str, samples: Iterator[Arrivals], slack: float
) -> Result:
    """Return how long the last packets of an overflowing burst waited, in full-size packets at the link's rate."""
    assert way.rate is not None  # noqa: S101 - the caller has asked
    frame = mtu + HEADER
    target = way.queue_bytes / frame if way.queue_bytes is not None else float(way.queue_packets or 0)
    if isinstance(burst, str):
        return not_measured(name, "packets", target, burst)
    seen = next(samples)
    packets = in_order(seen.once)  # one that skipped the delay does not tell how long it waited
    if burst.lead:  # what is behind it kept the bottleneck busy, for the rate
        packets = [packet for packet in packets if packet[0] < burst.lead]
    if len(packets) < 2:
        return failed(name, "packets", target, f"of {seen.sent} packets {len(packets)} arrived")
    waits_s = [(arrived - sent) / 1e9 for _, sent, arrived in sorted(packets)]
    full = sorted(waits_s[-max(3, len(waits_s) // 12) :])
    # the upper quartile: behind a moment in which the sender was kept from its processor, the queue was not full
    waited_s = full[len(full) * 3 // 4] - min(waits_s)
    packet_s = frame * 8 / way.rate.bps
    achieved = estimate.queue_depth(waited_s, packet_s, (burst.lead_gap_us or burst.gap_us) / 1e6)
    tolerance = slack * (QUEUE_TOLERANCE_PACKETS + QUEUE_TOLERANCE * target)
    tolerance += 4 * way.jitter.seconds / packet_s
    return within(name, "packets", target, achieved, tolerance, f"its last packets waited {waited_s * 1000:.0f} ms")


def _impairments(name: str, way: Direction, trains: Sequence[Arrivals]) -> list[Result]:
    """Return what each impairment says of the small packets that arrived."""
    return [result for each in way.impairments for result in each.measure(way, name, trains)]
