"""What a drawing of one page load is made of, as numbers. Times are ms since the page was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lanelab.analysis.results.packets_over_time import PacketsOverTime
from lanelab.driver.record.evidence.browser import LoadClock, Request
from lanelab.driver.record.evidence.gateway import GatewayLog
from lanelab.driver.record.evidence.parts import Stretch
from lanelab.driver.record.evidence.server import ServedRequest


class Bar(NamedTuple):
    """A stretch of a request or a connection, called as in HAR: blocked, dns, connect, ssl, send, wait, receive."""

    phase: str
    start: float
    end: float


class Chunk(NamedTuple):
    """Payload that came from the server without a pause worth drawing."""

    start: float
    end: float
    bytes: int


@dataclass(frozen=True, slots=True)
class Row:
    """One request."""

    request: Request
    bars: tuple[Bar, ...]
    sent: float | None  # None: it was never sent
    port: int | None  # the client's, of the connection that carried it; None: nobody knows
    chunks: tuple[Chunk, ...]

    @property
    def end(self) -> float:
        return max((bar.end for bar in self.bars), default=0.0)


@dataclass(frozen=True, slots=True)
class Lane:
    """One TCP connection on the link."""

    port: int
    server: str
    began: float
    ended: float
    bars: tuple[Bar, ...]
    chunks: tuple[Chunk, ...]
    requests: int

    @property
    def payload(self) -> int:
        return sum(chunk.bytes for chunk in self.chunks)


@dataclass(frozen=True, slots=True)
class Throughput:
    """What came over the link, in windows that follow one another from 0."""

    window_ms: float
    mbit: tuple[float, ...]
    rate: float | None  # of the link, in Mbit/s; None: it has no limit


@dataclass(frozen=True, slots=True)
class LoadView:
    """All that is known of one page load's way over the link. Without a capture there are requests alone."""

    rows: tuple[Row, ...]
    lanes: tuple[Lane, ...]
    throughput: Throughput | None
    events: tuple[tuple[str, float], ...]
    stretches: tuple[Stretch, ...]  # what the time went to
    by_gateway: bool
    packets: tuple[PacketsOverTime, ...] = ()  # of its busiest connections

    @property
    def end(self) -> float:
        ends = [row.end for row in self.rows] + [at for _, at in self.events]
        return max([*ends, 1.0])


@dataclass(frozen=True, slots=True)
class Told:
    """What a record says of a load's requests, read strictly."""

    requests: tuple[Request, ...]
    gateway: GatewayLog | None
    served: tuple[ServedRequest, ...]
    measures: Mapping[str, float]
    clock: LoadClock | None
    stretches: tuple[Stretch, ...]

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Told:
        """RecordError where the record is not as its format says."""
        evidence: Mapping[str, Any] = record.get("evidence") or {}
        gateway, server = evidence.get("gateway"), evidence.get("server")
        clock = (evidence.get("browser") or {}).get("clock")
        parts: Mapping[str, Any] = evidence.get("parts") or {}
        found: Sequence[object] = record.get("requests") or ()
        requests = [Request.from_json(each, f"requests[{number}]") for number, each in enumerate(found)]
        return cls(
            tuple(sorted(requests, key=lambda each: each.started_ms)),
            GatewayLog.from_json(gateway, "evidence.gateway") if gateway else None,
            tuple(ServedRequest.from_json(each) for each in server["requests"]) if server else (),
            record.get("measures") or {},
            LoadClock.from_json(clock, "evidence.browser.clock") if clock else None,
            tuple(Stretch.from_json(each, "evidence.parts.stretches") for each in parts.get("stretches", ())),
        )
