"""What the gateway's log tells of a trial. docs/reference/gateway.md explains each key. Times are ms from its start."""

from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.record.evidence.ends import Ends


@dataclass(frozen=True, slots=True)
class Streams(Coded):
    """What was said of streams on a connection that multiplexes, and how they took turns."""

    told: Mapping[str, int]  # the gateway's SETTINGS
    acknowledged: bool  # by the server; SPDY knows no such thing
    heard: Mapping[str, int]  # the server's
    data_frames: int
    switches: int  # DATA of another stream than the frame before, which had not ended
    refused_pushes: int  # where none are taken


@dataclass(frozen=True, slots=True)
class GatewayConnection(Coded):
    connection: int
    host: str
    hosts: tuple[str, ...]
    backup: bool
    remote: str
    local: str
    protocol: str
    alpn: str | None
    tls: str | None
    tls_resumed: bool
    began_ms: float
    connected_ms: float | None
    secured_ms: float | None
    closed_ms: float | None
    sent_bytes: int
    received_bytes: int
    requests: int
    most_in_flight: int
    ended_by: str | None
    error: str | None
    streams: Streams | None = None  # None: HTTP/1.1, HTTP/3, or it never spoke

    @property
    def ends(self) -> Ends | None:
        """Return its ends. None: it was given up before both were known."""
        return Ends.of(self.local, self.remote) if self.local and self.remote else None


@dataclass(frozen=True, slots=True)
class Priority(Coded):
    urgency: int
    incremental: bool


@dataclass(frozen=True, slots=True)
class GatewayRequest(Coded):
    request: int
    connection: int | None
    stream: int | None
    method: str
    url: str  # host, path and query
    protocol: str
    tls: str | None
    reused: bool
    priority: Priority
    wire_priority: int | None
    queued_ms: float
    sent_ms: float | None
    first_byte_ms: float | None
    last_byte_ms: float | None
    status: int | None
    request_header_bytes: int
    request_header_wire_bytes: int
    response_header_bytes: int
    response_header_wire_bytes: int
    request_body_bytes: int
    response_body_bytes: int
    in_flight: int
    tries: int
    sent_again: tuple[str, ...]
    cancelled: bool
    error: str | None
    pushed: bool = False  # its answer was pushed: nothing was sent for it


@dataclass(frozen=True, slots=True)
class Push(Coded):
    """An answer that the server sent without having been asked."""

    connection: int
    stream: int
    associated: int  # the stream that it was promised with
    method: str
    url: str  # host, path and query
    promised_ms: float
    first_byte_ms: float | None
    last_byte_ms: float | None
    status: int | None
    header_bytes: int
    header_wire_bytes: int
    body_bytes: int
    adopted_by: int | None  # the request that it answered
    adopted_ms: float | None
    refused: str | None  # why it was not taken
    error: str | None


@dataclass(frozen=True, slots=True)
class LookUp(Coded):
    host: str
    began_ms: float
    ended_ms: float
    addresses: tuple[str, ...]
    error: str | None


@dataclass(frozen=True, slots=True)
class GatewayLog(Coded):
    """The log as a whole; connections and requests are in the order of their numbers."""

    version: str | None  # None: its first line is missing, as are the next two
    started_unix_us: int | None
    wire: Mapping[str, object] | None  # what the gateway was asked to speak
    connections: tuple[GatewayConnection, ...]
    requests: tuple[GatewayRequest, ...]
    dns: tuple[LookUp, ...]
    unread_lines: int  # lines that cannot be read
    pushes: tuple[Push, ...] = ()
