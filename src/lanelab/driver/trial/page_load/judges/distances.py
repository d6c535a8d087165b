"""Whether each host was as far away as its distance, by the trial's own capture. Pure.

A host's address is where the site's list of addresses has it, and the quickest packet and its answer of that address
took what its distance takes. Both may have waited in a queue: the one as long as what the client sent before it was on
the link; the other not longer than the bottleneck had been busy, which shows in what came before it. What is too short
never is right.
"""

import bisect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lanelab.driver.base.units import NS_PER_S
from lanelab.driver.link import Link
from lanelab.driver.link.shaping.bottleneck import SHAPER_BURST, is_exact
from lanelab.driver.record.reasons import Failure, Flag, FlagName, Reason
from lanelab.driver.trial.packets.emulation import beyond_ns
from lanelab.driver.trial.packets.link_evidence import frames_of, trips_by_address
from lanelab.driver.trial.packets.packet_fields import RoundTripNs
from lanelab.driver.trial.packets.timeline import Timeline
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs, is_punctual
from lanelab.driver.trial.page_load.requests import few, host
from lanelab.driver.trial.page_load.trip_time import STARVED, early_us, over_us, surplus_us, usually_late_us
from lanelab.driver.trial.serving import addresses_of

BITS, NS_PER_US = 8, 1000
# A host that is asked once has few packets, and a router without a processor keeps all of these: the quickest of thirty
# hosts was up to 27 ms late where ten programs wanted to run on two processors.
STANDSTILL_US = 30_000
APART_NS = 500_000  # so much beyond its time on the wire, and a packet did not wait for the one before it


@dataclass(frozen=True)
class Distances:
    """The distances of one trial, as its capture shows them."""

    link: Link
    timeline: Timeline  # of the client
    punctual: bool  # the machine was watched, and had time

    def wrong(self, addresses: Mapping[str, str]) -> Iterator[str]:
        """Yield what is wrong with hosts, each at its address."""
        for name, address in addresses.items():
            at = self.link.to_address(address)
            if not self._trips.get(address):
                yield f"nothing in the capture tells how far {name} ({address}) was"
                continue
            quickest_us = min(surplus_us(at, trip.evidence) for trip in self._trips[address])
            if quickest_us < -early_us(at):
                yield f"{name} answered {-quickest_us / 1000:.1f} ms sooner than {at.rtt} away"
        limit = (1.0, 0.0) if self.punctual else (STARVED, STANDSTILL_US)
        yield from self._late(addresses, *limit)

    def late(self, addresses: Mapping[str, str]) -> Iterator[str]:
        """Yield which hosts were late, though not so much that they could not be on a machine that was starved."""
        yield from self._late(addresses, 1.0, 0.0)

    def _late(self, addresses: Mapping[str, str], times: float, more_us: float) -> Iterator[str]:
        for name, address in addresses.items():
            at, trips = self.link.to_address(address), self._trips.get(address)
            if not trips or self.link.cross:  # another flow's packets may be ahead of every one
                continue
            beyond = beyond_ns(self.link, address, up=False)
            least_us = min(over_us(at, trip.evidence) - self._may_wait_us(trip, beyond) for trip in trips)
            if least_us > usually_late_us(at) * times + more_us:
                yield f"no answer of {name} was less than {least_us / 1000:.1f} ms later than {at.rtt} away"

    @cached_property
    def _trips(self) -> Mapping[str, Sequence[RoundTripNs]]:
        return trips_by_address(self.timeline)

    def _may_wait_us(self, trip: RoundTripNs, beyond: int) -> float:
        """Return how long a packet and its answer may have waited at the bottlenecks. `beyond`: by how many ns the
        answer is longer on its way than others."""
        arrived_ns = trip.sent_ns + trip.took_ns - beyond
        return (self._waited_up_ns(trip.sent_ns) + self._busy_down_ns(arrived_ns)) / NS_PER_US

    def _waited_up_ns(self, sent_ns: int) -> int:
        at = bisect.bisect_right(self._up, (sent_ns, math.inf)) - 1
        return max(0, self._up[at][1] - sent_ns) if at >= 0 else 0

    @cached_property
    def _up(self) -> list[tuple[int, int]]:
        """Return when each packet to the server was sent, and until when the link was busy with those before it."""
        rate, busy, waits = self.link.up.rate, 0, []
        for at_ns, size in frames_of(self.timeline, up=True):
            waits.append((at_ns, busy))
            busy = max(busy, at_ns) + (size * BITS * NS_PER_S // rate.bps if rate else 0)
        return waits

    def _busy_down_ns(self, arrived_ns: int) -> int:
        at = bisect.bisect_right(self._down, (arrived_ns, math.inf)) - 1
        return max(0, arrived_ns - self._down[at][1]) if at >= 0 else 0

    @cached_property
    def _down(self) -> list[tuple[int, int]]:
        """Return when each packet from the server left the bottleneck, and since when that had been busy."""
        way, began, before, left = self.link.down, 0, -NS_PER_S, []
        slack_ns = APART_NS + (0 if is_exact(way) else SHAPER_BURST.ns)
        for at_ns, size in frames_of(self.timeline, up=False, link=self.link):
            wire_ns = size * BITS * NS_PER_S // way.rate.bps if way.rate else 0
            if not way.rate or at_ns - before > wire_ns + slack_ns:
                began = at_ns
            left.append((at_ns, began))
            before = at_ns
        return left


def _failures(case: Case) -> Iterator[Failure]:
    if not case.link.distances:
        return
    timeline = case.read_timeline()
    if timeline is None:
        yield Failure(Reason.LINK_RTT, "there is no whole capture of the client that would tell how far hosts were")
        return
    wrong = list(Distances(case.link, timeline, is_punctual(case.record)).wrong(_hosts(case)))
    if wrong:
        yield Failure(Reason.LINK_RTT, few(wrong))


def _flags(case: Case) -> Iterator[Flag]:
    timeline = case.read_timeline() if case.link.distances else None
    late = list(Distances(case.link, timeline, punctual=False).late(_hosts(case))) if timeline else []
    if late:
        yield Flag(FlagName.LINK_LATE, few(late))


def _hosts(case: Case) -> dict[str, str]:
    """Return the hosts that answered, each with its address."""
    addresses = addresses_of(case.arm, case.site, case.link)
    return {name: addresses[name] for name in dict.fromkeys(map(host, case.requests))}


JUDGE = Judge(Needs.LOAD, failures=_failures, flags=_flags)
