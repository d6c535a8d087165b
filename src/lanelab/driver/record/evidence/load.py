"""All that a load leaves for its judges, whichever program made it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lanelab.driver.base.coded import Coded, with_later

SCRIPT_PREFIX = "script."  # of measures and series that a user's script makes
MOST_SCRIPT_METRICS = 500  # that are kept of a script: native/load/lab/script.go
BODY = "body"  # the kind of error of an answer that is not as long as the site's object


@dataclass(frozen=True, slots=True)
class Latency(Coded):
    """How long requests or pages took that ended well, in ms."""

    count: int
    min: float
    mean: float
    p50: float
    p90: float
    p95: float
    p99: float
    p99_9: float
    max: float
    histogram: tuple[tuple[float, int], ...]  # upper end of a bucket, values in it; (): the generator has none


@dataclass(frozen=True, slots=True)
class ErrorCount(Coded):
    """Requests or pages that failed in one way."""

    count: int
    p50_ms: float | None  # until they failed; None: the generator does not tell
    max_ms: float | None


@dataclass(frozen=True, slots=True)
class Tally(Coded):
    """Requests or pages. Each that was begun is in one of the others."""

    begun: int
    ended: int  # well
    failed: int
    timed_out: int  # of the failed ones
    unfinished: int  # still under way at the end: they took at least as long as until then
    unfinished_longest_ms: float
    ms: Latency | None  # None: nothing ended, or the generator does not tell
    # Well, also those begun in the warm-up, which are in none of the others. None: the generator has no warm-up.
    ended_after_warm_up: int | None = None

    @classmethod
    def decoded(cls, data: object) -> "Tally":
        """Return it, also from a record that lacks what came later."""
        return super(Tally, cls).decoded(with_later(data, ended_after_warm_up=None))

    @property
    def ended_in_time(self) -> int:
        """Return what a rate is of. What is under way at the end of the time is not in it, so what was under way at its
        beginning has to be."""
        return self.ended if self.ended_after_warm_up is None else self.ended_after_warm_up


@dataclass(frozen=True, slots=True)
class GeneratorUse(Coded):
    """The share of its machine that the generator had."""

    cpu_s: float
    seconds: float
    processors: int  # that it may use
    lag_50_ms: float  # how late it woke for a timer
    lag_99_ms: float
    lag_max_ms: float
    files_most: int  # open at once
    files_allowed: int
    ports_allowed: int  # that one address has for connections to one port
    memory_bytes_most: int


@dataclass(frozen=True, slots=True)
class ScriptMetric(Coded):
    """A measurement of a user's script: a metric, a check, or a group."""

    name: str  # with the check or group in braces, as k6 writes it: checks{check:status is 200}
    kind: Literal["trend", "counter", "gauge", "rate"]
    is_time: bool  # its values are milliseconds
    values: Mapping[str, float]  # min, avg, med, max, p90, p95; count and rate; value; rate

    def measures(self) -> dict[str, float]:
        """By the names that measures of a trial have."""
        unit = "_ms" if self.is_time else ""
        return {f"{SCRIPT_PREFIX}{self.name}.{word}{unit}": value for word, value in self.values.items()}


@dataclass(frozen=True, slots=True)
class Threshold(Coded):
    """The highest value that a metric was to have, and the one it had."""

    key: str  # of the metric, as the experiment file has it
    highest: float  # in the metric's unit, as is the value
    value: float | None  # None: the trial does not have it

    @property
    def is_met(self) -> bool:
        return self.value is not None and self.value <= self.highest


@dataclass(frozen=True, slots=True)
class LoadReport(Coded):
    """Says what a generator reports of a load."""

    generator: str  # name and version: k6 1.8.1
    protocol: str  # that was spoken: http/1.1, h2, spdy/3.1
    tls: str  # off, 1.2, 1.3
    seconds: float  # from the end of the warm-up
    requests: Tally
    pages: Tally | None  # None: its script or program knows no pages
    parts_ms: Mapping[str, Latency]  # of requests: connect, tls, wait, receive
    errors: Mapping[str, ErrorCount]  # by kind
    statuses: Mapping[str, int]
    body_bytes: int | None  # of answers that came whole, after the warm-up; None: the generator does not tell
    connections: int | None  # that were opened; None: the generator does not tell
    dropped: int  # arrivals for which no user was free: they were due and did not happen
    use: GeneratorUse | None  # None: another program than ours, which does not tell
    stopped: str  # why it ended before its time; "": it did not
    crossed: str = ""  # which thresholds of the script's own were crossed
    script: tuple[ScriptMetric, ...] = ()
    script_left_out: bool = False  # the script has more than MOST_SCRIPT_METRICS of them


@dataclass(frozen=True, slots=True)
class ServedBy(Coded):
    """A web server, back end or proxy of the trial, and what it says of it."""

    program: str
    configuration: str
    error_lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WireWitness(Coded):
    """Counts of connections that began in the first packets, by what these show."""

    connections: int
    spoken_up: Mapping[str, int]  # the protocol that the client began with
    spoken_down: Mapping[str, int]  # the server
    tls: Mapping[str, int]  # version
    offered: Mapping[str, int]  # by the client in ALPN: names with blanks between


@dataclass(frozen=True, slots=True)
class LoadEvidence(Coded):
    """The evidence of a load by who gives it. None: it gave nothing, or was not there."""

    generator: LoadReport | None
    server: ServedBy | None
    proxy: ServedBy | None
    wire: WireWitness | None
    placement: Mapping[str, str]  # processors of each node's programs; those that may run anywhere are not there
    thresholds: tuple[Threshold, ...] = ()  # of the experiment file
