"""Who can say what was on the wire: the browser, or the gateway where it went through that; the server; the capture.

Each is asked by itself, since each can be wrong: a browser says what it believes, the gateway is ours, the server logs
what it received, and a capture sees no further into TLS than its hellos. Pure.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.record.evidence.ends import Ends
from lanelab.driver.record.evidence.gateway import GatewayConnection, GatewayRequest, Push
from lanelab.driver.record.evidence.packets import Connection, FlowSummary, PacketSummary
from lanelab.driver.record.evidence.page_load import PageLoadEvidence, WitnessNames
from lanelab.driver.record.evidence.server import Line, ServedRequest
from lanelab.driver.trial.page_load import sockets
from lanelab.driver.trial.page_load.earlier import QUIC_PORT, earlier_flows

Target = tuple[str, str]  # host, path with its query
GATEWAY = "gateway"
WEB_PORTS = (80, 443)


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that the gateway sent, and when."""

    at_ms: float
    request: GatewayRequest


@dataclass(frozen=True, slots=True)
class Witnesses:
    """The words of each witness on a trial; nothing where it was not there. What the browser says is in the record's
    requests. The handshakes of WebSockets are not in it (sockets.py)."""

    gateway: bool  # whether the browser spoke to the gateway alone: then it knows nothing of the wire
    connections: Sequence[GatewayConnection]
    requests: Sequence[GatewayRequest]  # the gateway's
    pushes: Sequence[Push]  # likewise
    served: Sequence[ServedRequest]  # the server's
    untold: frozenset[str]  # facts that the server's log does not have
    captured: Sequence[Connection] | None  # the capture, of connections that began in it; None: there is no whole one
    quic: Sequence[FlowSummary] | None  # likewise, UDP to the port of QUIC, and what may be a connection that moved
    client: str = GATEWAY  # what speaks on the link, where it is no browser: the gateway, or a fetcher

    @classmethod
    def of(cls, evidence: PageLoadEvidence, arm: Arm) -> "Witnesses":
        packets = evidence.packets.get("client")
        whole = packets if packets and not packets.incomplete else None
        handshakes = sockets.handshakes(evidence)
        captured = [each for each in whole.by_connection if each.syn and each.server_port in WEB_PORTS] if whole else []
        aside = sockets.connections(evidence, captured, handshakes, multiplexed=arm.multiplexed)
        return cls(
            gateway=arm.via == GATEWAY,
            client=evidence.client,
            connections=evidence.gateway.connections if evidence.gateway else (),
            requests=evidence.gateway.requests if evidence.gateway else (),
            pushes=evidence.gateway.pushes if evidence.gateway else (),
            served=sockets.without(evidence.server.requests if evidence.server else (), handshakes),
            untold=SERVERS[arm.server].untold(arm.protocol),
            captured=sockets.without(captured, aside) if whole else None,
            quic=_of_quic(whole) if whole else None,
        )

    @property
    def before_gateway(self) -> bool:
        """Return whether a browser asked the gateway: a fetcher asks by itself."""
        return self.gateway and self.client == GATEWAY

    @property
    def served_requests(self) -> list[ServedRequest]:
        """Return the log's lines that have a request: a connection that broke down before one has a line, too."""
        return [each for each in self.served if each.path is not None]

    @property
    def answered(self) -> list[GatewayRequest]:
        """Requests that had an answer, by the gateway's word."""
        return [each for each in self.requests if each.status is not None and each.connection is not None]

    @property
    def used(self) -> list[GatewayConnection]:
        """Connections that carried requests, by the gateway's word."""
        return [each for each in self.connections if each.requests]

    def names(self) -> WitnessNames:
        """Return who could say what was spoken, by which TLS, and by which connections. The server and the capture
        cannot always: nothing was captured, or no more of each packet than its beginning."""
        carrying = {each.connection for each in self.answered}
        ends = {each for number, each in self.ends_of().items() if number in carrying}
        ends |= {each.ends for each in self.served_requests}
        shown = [each for each in self.captured or () if not ends.isdisjoint(each.ends.names)]
        within = [each.quic for each in self.quic or () if each.quic and not ends.isdisjoint(each.ends.names)]
        first = self.client if self.gateway else "browser"
        server = ("server",) if self.served or (self.gateway and not carrying) else ()

        def names(*, in_capture: bool, in_log: bool = True) -> tuple[str, ...]:
            return (
                first,
                *(server if in_log else ()),
                *(("capture",) if self.captured is not None and in_capture else ()),
            )

        return WitnessNames(
            protocol=names(
                in_capture=all(each.alpn_offered is not None if each.tls else _spoken(each) for each in shown)
                and all(each.alpn_offered is not None for each in within)
            ),
            tls=names(
                in_capture=all(each.tls_version is not None if each.tls else _spoken(each) for each in shown)
                and all(each.tls_version is not None for each in within),
                in_log="tls" not in self.untold,
            ),
            connections=names(in_capture=True, in_log="remote" not in self.untold),
        )

    def ends_of(self) -> dict[int, Ends]:
        """Return number of a connection -> its ends, as the server's log has them where it tells of that connection."""
        logged = {each.ends for each in self.served}
        ends = {each.connection: each.ends for each in self.connections if each.ends}
        return {number: next((name for name in each.names if name in logged), each) for number, each in ends.items()}

    def served_by_connection(self) -> dict[Ends, list[ServedRequest]]:
        """Return what the server was asked on each connection, in the order of its beginning."""
        lines: dict[Ends, list[ServedRequest]] = {}
        for each in sorted(self.served_requests, key=lambda each: (each.began_us, each.keepalives or 0)):
            lines.setdefault(each.ends, []).append(each)
        return lines

    def sent_by_connection(self) -> dict[int, list[Sent]]:
        """Return the requests that were sent on each connection, in order, by the connection's number."""
        sent: dict[int, list[Sent]] = {}
        for each in self.requests:
            if each.sent_ms is not None and each.connection is not None:
                sent.setdefault(each.connection, []).append(Sent(each.sent_ms, each))
        return {number: sorted(some, key=lambda one: (one.at_ms, one.request.request)) for number, some in sent.items()}


def _of_quic(packets: PacketSummary) -> list[FlowSummary]:
    to_port = [each for each in packets.by_udp_flow if each.server_port == QUIC_PORT]
    return sockets.without(to_port, earlier_flows(packets))


def _spoken(connection: Connection) -> bool:
    return connection.spoken_up is not None and connection.spoken_down is not None


def target(url: str) -> Target:
    """Of an address as the gateway writes it: host/path?query."""
    host, _, path = url.partition("/")
    return host.lower().rstrip("."), f"/{path}"


def served_target(line: Line) -> Target:
    """Return the target of a line of the server's log."""
    return (line.host or "").lower().partition(":")[0].rstrip("."), str(line.path)


def most_at_once(spans: Iterable[tuple[float, float]]) -> int:
    """How many of these spans of time overlap at most; one that ends where another begins does not overlap it."""
    marks = sorted(mark for begin, end in spans if end > begin for mark in ((begin, 1), (end, -1)))
    now = most = 0
    for _, step in marks:
        now += step
        most = max(most, now)
    return most


def surplus(some: Counter[Any], others: Counter[Any]) -> list[Any]:
    """Return what there is more of in the first."""
    return sorted((some - others).elements(), key=str)
