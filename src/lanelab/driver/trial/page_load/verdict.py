"""Whether a trial counts. Pure: from what was recorded to the reasons against it, each named once."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.server import PORTS
from lanelab.driver.bed.addresses import LINK_NETWORK
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.packets import Connection, FlowSummary, PacketSummary
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load import sockets
from lanelab.driver.trial.page_load.answer_bytes import answer_bytes, captured_bytes, loaded
from lanelab.driver.trial.page_load.bound import physical_bound
from lanelab.driver.trial.page_load.connection_use import ConnectionUse
from lanelab.driver.trial.page_load.device_verdict import device_failures
from lanelab.driver.trial.page_load.evidence import FAREWELL, missing
from lanelab.driver.trial.page_load.expected import Expected
from lanelab.driver.trial.page_load.hints_verdict import HintsVerdict
from lanelab.driver.trial.page_load.keepalive import Keepalive
from lanelab.driver.trial.page_load.link_verdict import LinkVerdict
from lanelab.driver.trial.page_load.moving_verdict import MovingVerdict
from lanelab.driver.trial.page_load.objects import Objects
from lanelab.driver.trial.page_load.protocols import Protocols, resumption
from lanelab.driver.trial.page_load.requests import (
    DOUBTFUL,
    Asked,
    asked_for,
    asked_of,
    encoding,
    fetched,
    few,
    host,
    inexact_targets,
    on_network,
    target,
)
from lanelab.driver.trial.page_load.router_verdict import RouterVerdict
from lanelab.driver.trial.page_load.settings_verdict import SettingsVerdict
from lanelab.driver.trial.page_load.streams import StreamsVerdict
from lanelab.driver.trial.page_load.witnesses import Witnesses
from lanelab.driver.trial.tolerances import Tolerances

NO_LOAD = {  # after these there was no page load whose requests could be judged
    *(Reason.NAVIGATION_FAILED, Reason.BROWSER_CRASHED, Reason.BROWSER_FAILED, Reason.SERVER_FAILED),
    *(Reason.GATEWAY_FAILED, Reason.BED_LOST, Reason.LINK_OUT_OF_TOLERANCE),
}
NOT_FOUND = 404
OK = 200  # other answers have no content, or none that is compressed
FAVICON = "/favicon.ico"
MOST_UNKNOWN = 5000  # bytes of packets that are no page's: a kernel looks for routers and neighbours by itself


def judge(record: TrialRecord, expected: Expected) -> list[Failure]:
    """Every reason why this trial does not count; none: it does."""
    return [*_evidence(record, expected), *_judge(record, expected)]


def _evidence(record: TrialRecord, expected: Expected) -> Iterator[Failure]:
    """What is missing in a trial that already failed is a consequence."""
    absent = [] if record.failures else missing(record, expected)
    if absent:
        yield Failure(Reason.EVIDENCE_MISSING, f"the record lacks {few(absent)}")


def _judge(record: TrialRecord, expected: Expected) -> Iterator[Failure]:
    if record.page_load is None:
        yield from record.failures
    else:
        yield from _Trial(record, record.page_load, expected).failures()


@dataclass(frozen=True, slots=True)
class _Trial:
    record: TrialRecord
    evidence: PageLoadEvidence
    expected: Expected

    def failures(self) -> Iterator[Failure]:
        yield from self.record.failures
        reasons = {failure.reason for failure in self.record.failures}
        yield from self._server_log()
        yield from self._capture()
        yield from self._stray()
        yield from self._cross_traffic()
        if self.evidence.settings:
            yield from SettingsVerdict(self.expected.link, self.evidence.settings).failures()
        yield from self._outside()
        if reasons & NO_LOAD:
            return
        if self.plt_ms is None and Reason.TIMEOUT not in reasons:
            yield Failure(Reason.NAVIGATION_FAILED, "there is no page load time, and no reason for that")
            return
        if self.evidence.browser:
            yield from device_failures(self.arm.on(self.site), self.evidence.browser)
        yield from self._on_the_wire()
        yield from RouterVerdict(self.evidence).failures()
        yield from self._compression()
        yield from HintsVerdict(self.arm, self.site, self.requests).failures()
        yield from Objects(self.record, self.arm, self.site, self.tolerances).failures()
        yield from self._extra()
        yield from self._inexact()
        yield from self._bound()
        yield from LinkVerdict(self.record, self.evidence, self.expected.link).failures()
        if self.evidence.moving:
            yield from MovingVerdict(self.expected.link, self.evidence.moving).failures()

    @property
    def arm(self) -> Arm:
        return self.expected.arm

    @property
    def site(self) -> Site:
        return self.expected.site

    @property
    def tolerances(self) -> Tolerances:
        return self.expected.tolerances

    @property
    def plt_ms(self) -> float | None:
        return self.evidence.browser.times.plt_ms if self.evidence.browser else None

    @property
    def packets(self) -> PacketSummary | None:
        """The client's."""
        return self.evidence.packets.get("client")

    @property
    def requests(self) -> list[Request]:
        """Those of the site's hosts that were answered over the network."""
        return [each for each in fetched(self.record.requests) if host(each) in self.site.hosts]

    def _server_log(self) -> Iterator[Failure]:
        lines = self.evidence.server.error_lines if self.evidence.server else ()
        if lines:
            yield Failure(Reason.SERVER_ERROR_LOG, few([line.strip() for line in lines]))

    def _capture(self) -> Iterator[Failure]:
        lacks = "; ".join(self._not_captured())
        if lacks:
            yield Failure(Reason.CAPTURE_LOST_PACKETS, lacks)
        lost = self.evidence.router.lost_at_input
        if lost:
            yield Failure(Reason.ROUTER_LOST_PACKETS, f"{lost} packets that the link did not take were lost")

    def _not_captured(self) -> Iterator[str]:
        for node, capture in self.evidence.capture.items():
            if capture.dropped:
                yield f"the kernel dropped {capture.dropped} packets of the capture on the {node}"
            read = self.evidence.packets.get(node)
            if read and not read.incomplete and read.packets < capture.captured:
                yield f"the capture on the {node} has {read.packets} of the {capture.captured} packets that were taken"
        if self.packets and self.packets.incomplete:
            yield self.packets.incomplete
        elif self.packets:
            answers, captured = answer_bytes(loaded(self.record), self.record), captured_bytes(self.packets)
            if captured < answers:
                yield f"the capture has {captured:,} bytes of answers; at the load event {answers:,} had come"

    def _stray(self) -> Iterator[Failure]:
        """Captures begin before the browser connects: what has no beginning there began before, and used the link."""
        connections = self.packets.by_connection if self.packets else ()
        stray = [each for each in connections if not each.syn and each.payload_down > FAREWELL]
        if stray:
            carried = [f"{each.payload_down} bytes to port {each.client_port}" for each in stray]
            yield Failure(Reason.STRAY_PACKETS, f"of connections from before the trial: {few(carried)}")

    def _cross_traffic(self) -> Iterator[Failure]:
        """What else took the link's time: connections to other ports than the server's and the resolver's, and packets
        that are neither."""
        if self.packets is None:
            return
        web = {PORTS[scheme] for scheme in self.arm.ports} | sockets.ports(self.evidence)
        asked_names = self.arm.dns == "resolver"
        ends: list[Connection | FlowSummary] = [*self.packets.by_connection, *self.packets.by_udp_flow]
        sizes = {id(each): each.bytes_up + each.bytes_down for each in ends}
        own = {id(each) for each in self.packets.by_connection if each.server_port in web}
        own |= {id(each) for each in self.packets.by_udp_flow if each.dns and asked_names}
        own |= {id(each) for each in Witnesses.of(self.evidence, self.arm).quic or ()}  # which protocols.py judges
        others = [each for each in ends if id(each) not in own and _of_bed(each.server)]
        carried = [f"{sizes[id(each)]} bytes to port {each.server_port}" for each in others]
        unknown = self.packets.bytes - sum(sizes.values())
        carried += [f"{unknown} bytes in other packets"] * (unknown > MOST_UNKNOWN)
        if carried:
            yield Failure(Reason.CROSS_TRAFFIC, few(carried))

    def _outside(self) -> Iterator[Failure]:
        hosts, resolver = set(self.site.hosts), self.evidence.resolver
        unanswered = set(self.site.unanswered)
        asked = [
            target(each)
            for each in on_network(self.record.requests)
            if host(each) not in hosts and target(each) not in unanswered
        ]
        hosts |= {name.partition("/")[0].partition(":")[0] for name in unanswered}
        names = {query.name.rstrip(".").lower() for query in resolver.queries} if resolver else set()
        hosts |= {host(each) for each in on_network(self.record.requests)} | sockets.hosts(self.evidence)
        looked_up = names - hosts
        outside = [*asked, *(f"a look-up of {name}" for name in sorted(looked_up)), *self._foreign_packets()]
        if len(outside) > self.tolerances.outside:
            yield Failure(Reason.OUTSIDE_REQUEST, few(outside))

    def _foreign_packets(self) -> list[str]:
        """Whatever the client sent to an address that is not of the bed."""
        if self.packets is None:
            return []
        ends = {(each.server, each.server_port) for each in self.packets.by_connection}
        ends |= {(each.server, each.server_port) for each in self.packets.by_udp_flow}
        return [f"packets to {ip}:{port}" for ip, port in sorted(ends) if not _of_bed(ip)]

    def _on_the_wire(self) -> Iterator[Failure]:
        """What each who can know says of it."""
        witnesses = Witnesses.of(self.evidence, self.arm)
        protocols = Protocols(self.record, self.evidence, self.arm, self.site, witnesses)
        keepalive = Keepalive(self.arm, witnesses, self.requests, on_network(self.record.requests))
        used = ConnectionUse(self.arm, self.expected.link, witnesses, keepalive)
        yield from _once([*protocols.failures(), *used.failures()])
        yield from resumption(self.arm, witnesses)
        yield from StreamsVerdict(self.arm, self.site, witnesses).failures()

    def _compression(self) -> Iterator[Failure]:
        """Each object comes with the coding that it has in this arm, and nothing comes with another one."""
        wanted_of: dict[Asked, set[str | None]] = {}
        for each in self.site.objects:
            wanted_of.setdefault(asked_for(each), set()).add(each.compressed or each.encoding)
        wrong = [
            each
            for each in self.requests
            if each.status == OK and encoding(each) not in wanted_of.get(asked_of(each), {encoding(each)})
        ]
        if wrong:
            used = ", ".join(sorted({encoding(each) or "no compression" for each in wrong}))
            wanted = ", ".join(sorted({name or "none" for each in wrong for name in wanted_of[asked_of(each)]}))
            what = f"{len(wrong)} of {len(self.requests)} answers came with {used} instead of {wanted}"
            yield Failure(Reason.COMPRESSION_IGNORED, f"{what}: {few([target(each) for each in wrong])}")

    def _extra(self) -> Iterator[Failure]:
        """An icon that the browser looks for by itself once the page is there is not the page's. Where the server says
        404 to what is missing, every other answer comes from elsewhere."""
        known = {asked_for(each) for each in self.site.objects}
        known |= {("HEAD", url) for method, url in known if method == "GET"}  # the server answers these by the same
        inexact, unanswered = inexact_targets(self.evidence), set(self.site.unanswered)
        extra = [
            target(each)
            for each in on_network(self.record.requests)
            if host(each) in self.site.hosts
            and asked_of(each) not in known
            and target(each) not in unanswered
            and target(each) not in inexact
            and not (not each.before_load and target(each).endswith(FAVICON))
            and not (self.site.answers_missing and each.status in (None, NOT_FOUND))
        ]
        if len(extra) > self.tolerances.extra:
            yield Failure(Reason.EXTRA_REQUEST, few(extra))

    def _inexact(self) -> Iterator[Failure]:
        """What was asked for with another query than was recorded, and got the nearest object there is."""
        inexact = inexact_targets(self.evidence, DOUBTFUL)
        if len(inexact) > self.tolerances.inexact:
            yield Failure(Reason.INEXACT_ANSWER, few(inexact))

    def _bound(self) -> Iterator[Failure]:
        """By the clock alone: navigation timing may begin some milliseconds after Chromium began to connect."""
        bound = physical_bound(self.expected.link, self.arm, self.record)
        if self.plt_ms is not None and self.plt_ms < bound:
            what = f"the page loaded in {self.plt_ms:.1f} ms; the link allows {bound:.1f} ms or more"
            yield Failure(Reason.BELOW_BOUND, what)


def _of_bed(address: str) -> bool:
    return ipaddress.ip_address(address) in ipaddress.ip_network(LINK_NETWORK)


def _once(failures: list[Failure]) -> Iterator[Failure]:
    """Those of one reason as one."""
    details_of: dict[Reason, list[str]] = {}
    for each in failures:
        details_of.setdefault(each.reason, []).append(each.detail)
    for reason, details in details_of.items():
        yield Failure(reason, "; ".join(details))
