"""Whether server or resolver were slow beyond what the link explains: reasons to doubt a trial, not to refuse it. Pure.

A server's log says when it read each request, and the client's capture when the last bytes came that it can have been
in. What lies between them is the way there, and how long the request waited to be read. Only the difference between the
requests of a trial counts, so that the two clocks need not agree.
"""

import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.third_parties import ThirdParties
from lanelab.driver.base.units import Duration
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.ends import Ends
from lanelab.driver.record.evidence.packets import PacketSummary
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.evidence.parts import Part
from lanelab.driver.record.evidence.server import ServedRequest
from lanelab.driver.record.reasons import Flag, FlagName
from lanelab.driver.trial.packets.timeline import Timeline
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs
from lanelab.driver.trial.page_load.requests import few
from lanelab.driver.trial.page_load.served_hosts import ServedHosts, by_server
from lanelab.driver.trial.page_load.witnesses import Witnesses, served_target

PATIENCE_US = 50_000  # what a busy machine takes; flags of the machine begin earlier
PAUSE_US = 80_000  # the same of what the decomposition takes for a pause, to which a router that is late adds
AT_ONCE = 14_000  # bytes that a kernel takes from a server whatever the client has acknowledged
ENOUGH = 3


@dataclass(frozen=True, slots=True)
class Slow:
    arm: Arm
    link: Link
    evidence: PageLoadEvidence
    timeline: Timeline | None  # of the client's capture; None: there is none
    delays: Mapping[str, Duration] = field(default_factory=dict)  # how long answers are to wait
    parts: Sequence[ServedHosts] = ()  # by server; none: there is one

    def flags(self) -> Iterator[Flag]:
        waits = [*self._served_late(), *self._paused()]
        if waits:
            yield Flag(FlagName.SERVER_SLOW, few(waits))
        names = [] if self.link.moves else self._looked_up_late()
        if names:
            yield Flag(FlagName.DNS_SLOW, few(names))

    # --- the server

    def _served_late(self) -> list[str]:
        """Return what was served late by HTTP/1.1 without pipelining: elsewhere requests may wait for each other. The
        server's log must have its own times."""
        served = [(each.arm, each.witnesses) for each in self.parts]
        served = served or [(self.arm, Witnesses.of(self.evidence, self.arm))]
        return [words for arm, witnesses in served for words in self._late_of(arm, witnesses)]

    def _late_of(self, arm: Arm, witnesses: Witnesses) -> list[str]:
        """Return the same of one server."""
        if arm.multiplexed or arm.pipelining > 1 or "began_us" in witnesses.untold:
            return []
        lines = witnesses.served_requests
        worked = [
            line
            for line in lines
            if line.duration_us > PATIENCE_US + self._asked_us(_name(line)) and _size(line) <= AT_ONCE
        ]
        sentences = [f"{_name(line)} took the server {line.duration_us / 1000:.0f} ms" for line in worked]
        lateness = self._lateness_us(lines)
        usual = min((late for late, _ in lateness), default=0)
        limit = PATIENCE_US + self._on_the_way_us()
        late = [(late - usual, line) for late, line in lateness if late - usual > limit]
        if len(lateness) >= ENOUGH:
            sentences += [f"{_name(line)} waited {wait / 1000:.0f} ms to be read" for wait, line in late]
        return sentences

    def _paused(self) -> list[str]:
        """Times in which the link was idle and an answer was due for longer than a round trip takes, and no packet was
        lost: whatever the protocol, the server had something to send. Where a gateway stands between it may have been
        the one that waited."""
        parts, link = self.evidence.parts, self.evidence.link
        if parts is None or link is None or self.arm.via == "gateway" or self.link.moves:
            return []
        if self.link.up.mean_loss or self.link.down.mean_loss or link.losses_down.lost or link.losses_up.lost:
            return []
        asked_us = max(map(self._asked_us, self.delays), default=0)
        longest = max(each.rtt for each in self.link.by_distance)
        limit_ms = longest.milliseconds + (PAUSE_US + self._on_the_way_us() + asked_us) / 1000
        waits = [each.to_ms - each.from_ms for each in parts.stretches if each.part == Part.WAIT]
        return [f"an answer paused for {wait:.0f} ms" for wait in waits if wait > limit_ms]

    def _asked_us(self, name: str) -> int:
        """Return how long an answer waits since the arm asks for it."""
        return self.delays[name].ns // 1000 if name in self.delays else 0

    def _lateness_us(self, lines: list[ServedRequest]) -> list[tuple[int, ServedRequest]]:
        """Return how late the server read each request: from the last packet with data from the client, at most as long
        as that waited, beside the way there."""
        sent: dict[Ends, list[int]] = {}
        for stream in self.timeline.streams if self.timeline else ():
            times = [packet.at_ns // 1000 for packet in stream.packets if packet.up and packet.payload]
            sent |= dict.fromkeys(stream.ends.names, times)
        ways_us = {name: self.link.to_host(name or "").up.delay.ns // 1000 for name in {line.host for line in lines}}
        lateness = []
        for line in lines:
            way_us = ways_us[line.host]
            times = sent.get(line.ends, [])
            place = bisect.bisect_right(times, line.began_us - way_us + PATIENCE_US // 10)
            if place:
                lateness.append((line.began_us - way_us - times[place - 1], line))
        return lateness

    def _on_the_way_us(self) -> int:
        """Return what a packet to the server may take beyond the delay: its variation, and all that the client sent."""
        rate = self.link.up.rate
        packets = self.evidence.packets.get("client")
        queued_us = 8_000_000 * packets.bytes_up // rate.bps if rate and packets else 0
        return queued_us + 2 * self.link.up.extra_delay.ns // 1000

    # --- the resolver

    def _looked_up_late(self) -> list[str]:
        """Return look-ups that were late. Those before the first connection have the link for themselves. Where it
        loses packets they may be asked again."""
        packets = self.evidence.packets.get("client")
        if packets is None or self.arm.dns != "resolver" or self.link.up.mean_loss or self.link.down.mean_loss:
            return []
        spare = self.link.up.extra_delay.ns + self.link.down.extra_delay.ns
        limit_us = (self.link.rtt.ns + 2 * spare) // 1000 + PATIENCE_US
        return [f"a look-up took {took / 1000:.0f} ms" for took in _first_look_ups_us(packets) if took > limit_us]


def _first_look_ups_us(packets: PacketSummary) -> list[int]:
    first = min((each.first_us for each in packets.by_connection), default=packets.last_us)
    return [each.last_us - each.first_us for each in packets.by_udp_flow if each.dns and each.first_us < first]


def _size(line: ServedRequest) -> int:
    """Return the size of what was sent; of its body where the server does not say it."""
    return line.body_bytes if line.sent_bytes is None else line.sent_bytes


def _name(line: ServedRequest) -> str:
    return "".join(served_target(line))


def _flags(case: Case) -> Iterator[Flag]:
    if not case.link.cross:  # whose queue explains what is late
        delays = ThirdParties.of(case.arm, case.site).delays
        parts = by_server(case.evidence, case.arm, case.site, case.link)
        yield from Slow(case.arm, case.link, case.evidence, case.read_timeline(), delays, parts).flags()


JUDGE = Judge(Needs.TRIAL, flags=_flags)
