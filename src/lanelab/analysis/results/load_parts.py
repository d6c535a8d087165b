"""What a drawing of one page load is made of, as numbers. Times are ms since the page was asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lanelab.analysis.results.packets_over_time import PacketsOverTime
from lanelab.driver.record.evidence.browser import LoadClock, Request
from lanelab.driver.record.evidence.ends import Ends
from lanelab.driver.record.evidence.gateway import GatewayLog
from lanelab.driver.record.evidence.parts import Stretch
from lanelab.driver.record.evidence.server import ServedRequest
from lanelab.driver.record.record import TrialRecord


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
    ends: Ends | None  # of the connection that carried it; None: nobody knows
    chunks: tuple[Chunk, ...]

    @property
    def end(self) -> float:
        return max((bar.end for bar in self.bars), default=0.0)


@dataclass(frozen=True, slots=True)
class Lane:
    """One TCP connection on the link."""

    ends: Ends
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
    """The bytes that came over the link, in windows that follow one another from 0."""

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
class LoadFacts:
    """What a record says of a load's requests."""

    requests: tuple[Request, ...]
    gateway: GatewayLog | None
    served: tuple[ServedRequest, ...]
    measures: Mapping[str, float]
    clock: LoadClock | None
    stretches: tuple[Stretch, ...]

    @classmethod
    def of(cls, record: TrialRecord) -> "LoadFacts":
        page = record.page_load
        return cls(
            tuple(sorted(record.requests, key=lambda each: each.started_ms)),
            page.gateway if page else None,
            page.server.requests if page and page.server else (),
            record.measures,
            page.clock if page else None,
            page.parts.stretches if page and page.parts else (),
        )
