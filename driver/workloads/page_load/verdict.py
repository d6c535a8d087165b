"""Whether a trial counts. Pure: from what was recorded to the reasons against it, each said once."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from captures.packets import PacketSummary
from driver.experiment.arm import Arm
from driver.experiment.model import Tolerances
from driver.servers.apache import COMPRESSED_TYPES
from driver.shaping.addresses import LINK_NETWORK
from driver.workloads.page_load.bound import physical_bound
from driver.workloads.page_load.gateway_connections import PATIENT_S, WireUse
from driver.workloads.page_load.gateway_protocol import Wire, resumption
from driver.workloads.page_load.objects import Objects
from driver.workloads.page_load.requests import Request, encoding, fetched, few, host, on_network, target
from driver.workloads.page_load.witnesses import Witnesses
from model.link import Link
from model.reasons import Failure, Reason
from model.site.site import Site

NO_LOAD = {  # after these there was no page load whose requests could be judged
    *(Reason.NAVIGATION_FAILED, Reason.BROWSER_CRASHED, Reason.BROWSER_FAILED, Reason.SERVER_FAILED),
    *(Reason.GATEWAY_FAILED, Reason.BED_LOST, Reason.LINK_OUT_OF_TOLERANCE),
}
REASONS = frozenset(reason.value for reason in Reason)
OK = 200  # other answers have no content, or none that is compressed
FAVICON = "/favicon.ico"
ENCODINGS = {"off": None, "gzip": "gzip", "brotli": "br"}  # by the arm's name for it
FAREWELL = 100  # bytes: a connection's last words (TLS's close_notify, HTTP/2's GOAWAY: 31 to 63), or a probe


def judge(
    record: Mapping[str, Any],
    arm: Arm,
    site: Site,
    link: Link,
    tolerances: Tolerances,
    packets: PacketSummary | None,
) -> list[Failure]:
    """Every reason why this trial does not count; none: it does."""
    return list(_Trial(record, arm, site, link, tolerances, packets).failures())


@dataclass(frozen=True, slots=True)
class _Trial:
    record: Mapping[str, Any]
    arm: Arm
    site: Site
    link: Link
    tolerances: Tolerances
    packets: PacketSummary | None

    def failures(self) -> Iterator[Failure]:
        own = list(self._recorded())
        yield from own
        reasons = {failure.reason for failure in own}
        yield from self._server_log()
        yield from self._capture()
        yield from self._stray()
        yield from self._outside()
        if reasons & NO_LOAD:
            return
        if self.record.get("plt_ms") is None and Reason.TIMEOUT not in reasons:
            yield Failure(Reason.NAVIGATION_FAILED, "there is no page load time, and nobody said why")
            return
        yield from self._on_the_wire()
        yield from self._compression()
        yield from Objects(self.record, self.arm, self.site, self.tolerances).failures()
        yield from self._extra()
        yield from self._bound()

    @property
    def requests(self) -> list[Request]:
        """Those of the site's hosts that were answered over the network."""
        return [each for each in fetched(self.record) if host(each) in self.site.hosts]

    def _recorded(self) -> Iterator[Failure]:
        """What the trial itself ran into."""
        for entry in self.record.get("failures") or ():
            known = entry["reason"] in REASONS
            detail = entry["detail"] if known else f"{entry['reason']}: {entry['detail']}"
            yield Failure(Reason(entry["reason"]) if known else Reason.BROWSER_FAILED, detail)

    def _server_log(self) -> Iterator[Failure]:
        lines = (self.record.get("server") or {}).get("error_lines") or []
        if lines:
            yield Failure(Reason.SERVER_ERROR_LOG, few([line.strip() for line in lines]))

    def _capture(self) -> Iterator[Failure]:
        for node, capture in (self.record.get("capture") or {}).items():
            if capture.get("dropped"):
                what = f"the kernel dropped {capture['dropped']} packets of the capture on the {node}"
                yield Failure(Reason.CAPTURE_LOST_PACKETS, what)
        if self.packets and self.packets.incomplete:
            yield Failure(Reason.CAPTURE_LOST_PACKETS, self.packets.incomplete)
        lost = (self.record.get("router") or {}).get("lost_at_input")
        if lost:
            yield Failure(Reason.ROUTER_LOST_PACKETS, f"{lost} packets that the link did not take were lost")

    def _stray(self) -> Iterator[Failure]:
        """Captures begin before the browser connects: what has no beginning there began before, and used the link."""
        connections = self.packets.by_connection if self.packets else ()
        stray = [each for each in connections if not each.syn and each.payload_down > FAREWELL]
        if stray:
            carried = [f"{each.payload_down} bytes to port {each.client_port}" for each in stray]
            yield Failure(Reason.STRAY_PACKETS, f"of connections from before the trial: {few(carried)}")

    def _outside(self) -> Iterator[Failure]:
        hosts = set(self.site.hosts)
        asked = [target(each) for each in on_network(self.record) if host(each) not in hosts]
        names = {query["name"].rstrip(".").lower() for query in (self.record.get("dns") or {}).get("queries") or ()}
        looked_up = names - hosts - {host(each) for each in on_network(self.record)}
        found = [*asked, *(f"a look-up of {name}" for name in sorted(looked_up)), *self._foreign_packets()]
        if len(found) > self.tolerances.outside:
            yield Failure(Reason.OUTSIDE_REQUEST, few(found))

    def _foreign_packets(self) -> list[str]:
        """Whatever the client sent to an address that is not of the bed."""
        if self.packets is None:
            return []
        bed = ipaddress.ip_network(LINK_NETWORK)
        ends = {(each.server, each.server_port) for each in self.packets.by_connection}
        ends |= {(each.server, each.server_port) for each in self.packets.by_udp_flow}
        return [f"packets to {ip}:{port}" for ip, port in sorted(ends) if ipaddress.ip_address(ip) not in bed]

    def _on_the_wire(self) -> Iterator[Failure]:
        """What the browser says of it where it speaks to the server itself; else the others who can know."""
        witnesses = Witnesses.of(self.record, self.packets)
        if self.arm.via == "gateway":
            yield from _once(
                [
                    *Wire(self.record, self.arm, self.site, witnesses).failures(),
                    *WireUse(self.arm, self.link, witnesses).failures(),
                ]
            )
        else:
            yield from self._protocol()
            yield from self._tls()
            yield from self._keepalive()
        yield from resumption(self.arm, witnesses)

    def _protocol(self) -> Iterator[Failure]:
        wrong = [each for each in self.requests if each["protocol"] != self.arm.protocol]
        if wrong:
            used = ", ".join(sorted({str(each["protocol"]) for each in wrong}))
            what = f"{len(wrong)} of {len(self.requests)} requests used {used} instead of {self.arm.protocol}"
            yield Failure(Reason.PROTOCOL_FALLBACK, f"{what}: {few([target(each) for each in wrong])}")

    def _tls(self) -> Iterator[Failure]:
        wanted = None if self.arm.tls == "off" else f"TLS {self.arm.tls}"
        wrong = [each for each in self.requests if each["tls"] != wanted]
        if wrong:
            used = ", ".join(sorted({each["tls"] or "no TLS" for each in wrong}))
            what = f"{len(wrong)} of {len(self.requests)} requests used {used} instead of {wanted or 'no TLS'}"
            yield Failure(Reason.TLS_FALLBACK, f"{what}: {few([target(each) for each in wrong])}")

    def _keepalive(self) -> Iterator[Failure]:
        requests = self.requests
        again = [each for each in requests if each["reused"]]
        if not self.arm.keepalive:
            if again:
                what = f"keepalive is off, but {len(again)} of {len(requests)} requests used a connection again"
                yield Failure(Reason.KEEPALIVE_IGNORED, f"{what}: {few([target(each) for each in again])}")
            elif self.packets and self.packets.tcp_handshakes < len(requests):
                what = f"keepalive is off, but there were {self.packets.tcp_handshakes} connections"
                yield Failure(Reason.KEEPALIVE_IGNORED, f"{what} for {len(requests)} requests")
            return
        expected = (
            self.arm.keepalive_requests != 1
            and self.arm.keepalive_timeout.seconds >= PATIENT_S
            and len(requests) > self.arm.connections_per_host * len(self.site.hosts)
        )
        if expected and not again:
            what = f"keepalive is on, but each of {len(requests)} requests opened a connection"
            yield Failure(Reason.KEEPALIVE_IGNORED, what)

    def _compression(self) -> Iterator[Failure]:
        """What is worth compressing must be, as the arm says; nothing may be compressed in another way."""
        wanted = ENCODINGS[self.arm.compression]
        shrink = {each.url for each in self.site.objects if each.size and each.mime in COMPRESSED_TYPES}
        wrong = [
            each
            for each in self.requests
            if each["status"] == OK
            and (found := encoding(each)) != wanted
            and (found is not None or target(each) in shrink)
        ]
        if wrong:
            used = ", ".join(sorted({encoding(each) or "no compression" for each in wrong}))
            what = f"{len(wrong)} of {len(self.requests)} answers came with {used} instead of {wanted or 'none'}"
            yield Failure(Reason.COMPRESSION_IGNORED, f"{what}: {few([target(each) for each in wrong])}")

    def _extra(self) -> Iterator[Failure]:
        """An icon that the browser looks for by itself once the page is there is not the page's."""
        known = {each.url for each in self.site.objects}
        extra = [
            target(each)
            for each in on_network(self.record)
            if host(each) in self.site.hosts
            and target(each) not in known
            and not (not each["before_load"] and target(each).endswith(FAVICON))
        ]
        if len(extra) > self.tolerances.extra:
            yield Failure(Reason.EXTRA_REQUEST, few(extra))

    def _bound(self) -> Iterator[Failure]:
        """By the clock alone: navigation timing may begin some milliseconds after Chromium began to connect."""
        bound = physical_bound(self.link, self.arm, self.record, self.packets)
        measured = self.record.get("plt_ms")
        if measured is not None and measured < bound:
            what = f"the page loaded in {measured:.1f} ms; the link allows {bound:.1f} ms or more"
            yield Failure(Reason.BELOW_BOUND, what)


def _once(failures: list[Failure]) -> Iterator[Failure]:
    """Those of one reason as one."""
    said: dict[Reason, list[str]] = {}
    for each in failures:
        said.setdefault(each.reason, []).append(each.detail)
    for reason, details in said.items():
        yield Failure(reason, "; ".join(details))
