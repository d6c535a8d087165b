"""What moves on a link, measured: a trace is played while a train keeps the bottleneck busy, or while small packets
tell the delay; a radio is woken up. Times are compared with those of the player, so nodes need one clock."""

import itertools
import statistics
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from lanelab.driver.bed.substrate import Traits
from lanelab.driver.link import HEADER, Direction, Link
from lanelab.driver.link.moving import Trace
from lanelab.driver.link.results import Result, at_most, failed, not_measured, within
from lanelab.driver.link.selftest import plan, traffic
from lanelab.driver.link.selftest.retries import Attempts
from lanelab.driver.record.evidence.moving import Played

SECONDS, BRIEF_SECONDS, THOROUGH_SECONDS = 6.0, 3.0, 60.0
FASTER = 1.15  # than the trace's highest rate is what is sent
SETTLES_S = 0.3  # until the queue is never empty
WINDOW_S, SHIFT_S = 1.0, 0.25
MOST_ERROR = 0.02  # of a second's bits
SPARE_FRAMES = 2.5  # a second has whole packets
LATE_S = 0.004  # a change comes so late on average where the machine has much to do
GAP_US, SMALL = 10_000, 60
DELAY_ERROR_MS, OUTAGE_ERROR_MS = 1.0, 30.0
WAIT_ERROR_MS, WAIT_ERROR = 5.0, 0.01
NEAR_STEP_US = 10_000  # what was sent so close to a step of a trace of delays may be of either side
LONGEST_PAUSE_S = 3.0


class Player(Protocol):
    def begin(self) -> None: ...

    def end(self) -> Played | None: ...


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    link: Link
    way: Direction
    path: traffic.Path
    player: Player
    seconds: float
    slack: float

    @property
    def frame(self) -> int:
        return self.link.mtu + HEADER

    def send(self, train: plan.Train) -> tuple[list[tuple[float, float]], Played]:
        """Return (when sent, when arrived) in us since the traces began, of each packet once."""
        self.player.begin()
        try:
            linger_s = plan.linger_s(self.way) + self.way.later.seconds
            seen = traffic.send(self.path, train, linger_s)
        finally:
            played = self.player.end()
        assert played is not None  # noqa: S101 - it was begun
        began = played.began_unix_us
        packets = [(sent / 1000 - began, arrived / 1000 - began) for _, sent, arrived in seen.once]
        return sorted(packets, key=lambda each: each[1]), played


def measure(
    link: Link,
    both: traffic.Probes,
    player: Player,
    tries: Attempts,
    traits: Traits,
    *,
    thorough: bool = False,
    brief: bool = False,
) -> list[Result]:
    """Measure a link that moves."""
    results = []
    for name, way in (("down", link.down), ("up", link.up)):
        longest = THOROUGH_SECONDS if thorough else BRIEF_SECONDS if brief else SECONDS
        case = _Case(name, link, way, both.of(name), player, longest, traits.tolerance)
        if not traits.same_clock and way.moves:
            results.append(not_measured(f"what moves {name}", "", None, "the nodes have clocks of their own"))
            continue
        if way.rates and not way.radio:
            results += tries.settled(lambda case=case, rates=way.rates: _rates(case, rates))  # type: ignore[misc]
        elif way.rates:
            results.append(not_measured(f"rate trace {name}", "%", 0.0, "the radio's waits would hide it"))
        if way.delay_trace and not way.radio:
            results += tries.settled(lambda case=case, delays=way.delay_trace: _delays(case, delays))  # type: ignore[misc]
    if link.radio and traits.same_clock:
        case = _Case("up", link, link.up, both.of("up"), player, SECONDS, traits.tolerance)
        results += tries.settled(lambda: list(_radio(case, thorough=thorough, brief=brief)))
    return results


def _rates(case: _Case, rates: Trace) -> list[Result]:
    """Return the results for rates, by windows of a second, which begin at any time."""
    name = f"rate trace {case.name}"
    seconds = min(case.seconds, max(2.5, rates.length_us / 1e6 * 1.5))
    packet_s = case.frame * 8 / (rates.most * FASTER)
    packets, played = case.send(plan.Train(int(seconds / packet_s), packet_s * 1e6, case.frame, catch_up=200))
    if len(packets) < plan.FEWEST_TRAIN_PACKETS:
        return [failed(name, "%", 0.0, f"{len(packets)} packets arrived")]
    delay_us = case.way.delay.ns / 1000
    lost = case.way.mean_loss
    errors, rooms = [], []
    for at_us in _starts(packets, rates):
        wanted = rates.total(at_us + WINDOW_S * 1e6 - delay_us) - rates.total(at_us - delay_us)
        bits = wanted / 1e6 * (1 - lost)
        got = _count(packets, at_us, at_us + WINDOW_S * 1e6) * case.frame * 8
        room = SPARE_FRAMES * case.frame * 8 + LATE_S * (rates.most - rates.least) + _noise(case, bits)
        errors.append((got - bits) / max(bits, rates.mean / 10))
        rooms.append(case.slack * max(MOST_ERROR, room / max(bits, rates.mean / 10)))
    if not errors:
        return [not_measured(name, "%", 0.0, "the train was over within a second")]
    index = max(range(len(errors)), key=lambda at: abs(errors[at]) / rooms[at])
    median = statistics.median(map(abs, errors)) * 100
    note = (
        f"the worst of {len(errors)} seconds, median {median:.2g}; steps were {played.median_late_us / 1000:.1f} ms "
        f"late, the worst {played.worst_late_us / 1000:.1f}"
    )
    result = within(name, "%", 0.0, errors[index] * 100, rooms[index] * 100, note)
    return [result, *_outage(case, rates, packets)]


