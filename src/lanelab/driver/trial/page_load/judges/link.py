"""Whether a trial's own captures agree with its link. Pure: from the evidence and the link to reasons and flags.

The self-test measured the link before the trial; this is the trial itself. A round trip that is too short, or a rate
that is too high, cannot be had on the right link. One that is too long or too low can where the machine was starved, so
there the limits are wider, and the reason names what the machine recorder saw.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from lanelab.driver.link import HEADER, Direction, Link
from lanelab.driver.record.evidence.link import Arrivals, LinkEvidence, RoundTrip, WayError, Windows
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.reasons import Failure, Flag, FlagName, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.page_load.bound import COMPENSATION, quickest
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs, is_punctual, of_the_machine, once
from lanelab.driver.trial.page_load.link_rate import PUNCTUAL, Lateness, allowance_us, caught_up_us, too_fast, too_slow
from lanelab.driver.trial.page_load.link_rate import STARVED as STARVED_RATE
from lanelab.driver.trial.page_load.trip_time import (
    EARLY_US,
    STARVED,
    early_us,
    late_us,
    over_us,
    surplus_us,
    usually_late_us,
    wire_us,
)

HEADERS = 40  # of IP and TCP: what MSS leaves of an MTU
FEW_FRAMES = 8  # to the client, in a load that the browser's cache answers
FEWEST_PACKETS = 50  # whose median error tells a rate
SILENT_SHARE = 0.05  # of a load time, in which a router without a processor may have sent nothing
# Packets that came although the queue was full: on a machine with fifteen programs to run for each processor 4 of 800.
MOST_PASSED, MOST_PASSED_SHARE = 10, 0.02
TAIL_PROBE = 1  # packet that TCP sends beyond its window where acknowledgements are late (RFC 8985)
LARGE_FRAME = 400  # bytes of a request, whose time on the wire tells the rate up
EMULATION_MS, EMULATION_SHARE = 5.0, 0.02  # error that 99 of 100 packets stay below, on a machine with time for them
WAYS = {"down": "to the client", "up": "to the server"}


@dataclass(frozen=True, slots=True)
class LinkVerdict:
    """The verdict of one trial whose captures tell of its link."""

    record: TrialRecord
    evidence: PageLoadEvidence
    link: Link

    def failures(self) -> Iterator[Failure]:
        """Yield each reason once."""
        if self.seen is not None:
            yield from once(self._all(self.seen))

    def _all(self, seen: LinkEvidence) -> Iterator[Failure]:
        if self.link.moves:
            yield from LinkVerdict(self.record, self.evidence, quickest(self.link))._too_quick(seen)
            yield from self._mtu(seen)
            yield from self._windows(seen)
            return
        if not self.link.distances:  # else the judge of distances has a look at each host
            yield from self._round_trip(seen)
        yield from self._delays()
        yield from self._rates(seen)
        yield from self._queues()
        yield from self._mtu(seen)
        yield from self._windows(seen)

    def flags(self) -> Iterator[Flag]:
        """Yield flags of a trial that counts: what is late, but not so much that it could not be."""
        late = list(self._late(self.seen)) if self.seen is not None else []
        if late:
            yield Flag(FlagName.LINK_LATE, "; ".join(late))
        error = self.evidence.emulation
        if error and not self.link.cross and error.worst_99_ms is not None and not error.varied:
            limit = EMULATION_MS + EMULATION_SHARE * self.link.rtt.milliseconds
            if error.worst_99_ms > limit:
                what = f"of 100 packets one was {error.worst_99_ms:.1f} ms or more away from when the link should have"
                yield Flag(FlagName.EMULATION_LATE, f"{what} brought it (limit: {limit:.1f} ms)")

    def _late(self, seen: LinkEvidence) -> Iterator[str]:
        if self.link.moves:
            return
        trip = None if self.link.distances else self._promptest
        if trip is not None and self._late_us < over_us(self.link, trip) <= self._late_us * STARVED:
            late_ms = late_us(self.link, trip) / 1000
            yield f"the quickest of all round trips took {late_ms:.1f} ms more than the link's"
        refused = self._refused(seen)
        for name, fast in self._fast(seen, PUNCTUAL).items():
            if name not in refused:
                yield f"{WAYS[name]}, packets that were late came at once: {fast}"

    @property
    def seen(self) -> LinkEvidence | None:
        return self.evidence.link

    @property
    def _starved(self) -> str:
        """What the machine recorder says, in words; empty where it saw nothing."""
        names = [flag.name.value for flag in of_the_machine(self.record)]
        return f"; the machine was starved: {', '.join(names)}" if names else ""

    @property
    def _late_us(self) -> float:
        if self.link.cross:
            return math.inf  # another flow's packets may be ahead of every one
        return usually_late_us(self.link)

    @property
    def _is_punctual(self) -> bool:
        return is_punctual(self.record)

    @property
    def _most_late_us(self) -> float:
        return self._late_us if self._is_punctual else self._late_us * STARVED

    def _waited_us(self, seen: LinkEvidence) -> float:
        """Return by how much each round trip is late on average, because the router waited for a processor. The
        quickest of many is not so late, but a load from the cache has one or two."""
        if seen.down.frames > FEW_FRAMES:
            return 0.0
        machines = self.record.machine.machines if self.record.machine else ()
        waited = (each.wait_s.get("router", 0.0) / each.seconds for each in machines if each.seconds > 0)
        return max(waited, default=0.0) * self.link.rtt.ns / 1000

    # --- round trips and delays

    @property
    def _promptest(self) -> RoundTrip | None:
        trips = self.seen.round_trips if self.seen else ()
        return min(trips, key=lambda trip: over_us(self.link, trip), default=None)

    def _surplus(self, trip: RoundTrip) -> float:
        return surplus_us(self.link, trip)

    def _round_trip(self, seen: LinkEvidence) -> Iterator[Failure]:
        """Large requests tell the rate up from the delay: they are on the wire for longer."""
        early = early_us(self.link)
        trips = sorted(seen.round_trips, key=self._surplus)
        small = next((trip for trip in trips if trip.up_bytes < LARGE_FRAME), None)
        large = next((trip for trip in trips if trip.up_bytes >= LARGE_FRAME), None)
        explained = 0.0
        if large and small and self._surplus(large) < min(-early, self._surplus(small) - early):
            explained = wire_us(self.link.up, small.up_bytes)
            yield Failure(Reason.LINK_RATE, f"to the server, {self._too_short(large)} (rate {self.link.up.rate})")
        shortest = small if explained else next(iter(trips), None)
        if shortest and self._surplus(shortest) < -early - explained:
            yield Failure(Reason.LINK_RTT, f"{self._too_short(shortest)} (rtt {self.link.rtt})")
            return
        trip = self._promptest
        if trip is not None and over_us(self.link, trip) > self._most_late_us + self._waited_us(seen):
            late_ms = late_us(self.link, trip) / 1000
            what = f"every packet and its answer took {late_ms:.1f} ms or more longer than the link takes"
            yield Failure(Reason.LINK_RTT, f"{what} (rtt {self.link.rtt}{self._starved})")

    def _too_quick(self, seen: LinkEvidence) -> Iterator[Failure]:
        shortest = min(seen.round_trips, key=self._surplus, default=None)
        if shortest and self._surplus(shortest) < -early_us(self.link):
            yield Failure(Reason.LINK_RTT, f"{self._too_short(shortest)} at its quickest (rtt {self.link.rtt})")

    def _too_short(self, trip: RoundTrip) -> str:
        what = f"a packet of {trip.up_bytes} bytes and its answer took {trip.us / 1000:.1f} ms"
        return f"{what}, {-self._surplus(trip) / 1000:.1f} ms less than the link takes"

    def _delays(self) -> Iterator[Failure]:
        """Yield what the delays of each way show, where there are captures at both ends."""
        if self.evidence.emulation is None:
            return
        for name, towards in WAYS.items():
            way: Direction = getattr(self.link, name)
            error: WayError = getattr(self.evidence.emulation, name)
            if error.idle_ms is None:
                continue
            off_us = error.idle_ms * 1000
            varies = way.extra_delay.ns / 1000
            if not -self._may_be_early_us(name) <= off_us <= self._most_late_us + varies:
                what = f"{towards} no packet that found the link idle was less than {error.idle_ms:.1f} ms late"
                if off_us < 0:
                    what = f"{towards} a packet that found the link idle came {-error.idle_ms:.1f} ms early"
                starved = self._starved if off_us > 0 else ""
                yield Failure(Reason.LINK_DELAY, f"{what} for a delay of {way.delay}{starved}")

    # --- rates, packets, windows

    def _rates(self, seen: LinkEvidence) -> Iterator[Failure]:
        senders = {"down": self.link.server, "up": self.link.client}
        packets, fast = self.evidence.packets.get("client"), self._refused(seen)
        quic = packets is not None and bool(packets.quic)
        for name, towards in WAYS.items():
            way: Direction = getattr(self.link, name)
            arrivals: Arrivals | None = getattr(seen, name)
            if arrivals is None:
                continue
            if name in fast:
                yield Failure(Reason.LINK_RATE, f"{towards}, {fast[name]}{self._starved}")
                continue
            early = self._early(name, way)
            if early:
                yield Failure(Reason.LINK_RATE, f"{towards}, {early}; its rate: {way.rate}")
                continue
            if self.link.cross:
                continue  # its packets are between those of the load
            sender_paces = quic or senders[name].congestion_control == "bbr"
            slow = too_slow(arrivals, way, self.link.mtu, sender_paces=sender_paces)
            if slow:
                yield Failure(Reason.LINK_RATE, f"{towards}, {slow} instead of {way.rate}{self._starved}")

    def _queues(self) -> Iterator[Failure]:
        """Whether packets came that must have found the queue full, where there are captures at both ends."""
        if self.evidence.emulation is None or self.link.cross:
            return
        for name, towards in WAYS.items():
            way: Direction = getattr(self.link, name)
            error: WayError = getattr(self.evidence.emulation, name)
            if error.passed_full > max(MOST_PASSED, MOST_PASSED_SHARE * error.packets):
                queue = f"{way.queue_packets} packets" if way.queue_packets else f"{way.queue_bytes} bytes"
                what = f"{towards}, {error.passed_full} of {error.packets} packets came that a queue of {queue}"
                yield Failure(Reason.LINK_QUEUE, f"{what} would have dropped")

    def _early(self, name: str, way: Direction) -> str:
        """With captures at both ends it is plain whether packets come before their time, which no machine makes."""
        error: WayError | None = getattr(self.evidence.emulation, name) if self.evidence.emulation else None
        if error is None or error.median_ms is None or error.packets < FEWEST_PACKETS or way.rate is None:
            return ""
        unused = (error.lost - error.overflowed) * wire_us(way, self.link.mtu + HEADER)  # if they were dropped before
        may_be_us = EARLY_US + COMPENSATION.ns / 1000 + allowance_us(way, self.link.mtu) + unused
        early_ms = min(0.0, error.idle_ms or 0.0) - error.median_ms  # those that did not wait tell the delay's part
        if early_ms * 1000 <= may_be_us:
            return ""
        return f"half of all packets came {early_ms:.1f} ms or more before the rate should have let them"

    def _refused(self, seen: LinkEvidence) -> dict[str, str]:
        """Return the directions in which something came too fast, and what."""
        fast = self._fast(seen, PUNCTUAL if self._is_punctual else STARVED_RATE)
        return {name: what for name, what in fast.items() if not self._only_caught_up(seen, name)}

    def _fast(self, seen: LinkEvidence, late: Lateness) -> dict[str, str]:
        known = {name: getattr(seen, name) for name in WAYS if getattr(seen, name) is not None}
        what = {
            name: too_fast(arrivals, getattr(self.link, name), self.link.mtu, late) for name, arrivals in known.items()
        }
        return {name: words for name, words in what.items() if words}

    def _only_caught_up(self, seen: LinkEvidence, name: str) -> bool:
        """Return whether that was a router that made up for a short time in which it had no processor. Who claims that
        a machine was starved has to have watched it."""
        silent_us = caught_up_us(getattr(seen, name), getattr(self.link, name), self.link.mtu)
        return bool(of_the_machine(self.record)) and silent_us is not None and silent_us <= self._most_silent_us

    @property
    def _most_silent_us(self) -> float:
        return max(STARVED_RATE.long_us, SILENT_SHARE * (self.evidence.loaded_ms or 0.0) * 1000)

    def _may_be_early_us(self, name: str) -> float:
        """Return by how much a packet may be early in one direction."""
        way: Direction = getattr(self.link, name)
        skipped = way.delay.ns / 1000 if way.skips_delay else 0
        return EARLY_US + (COMPENSATION.ns + way.extra_delay.ns) / 1000 + skipped

    def _mtu(self, seen: LinkEvidence) -> Iterator[Failure]:
        wanted, frame = self.link.mtu - HEADERS, self.link.mtu + HEADER
        named = sorted({*seen.mss_down, *seen.mss_up} - {wanted})
        largest = max(seen.largest_down, seen.largest_up)
        parts = []
        if named:
            segments = " and ".join(f"{each} bytes" for each in named)
            parts.append(f"client or server named a largest segment of {segments}, and not of {wanted}")
        if largest > frame:
            parts.append(f"a frame had {largest} bytes, more than {frame} (are offloads on?)")
        if parts:
            yield Failure(Reason.LINK_MTU, f"with an mtu of {self.link.mtu}, {'; '.join(parts)}")

    def _windows(self, seen: LinkEvidence) -> Iterator[Failure]:
        """A router without a processor may keep one packet of a first flight for about a round trip: what looks like a
        smaller window tells nothing there. Routes, which are read back, tell all the same."""
        client, server = self.link.client, self.link.server
        for name, host, other, window in (
            ("server", server, client, seen.window_down),
            ("client", client, server, seen.window_up),
        ):
            begins, takes = host.initial_window, other.first_window(self.link.mtu - HEADERS)
            if window.least > begins + TAIL_PROBE:
                what = f"the {name} had {window.least} packets under way before it could have heard of any of them"
                yield Failure(Reason.INITIAL_WINDOW, f"{what}; its initial window is {begins}")
            elif self._is_punctual and _is_smaller(window, min(begins, takes)):
                what = f"the {name} stopped after {window.stopped} packets until it heard of the first"
                yield Failure(Reason.INITIAL_WINDOW, f"{what}; its initial window is {begins}")


def _is_smaller(window: Windows, most: int) -> bool:
    """Return whether a window is smaller than `most`: of what was asked for and what the other side takes at first,
    which ends what can be told."""
    return window.stopped is not None and window.least <= window.stopped < most


def _verdict(case: Case) -> LinkVerdict:
    return LinkVerdict(case.record, case.evidence, case.link)


JUDGE = Judge(
    Needs.LOAD,
    failures=lambda case: _verdict(case).failures(),
    flags=lambda case: _verdict(case).flags(),
)
