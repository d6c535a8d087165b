"""All that a load of a server leaves for its judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.coded import Coded


@dataclass(frozen=True, slots=True)
class LoadAsked(Coded):
    """What the client was asked to do, as it says."""

    url: str
    protocol: str
    tls: bool
    clients: int
    streams: int
    requests: int
    body_bytes: int


@dataclass(frozen=True, slots=True)
class Percentiles(Coded):
    min: float
    p50: float
    p90: float
    p99: float
    max: float
    mean: float


@dataclass(frozen=True, slots=True)
class LoadReport(Coded):
    """What spdy-load says of a load: its output, as it is."""

    load: LoadAsked
    seconds: float
    succeeded: int  # requests that were answered in full with a status below 400
    failed: int
    requests_per_second: float
    body_bytes: int
    wire_bytes: int
    megabytes_per_second: float
    latency_ms: Percentiles
    first_byte_ms: Percentiles
    statuses: Mapping[str, int]
    errors: Mapping[str, int]
    completions: tuple[int, ...]  # requests that succeeded, in each span of time
    completions_every_ms: float


@dataclass(frozen=True, slots=True)
class SecondReport(Coded):
    """What h2load says of the same load."""

    requests_per_second: float
    failed: int


@dataclass(frozen=True, slots=True)
class ServedBy(Coded):
    """What the web server was, and what it says of the trial."""

    program: str
    configuration: str
    error_lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServerLoadEvidence(Coded):
    """By who gives it. None: it gave nothing, or was not asked."""

    client: LoadReport | None
    second_client: SecondReport | None
    second_client_was_asked: bool
    server: ServedBy | None