def _noise(case: _Case, bits: float) -> float:
    """Return bits by which chance may change a second."""
    return float(4 * (case.way.mean_loss * bits * case.frame * 8) ** 0.5)


def _starts(packets: Sequence[tuple[float, float]], rates: Trace) -> Iterator[float]:
    """When windows begin that the train covers: it ends where nothing more is sent, not in an outage."""
    at_us = packets[0][1] + SETTLES_S * 1e6
    last_us = max(sent for sent, _ in packets)
    while at_us + WINDOW_S * 1e6 < min(last_us, packets[-1][1] if rates.least else last_us):
        yield at_us
        at_us += SHIFT_S * 1e6


def _count(packets: Sequence[tuple[float, float]], from_us: float, to_us: float) -> int:
    arrived = [at for _, at in packets]
    return bisect_left(arrived, to_us) - bisect_left(arrived, from_us)


def _outage(case: _Case, rates: Trace, packets: Sequence[tuple[float, float]]) -> list[Result]:
    """Return how long nothing came, where the trace has such a time and the train met it."""
    spans = list(rates.spans())
    first, last, delay = packets[0][1] + SETTLES_S * 1e6, packets[-1][1], case.way.delay.ns / 1000
    results = []
    for number, (begin, end, value) in enumerate(spans):
        if value:
            continue
        after = spans[(number + 1) % len(spans)][2] or rates.mean
        for begins in _rounds(begin, rates.length_us, first - delay, last - delay):
            ends = begins + end - begin
            if begins > first and ends + delay < last:
                gaps = [at for _, at in packets if begins + delay - 1e5 < at < ends + delay + 1e6]
                longest = max((late - early for early, late in itertools.pairwise(gaps)), default=0.0)
                results.append((longest / 1000, (end - begin) / 1000 + case.frame * 8000 / after))
    if not results:
        why = "the train met none" if rates.standstill_us else ""
        return [not_measured(f"outage {case.name}", "ms", None, why)] if why else []
    gap, wanted = max(results, key=lambda each: abs(each[0] - each[1]))
    return [within(f"outage {case.name}", "ms", wanted, gap, case.slack * OUTAGE_ERROR_MS, f"of {len(results)}")]


def _rounds(begin: float, length: float, first: float, last: float) -> Iterator[float]:
    at = begin
    while at < last:
        if at > first:
            yield at
        at += length


def _delays(case: _Case, delays: Trace) -> list[Result]:
    name = f"delay trace {case.name}"
    seconds = min(case.seconds, max(2.5, delays.length_us / 1e6 * 1.2))
    packets, played = case.send(plan.Train(int(seconds * 1e6 / GAP_US), GAP_US, SMALL, catch_up=0))
    wire_us = plan.serialization_ms(case.way.still, SMALL) * 1000
    errors, before = [], 0.0
    for sent, arrived in sorted(packets):
        if sent < 0:
            continue
        due = max(before, sent + delays.at(sent)) + wire_us
        before = due
        if delays.at(sent - NEAR_STEP_US) == delays.at(sent) == delays.at(sent + NEAR_STEP_US):
            errors.append((arrived - due) / 1000)
    if len(errors) < plan.FEWEST_PINGS:
        return [failed(name, "ms", 0.0, f"{len(packets)} packets arrived")]
    ordered = sorted(map(abs, errors))
    note = f"median of {len(errors)} packets; 95 of 100 within {ordered[len(ordered) * 95 // 100]:.1f} ms"
    note += f"; steps were {played.median_late_us / 1000:.1f} ms late"
    result = at_most(name, "ms", ordered[len(ordered) // 2], case.slack * DELAY_ERROR_MS)
    return [replace(result, note=note)]


def _radio(case: _Case, *, thorough: bool, brief: bool) -> Iterator[Result]:
    """The radio is idle when it begins: one packet shows the promotion. After a pause another shows the way back."""
    radio = case.link.radio
    assert radio is not None  # noqa: S101 - the caller has asked
    pause_s = radio.inactive.seconds + min(1.0, radio.release.seconds / 2)
    waits = thorough or (not brief and pause_s <= LONGEST_PAUSE_S)
    gap_s = radio.promotion.seconds + pause_s
    packets, _ = case.send(plan.Train(2 if waits else 1, gap_s * 1e6, SMALL, catch_up=0))
    wire_ms = plan.serialization_ms(case.way.still, SMALL)
    names = ("promotion of the radio", "resume of the radio")
    for name, wait, packet in zip(names, (radio.promotion, radio.resume), [*sorted(packets), None, None], strict=False):
        if packet is None and name == names[1] and not waits:
            yield not_measured(name, "ms", wait.milliseconds, f"it takes {pause_s:.1f} s: --thorough waits for it")
        elif packet is None:
            yield failed(name, "ms", wait.milliseconds, "its packet did not arrive")
        else:
            waited = (packet[1] - packet[0]) / 1000 - case.way.delay.milliseconds - wire_ms
            room = case.slack * (WAIT_ERROR_MS + WAIT_ERROR * wait.milliseconds)
            yield within(name, "ms", wait.milliseconds, waited, room, "beyond the delay")
