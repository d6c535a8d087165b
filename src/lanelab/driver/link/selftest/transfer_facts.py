"""What TCP tells of one direction: how much it sends before the first acknowledgement can be there, and how deep the
queue is for its packets. Pure."""

import statistics
from dataclasses import dataclass

from lanelab.driver.link import HEADER, Direction, Host, Link
from lanelab.driver.link.results import Result, at_most, failed, not_measured, within
from lanelab.driver.link.selftest import estimate
from lanelab.driver.link.selftest.plan import FULL_FOR, Fill, Flights
from lanelab.driver.link.selftest.traffic import Filled, FirstFlight, Flown

WINDOW_ON_WIRE_MS = 10.0  # a shorter round trip is over before the first flight can be told from the second
SHORTEST_RTT_MS = 2.0
WHOLE = 0.8  # of a round trip: what arrives so soon behind the first packet is of the first flight
SPARE = 0.5  # of a round trip: a flight that takes longer to be sent runs into the next
QUEUE_TOLERANCE_PACKETS, QUEUE_TOLERANCE, QUEUE_TOLERANCE_S = 3.0, 0.1, 0.002
AQM_KEEPS_S, AQM_TOLERANCE_S, AQM_KEEPS_PACKETS = 0.005, 0.01, 3
SETTLED_PART = 0.5  # of the transfer, from its end
LATE_PART = 5  # of the connections, the last ones are sent when the queue has overflowed


@dataclass(frozen=True, slots=True)
class Case:
    """What TCP sends one way over this link; `host` sends it."""

    name: str
    link: Link
    way: Direction
    host: Host
    sends: Flights | Fill
    slack: float

    @property
    def sender(self) -> str:
        return "server" if self.name == "down" else "client"

    @property
    def receiver(self) -> Host:
        return self.link.client if self.name == "down" else self.link.server

    @property
    def packet_s(self) -> float:
        return (self.link.mtu + HEADER) * 8 / self.way.rate.bps if self.way.rate else 0.0


def judge(case: Case, seen: Flown | Filled) -> list[Result]:
    results = [_first_flight(case, seen.first)]
    if case.way.rate:
        results.append(_queue(case, seen))
    return results


def _first_flight(case: Case, seen: FirstFlight) -> Result:
    name, target = f"initial window {case.sender}", case.host.initial_window
    most = case.receiver.first_window(seen.mss)
    if target > most:
        why = f"a receiver's first window takes {most} packets at most"
        return not_measured(name, "packets", target, why)
    rtt_s = case.link.rtt.seconds
    if _is_told_by_arrivals(case):
        until_s = WHOLE * rtt_s - 4 * (case.link.down.jitter.seconds + case.link.up.jitter.seconds)
        arrived = max((count for when, count in seen.reads if when <= until_s), default=0)
        note = f"what arrived within {until_s * 1000:.0f} ms of the first packet"
        return within(name, "packets", target, round(arrived / seen.mss), 0, note)
    if rtt_s * 1000 < SHORTEST_RTT_MS or seen.looked_s > rtt_s / 2:
        why = f"a round trip of {case.link.rtt} is over too soon to tell the first flight from the second"
        return not_measured(name, "packets", target, why)
    return within(name, "packets", target, seen.flight, 0, "what the sender's kernel had sent before any answer")


def _is_told_by_arrivals(case: Case) -> bool:
    link, rtt_ms = case.link, case.link.rtt.milliseconds
    spread_ms = 8 * (link.down.jitter.milliseconds + link.up.jitter.milliseconds)
    sending_ms = case.host.initial_window * case.packet_s * 1000
    untouched = not (case.way.mean_loss or case.way.skips_delay)
    fits = case.way.rate is None or case.host.initial_window <= _depth(case)
    return rtt_ms >= WINDOW_ON_WIRE_MS and untouched and fits and sending_ms + spread_ms <= SPARE * rtt_ms


def _queue(case: Case, seen: Flown | Filled) -> Result:
    name = f"queue {case.name} under TCP"
    if isinstance(case.sends, Flights) and case.sends.why_not:
        is_fifo = case.way.discipline == "fifo"
        target = _depth(case) if is_fifo else 0.0
        return not_measured(name, "packets" if is_fifo else "ms", target, case.sends.why_not)
    if isinstance(seen, Flown):
        return _overflown(case, seen, name)
    if case.way.discipline != "fifo":
        return _standing(case, seen, name)
    return _filled(case, seen, name)


def _overflown(case: Case, seen: Flown, name: str) -> Result:
    """Judge by the flights that met a full queue: what fits of them arrives."""
    target, late = _depth(case), seen.waits_s[-max(3, len(seen.waits_s) // LATE_PART) :]
    full = sorted(wait for wait in late if wait is not None)
    if not full:
        return failed(name, "packets", target, f"of the last {len(late)} connections no packet arrived")
    waited_s = full[len(full) * 3 // 4]
    achieved = estimate.queue_depth(waited_s, case.packet_s, case.packet_s)
    note = f"the last packets of {len(seen.waits_s)} connections waited {waited_s * 1000:.0f} ms"
    return within(name, "packets", target, achieved, case.slack * _tolerance(case), note)


def _tolerance(case: Case) -> float:
    return QUEUE_TOLERANCE_PACKETS + QUEUE_TOLERANCE * _depth(case) + QUEUE_TOLERANCE_S / case.packet_s


def _filled(case: Case, seen: Filled, name: str) -> Result:
    """Judge by what a round trip takes when a transfer has overflowed it."""
    target = _depth(case)
    noticed_s = next((at for at, _, again in seen.samples if again), None)
    full_s = case.link.rtt.seconds + target * case.packet_s
    trips_ms = sorted(
        ms for at, ms, _ in seen.samples if noticed_s is None or noticed_s <= at <= noticed_s + FULL_FOR * full_s
    )
    if not trips_ms:
        return not_measured(name, "packets", target, "the transfer ended when the queue was full")
    added_s = trips_ms[len(trips_ms) * 3 // 4] / 1000 - case.link.rtt.seconds  # the smoothed one lags behind
    note = f"a round trip took {added_s * 1000:.0f} ms more when it overflowed"
    result = within(name, "packets", target, added_s / case.packet_s, case.slack * _tolerance(case), note)
    if noticed_s is None and added_s / case.packet_s < target:
        why = f"TCP did not overflow it, and a round trip took {added_s * 1000:.0f} ms more"
        return not_measured(name, "packets", target, why)
    return result


def _standing(case: Case, seen: Filled, name: str) -> Result:
    """Return what an AQM lets stand once it has settled."""
    most_s = max(AQM_KEEPS_S, AQM_KEEPS_PACKETS * case.packet_s) + case.slack * AQM_TOLERANCE_S
    from_s = seen.samples[-1][0] * (1 - SETTLED_PART) if seen.samples else 0.0
    settled = [ms for at, ms, _ in seen.samples if at >= from_s]
    if not settled:
        return not_measured(name, "ms", 0.0, "the transfer ended before it had settled")
    standing_ms = statistics.median(settled) - case.link.rtt.milliseconds - case.packet_s * 1000
    return at_most(name, "ms", max(0.0, standing_ms), most_s * 1000)


def _depth(case: Case) -> float:
    """Return the depth in full-size packets."""
    frame = case.link.mtu + HEADER
    return case.way.queue_bytes / frame if case.way.queue_bytes is not None else float(case.way.queue_packets or 0)
