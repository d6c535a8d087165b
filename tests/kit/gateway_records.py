"""Records of trials that went through the gateway, made by hand: all witnesses say the same, until one is changed."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.gateway.browser_side import browser_addresses
from lanelab.driver.record.evidence.packets import Connection, FlowSummary, PacketSummary
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.requests import with_wire
from tests.kit import quic_records, records
from tests.kit.records import BEGAN_US, Data

FIRST_PORT = 40000
RTT_MS = 40.0


@dataclass
class Told:
    """What is said of a trial: a record and the summary of its capture."""

    record: Data
    captured: list[Connection]
    flows: list[FlowSummary] = field(default_factory=list)  # over UDP

    @property
    def packets(self) -> PacketSummary:
        summary = records.packets(self.captured)
        of_udp = sum(each.bytes_up + each.bytes_down for each in self.flows)
        return replace(summary, by_udp_flow=tuple(self.flows), bytes=summary.bytes + of_udp)

    def trial(self, *, captured: bool = True) -> TrialRecord:
        """The record as the judges have it. Not `captured`: nothing was."""
        data = copy.deepcopy(self.record)
        data["evidence"]["packets"] = {"client": self.packets.to_json()} if captured else {}
        record = TrialRecord.from_json(data)
        gateway = record.page_load.gateway if record.page_load else None
        return replace(record, requests=with_wire(record.requests, gateway.requests if gateway else ()))

    @property
    def connections(self) -> list[Data]:
        found: list[Data] = self.record["evidence"]["gateway"]["connections"]
        return found

    @property
    def requests(self) -> list[Data]:
        found: list[Data] = self.record["evidence"]["gateway"]["requests"]
        return found

    @property
    def served(self) -> list[Data]:
        found: list[Data] = self.record["evidence"]["server"]["requests"]
        return found


@dataclass
class Exchange:
    """One request on the wire, in milliseconds: on which connection, when it was wanted, and what became of it."""

    url: str
    connection: int
    sent_ms: float
    last_ms: float
    queued_ms: float = -1.0
    in_flight: int = 1
    size: int = 1000


@dataclass
class Plan:
    """A trial as it was; `ended` connections were closed after their last answer."""

    arm: Arm
    exchanges: Sequence[Exchange]
    ended: bool = False
    site: Site = field(default_factory=lambda: records.SITE)

    def told(self) -> Told:
        record = records.record(self.arm, self.site)
        addresses = browser_addresses(self.site)
        for each in record["requests"]:
            remote = f"{addresses[str(urlsplit(each['url']).hostname)]}:443"
            each |= {"protocol": "h2", "tls": "TLS 1.3", "remote": remote, "connection": 1, "reused": True}
        numbers = dict.fromkeys(each.connection for each in self.exchanges)
        record["evidence"]["gateway"] = {
            "version": "1", "started_unix_us": BEGAN_US, "wire": {"protocol": self.arm.protocol}, "dns": [],
            "unread_lines": 0,
            "connections": [self._connection(number) for number in numbers],
            "requests": [self._request(number, each) for number, each in enumerate(self.exchanges, 1)],
            "pushes": [],
        }  # fmt: skip
        record["evidence"]["server"]["requests"] = [self._served(each) for each in self.exchanges]
        if self.arm.protocol == "h3":
            record["evidence"]["link"] |= {"mss_down": [], "mss_up": []}
            return Told(record, [], [self._flow(number) for number in numbers])
        return Told(record, [self._captured(number) for number in numbers])

    def _of(self, connection: int) -> list[Exchange]:
        return [each for each in self.exchanges if each.connection == connection]

    def _tls(self) -> str | None:
        return None if self.arm.tls == "off" else f"TLS {self.arm.tls}"

    def _began_ms(self, connection: int) -> float:
        return self._of(connection)[0].sent_ms - RTT_MS - 1

    def _connection(self, number: int) -> Data:
        own = self._of(number)
        hosts = list(dict.fromkeys(each.url.partition("/")[0] for each in own))
        began = self._began_ms(number)
        return {
            "connection": number, "host": hosts[0], "hosts": hosts, "backup": False,
            "remote": f"10.10.2.2:{80 if self.arm.tls == 'off' else 443}", "local": f"10.10.1.2:{port(number)}",
            "protocol": self.arm.protocol, "alpn": None if self.arm.tls == "off" else self.arm.protocol,
            "tls": self._tls(), "tls_resumed": False, "began_ms": began, "connected_ms": began + RTT_MS,
            "secured_ms": None if self.arm.tls == "off" else began + RTT_MS + 0.5,
            "closed_ms": max(each.last_ms for each in own) if self.ended else None, "sent_bytes": 500,
            "received_bytes": 2000, "requests": len(own), "most_in_flight": max(each.in_flight for each in own),
            "ended_by": "server" if self.ended else None, "error": None, "streams": self._streams(),
        }  # fmt: skip

    def _streams(self) -> Data | None:
        """As both sides of a connection say it that does what the arm asks for."""
        if not self.arm.multiplexed or self.arm.protocol == "h3":
            return None
        told = {
            "initial_window_size": self.arm.stream_window, "connection_window": self.arm.connection_window,
            "enable_push": int(self.arm.push != "off"),
        }  # fmt: skip
        most = self.arm.server_max_streams or 100
        return {
            "told": told, "acknowledged": True, "heard": {"max_concurrent_streams": most},
            "data_frames": 9, "switches": 3, "refused_pushes": 0,
        }  # fmt: skip

    def _stream(self, number: int) -> int | None:
        if self.arm.protocol == "h3":
            return 4 * (number - 1)
        return 2 * number - 1 if self.arm.multiplexed else None

    def _request(self, number: int, each: Exchange) -> Data:
        return {
            "request": number, "connection": each.connection,
            "stream": self._stream(number),
            "method": "GET", "url": each.url, "protocol": self.arm.protocol, "tls": self._tls(),
            "reused": self._of(each.connection)[0] is not each, "priority": {"urgency": 3, "incremental": False},
            "wire_priority": None, "queued_ms": each.queued_ms if each.queued_ms >= 0 else each.sent_ms,
            "sent_ms": each.sent_ms, "first_byte_ms": each.last_ms - 1, "last_byte_ms": each.last_ms, "status": 200,
            "request_header_bytes": 400, "request_header_wire_bytes": 120, "response_header_bytes": 250,
            "response_header_wire_bytes": 60, "request_body_bytes": 0, "response_body_bytes": each.size,
            "in_flight": each.in_flight, "tries": 1, "sent_again": [], "cancelled": False, "error": None,
            "pushed": False,
        }  # fmt: skip

    def _served(self, each: Exchange) -> Data:
        host, _, path = each.url.partition("/")
        # Read when it is there, and when the answer before it is off.
        arrived = each.sent_ms + RTT_MS / 2
        before = [other for other in self._of(each.connection) if other.sent_ms <= each.sent_ms and other is not each]
        if not self.arm.multiplexed and before:
            arrived = max(arrived, max(other.last_ms for other in before) - RTT_MS / 2)
        tls = self.arm.tls != "off"
        return {
            "began_us": BEGAN_US + round(1000 * arrived),
            "duration_us": round(1000 * (each.last_ms - RTT_MS / 2 - arrived)),
            "host": host, "path": f"/{path}", "method": "GET", "status": 200, "body_bytes": each.size,
            "sent_bytes": each.size + 250, "received_bytes": 400,
            "protocol": {"h2": "HTTP/2.0", "h3": "HTTP/3.0"}.get(self.arm.protocol, "HTTP/1.1"),
            "remote": f"10.10.1.2:{port(each.connection)}", "local": f"10.10.2.2:{443 if tls else 80}",
            "keepalives": len(before),
            "connection": "+" if self.arm.keepalive else "-",
            "encoding": None, "tls": f"TLSv{self.arm.tls}" if tls else None, "tls_resumed": False if tls else None,
            "spdy": self.arm.spdy, "match": "exact",
        }  # fmt: skip

    def _flow(self, number: int) -> FlowSummary:
        first = self._of(number)[0]
        first_us, ready_us = (BEGAN_US + round(1000 * ms) for ms in (self._began_ms(number), first.sent_ms))
        last_us = BEGAN_US + round(1000 * max(each.last_ms for each in self._of(number)))
        made = quic_records.flow(port(number), ready_us=ready_us, server_name=first.url.partition("/")[0])
        return replace(made, first_us=first_us, last_us=last_us + 50_000)

    def _captured(self, number: int) -> Connection:
        began = BEGAN_US + round(1000 * self._began_ms(number))
        ended = BEGAN_US + round(1000 * max(each.last_ms for each in self._of(number)))
        return records.connection(
            port(number), self.arm, first_us=began, last_us=ended + 50_000, fin_down=self.ended, data_us=ended
        )


def port(connection: int) -> int:
    return FIRST_PORT + connection
