"""The verdict on the evidence itself: each piece that the other judges go by is there. Pure.

A judge that looks for something wrong finds nothing where nothing was recorded. So here it is the other way round: a
piece that a sound trial of this arm has, and that is not there, is named.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lanelab.driver.arm.groups import groups
from lanelab.driver.arm.quic_stacks import H3
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.record.evidence.browser import BrowserEvidence, Request
from lanelab.driver.record.evidence.gateway import GatewayLog, GatewayRequest
from lanelab.driver.record.evidence.link import LinkEvidence
from lanelab.driver.record.evidence.packets import PacketSummary
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.evidence.server import ServerLog
from lanelab.driver.record.evidence.spoken import NodeDatagrams
from lanelab.driver.record.record import RECORDINGS, STEP_VITALS, TrialRecord
from lanelab.driver.trial.datagrams import none_came
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.judges.device import device_missing
from lanelab.driver.trial.page_load.judges.objects import BAD_GATEWAY, PREFLIGHT
from lanelab.driver.trial.page_load.requests import fetched_from, in_clear, target
from lanelab.driver.trial.page_load.witnesses import served_target
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions, Tcpdump
from lanelab.driver.trial.recorders.vitals import Vitals

OK, REDIRECTS, BAD_REQUEST = 200, 300, 400
WHOLE_FRAME = 1514  # bytes: with less of each, handshakes within QUIC cannot be read
FAREWELL = 100  # bytes: a connection's last words (TLS's close_notify, HTTP/2's GOAWAY: 31 to 63), or a probe


def missing(record: TrialRecord, expected: Expected) -> list[str]:
    """Return the paths of what is not there, of a trial that nothing else has failed."""
    if record.page_load is None:
        return ["evidence"]
    return list(Pieces(record, record.page_load, expected).missing())


def _of_load(browser: BrowserEvidence) -> Iterator[str]:
    """Yield what is not there of one page load. Steps of a journey have pieces of their own."""
    if not browser.navigation:
        yield "evidence.browser.navigation"
    times = browser.times
    read = {"plt_navigation_ms": times.plt_navigation_ms, "ttfb_ms": times.ttfb_ms, "dcl_ms": times.dcl_ms}
    yield from (f"evidence.browser.times.{name}" for name, value in read.items() if value is None)


@dataclass(frozen=True, slots=True)
class Pieces:
    record: TrialRecord
    evidence: PageLoadEvidence
    expected: Expected

    def missing(self) -> Iterator[str]:
        yield from self._of_browser(self.evidence.browser)
        yield from self.beside_client()

    def beside_client(self) -> Iterator[str]:
        """Yield what is not there of all but the browser."""
        yield from self._of_server(self.evidence.server)
        if self.evidence.settings is None:
            yield "evidence.settings"
        if self.expected.link.moves and self.evidence.moving is None:
            yield "evidence.moving"
        yield from self._of_resolver()
        yield from self._of_captures()
        if self._over_quic:
            yield from self._of_datagrams(self.evidence.datagrams)
        names = map(self._kept_as, self.expected.recorders)
        yield from (f"recordings.{name}" for name in names if self._lacks_recording(name))
        if self.expected.arm.via == "gateway":
            yield from self._of_gateway(self.evidence.gateway)

    @property
    def _fetched(self) -> list[Request]:
        """Return what the site's hosts answered over the network."""
        return fetched_from(self.expected.site.hosts, self.record.requests)

    @property
    def _cold(self) -> bool:
        return self.expected.arm.start != "warm"

    def _kept_as(self, recorder: str) -> str:
        """Return the name under which a record has what a recorder knows."""
        return STEP_VITALS if recorder == Vitals.name and self.expected.journey else recorder

    def _lacks_recording(self, name: str) -> bool:
        return name in RECORDINGS and name not in self.record.recordings

    def _of_browser(self, browser: BrowserEvidence | None) -> Iterator[str]:
        if browser is None:
            yield "evidence.browser"
            return
        if not self.expected.journey:
            yield from _of_load(browser)
        if browser.facts.user_agent is None:
            yield "evidence.browser.facts.user_agent"
        yield from device_missing(self.expected.arm, browser)
        moments = browser.clock.to_json() if browser.clock else {"": None}
        yield from (f"evidence.browser.clock.{name}".rstrip(".") for name, value in moments.items() if value is None)
        if not self.record.requests and self._cold:
            yield "requests"
        over_network = {id(each) for each in self._fetched}
        for number, each in enumerate(self.record.requests):
            if id(each) in over_network:
                fields = {
                    "connection": each.connection,
                    "remote": each.remote,
                    "response_headers": each.response_headers,
                    "wire_bytes": each.wire_bytes or None,  # what the browser does not say is 0
                }
                if each.method == PREFLIGHT:  # the browser counts no bytes of these
                    del fields["wire_bytes"]
                if each.by_early_links:  # the browser asked for it before it knew whose it is, and does not say how
                    del fields["wire_bytes"], fields["connection"]
                yield from (f"requests[{number}].{name}" for name, value in fields.items() if value in (None, ()))

    def _of_server(self, server: ServerLog | None) -> Iterator[str]:
        if server is None:
            yield "evidence.server"
            return
        # The gateway gives answers of its own, and may ask twice: what it says is compared line by line elsewhere.
        # A line is written when its connection has time for it, which may be long after the load.
        due = sum(each.before_load for each in self._fetched)
        wanted = min(1, due) if self.evidence.gateway else due
        if len(server.requests) < wanted:
            yield f"evidence.server.requests ({len(server.requests)} of {due})"
        untold_of = self._untold_by_host()
        for number, each in enumerate(server.requests):
            fields: dict[str, object] = {"sent_bytes": each.sent_bytes, "received_bytes": each.received_bytes}
            fields["keepalives"] = each.keepalives
            if each.status < BAD_REQUEST:  # else it may have been no request at all
                fields |= {"host": each.host, "path": each.path, "protocol": each.protocol}
            if OK <= each.status < REDIRECTS:
                fields["match"] = each.match
            if self.expected.arm.tls != "off" and not in_clear(self.expected.arm, each.ends.server_port):
                fields |= {"tls": each.tls, "tls_resumed": each.tls_resumed}
            untold = untold_of.get(served_target(each)[0], untold_of[self.expected.site.entry_host])
            absent = (name for name, value in fields.items() if value is None and name not in untold)
            yield from (f"evidence.server.requests[{number}].{name}" for name in absent)

    def _untold_by_host(self) -> dict[str, frozenset[str]]:
        """Return what the log of each host's server does not have."""
        parts = groups(self.expected.arm, self.expected.site)
        untold = [(SERVERS[each.arm.server].untold(each.arm.protocol), each.site.hosts) for each in parts]
        return {name: facts for facts, hosts in untold for name in hosts}

    def _of_resolver(self) -> Iterator[str]:
        if self.expected.arm.dns != "resolver":
            return
        if self.evidence.resolver is None:
            yield "evidence.resolver"
        elif not self.evidence.resolver.queries and self._fetched and self._cold:
            yield "evidence.resolver.queries"

    def _of_captures(self) -> Iterator[str]:
        capture = self.expected.recorders.get(Tcpdump.name)
        for node in capture.nodes if isinstance(capture, CaptureOptions) else ():
            if node not in self.evidence.capture:
                yield f"evidence.capture.{node}"
            packets = self.evidence.packets.get(node)
            if packets is None:
                yield f"evidence.packets.{node}"
            else:
                yield from self._of_packets(f"evidence.packets.{node}", packets)
        if isinstance(capture, CaptureOptions) and "client" in capture.nodes and self._fetched:
            yield from self._of_link(self.evidence.link)
            if "server" in capture.nodes and self.evidence.one_clock and self.evidence.emulation is None:
                yield "evidence.emulation"

    def _of_link(self, link: LinkEvidence | None) -> Iterator[str]:
        if link is None:
            yield "evidence.link"
            return
        # SYNs name them, which QUIC has none of.
        begun = {"mss_down": link.mss_down, "mss_up": link.mss_up} if self._cold and not self._over_quic else {}
        read = {"round_trips": link.round_trips, **begun}
        yield from (f"evidence.link.{name}" for name, value in read.items() if not value)

    def _of_packets(self, path: str, packets: PacketSummary) -> Iterator[str]:
        """A connection whose beginning is not in the capture is from before the trial."""
        begun = [each for each in packets.by_connection if each.syn]
        whole = packets.incomplete is None
        if whole and self._fetched and not begun and not self._over_quic:
            yield f"{path}.by_connection"
        if whole and self._fetched and self._over_quic:
            yield from self._of_quic(path, packets)
        for number, each in enumerate(packets.by_connection):
            if each.syn and each.payload_down > FAREWELL:
                read = {"data_us": each.data_us, "header_down": each.header_down}
                yield from (f"{path}.by_connection[{number}].{name}" for name, value in read.items() if value is None)

    @property
    def _over_quic(self) -> bool:
        return self.expected.arm.protocol == H3

    def _of_quic(self, path: str, packets: PacketSummary) -> Iterator[str]:
        """Yield what its handshakes tell: who was asked for, which protocols, and with the browser's keys what was
        chosen."""
        if not any(each.quic for each in packets.by_udp_flow):
            yield f"{path}.by_udp_flow"
        for number, each in enumerate(packets.by_udp_flow):
            quic = each.quic
            if quic is None or not quic.complete or packets.snaplen < WHOLE_FRAME:
                continue
            read = {
                "server_name": quic.server_name, "alpn_offered": quic.alpn_offered, "alpn_chosen": quic.alpn_chosen,
                "tls_version": quic.tls_version, "tls_resumed": quic.tls_resumed,
                "early_data_offered": quic.early_data_offered, "early_data_taken": quic.early_data_taken,
                "ready_us": quic.ready_us,
            }  # fmt: skip
            yield from (f"{path}.by_udp_flow[{number}].quic.{name}" for name, value in read.items() if value is None)

    def _of_datagrams(self, datagrams: NodeDatagrams | None) -> Iterator[str]:
        """Answers by HTTP/3 come in datagrams: a kernel for which none came is not the client's."""
        if datagrams is None:
            yield "evidence.datagrams"
        elif none_came(datagrams) and any(each.protocol == H3 for each in self._fetched):
            yield "evidence.datagrams.received"

    def _of_gateway(self, log: GatewayLog | None) -> Iterator[str]:
        if log is None:
            yield "evidence.gateway"
            return
        first_line = {"version": log.version, "started_unix_us": log.started_unix_us, "wire": log.wire or None}
        yield from (f"evidence.gateway.{name}" for name, value in first_line.items() if value is None)
        lists = {"connections": log.connections, "requests": log.requests}
        yield from (f"evidence.gateway.{name}" for name, value in lists.items() if not value and self._fetched)
        if self.expected.arm.dns == "resolver" and self._fetched and not log.dns:
            yield "evidence.gateway.dns"
        yield from self._of_gateway_connections(log)
        yield from self._of_gateway_requests(log)

    def _of_gateway_connections(self, log: GatewayLog) -> Iterator[str]:
        for number, each in enumerate(log.connections):
            if not each.requests:
                continue
            facts: dict[str, object] = {
                "remote": each.remote or None, "local": each.local or None, "protocol": each.protocol or None,
                "hosts": each.hosts or None,
                "connected_ms": each.connected_ms,
            }  # fmt: skip
            if self.expected.arm.tls != "off":
                facts |= {"tls": each.tls, "secured_ms": each.secured_ms}
            path = f"evidence.gateway.connections[{number}]"
            yield from (f"{path}.{name}" for name, value in facts.items() if value is None)

    def _of_gateway_requests(self, log: GatewayLog) -> Iterator[str]:
        """What the browser has an answer to has one here."""
        answered: dict[str, list[tuple[int, GatewayRequest]]] = {}
        for number, each in enumerate(log.requests):
            answered.setdefault(each.url, []).append((number, each))
        for url in dict.fromkeys(target(each) for each in self._fetched if each.status != BAD_GATEWAY):
            absent = [(number, self.absent_of(each)) for number, each in answered.get(url, [])]
            if absent and all(names for _, names in absent):
                number, names = absent[0]
                yield from (f"evidence.gateway.requests[{number}].{name}" for name in names)

    def absent_of(self, request: GatewayRequest) -> list[str]:
        """Return what the gateway does not say of a request that was answered."""
        fields: dict[str, object] = {
            "connection": request.connection, "status": request.status, "sent_ms": request.sent_ms,
            "first_byte_ms": request.first_byte_ms, "last_byte_ms": request.last_byte_ms,
        }  # fmt: skip
        if request.pushed:
            del fields["sent_ms"]
        if self.expected.arm.tls != "off":
            fields["tls"] = request.tls
        return [name for name, value in fields.items() if value is None]
