"""spdy-load, lanelab's own: requests per second of SPDY and HTTP/2, a fixed number. docs/reference/load-static.md says
what its numbers are."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.load import BODY, ErrorCount, Latency, LoadReport, Tally
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.series import Series
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.server_load import request_series
from lanelab.driver.trial.server_load.generator import Generator, Invocation, Output, Results, Target
from lanelab.driver.trial.server_load.object_load import (
    accepted,
    bytes_of,
    check_protocol,
    check_requests,
    last_words,
    of_unknown_time,
    one_host,
    other_bytes,
    requests_of,
)
from lanelab.driver.trial.server_load.request_series import SECOND_MS

NAME = "spdy-load"
MOST_REQUESTS = 20_000_000  # it keeps the times of each in its memory
PROTOCOLS = ("h2", "spdy/2", "spdy/3", "spdy/3.1")
FINE, FAILED = 0, 1  # statuses with which it gives a report


@dataclass(frozen=True, slots=True)
class Order(Coded):
    """What it was asked to do, as it says."""

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
    p95: float
    p99: float
    p99_9: float
    max: float
    mean: float


@dataclass(frozen=True, slots=True)
class Bucket(Coded):
    end_ms: float
    count: int


@dataclass(frozen=True, slots=True)
class Summary(Coded):
    """Its output, as it is."""

    load: Order
    seconds: float
    tls_version: str
    connections: int
    succeeded: int  # requests that were answered in full with a status below 400
    failed: int  # others, those never begun too
    reconnections: int
    requests_per_second: float
    body_bytes: int
    wire_bytes: int
    megabytes_per_second: float
    latency_ms: Percentiles
    first_byte_ms: Percentiles
    histogram: tuple[Bucket, ...]
    statuses: Mapping[str, int]
    errors: Mapping[str, ErrorCount]
    timed_out: int
    completions: tuple[int, ...]  # requests that succeeded, in each span of time
    completions_every_ms: float


class SpdyLoad(Generator):
    name = program = process = NAME
    built = True
    needs: tuple[str, ...] = ()
    results: tuple[str, ...] = ()

    def check(self, settings: LoadSettings, arm: Arm) -> None:
        """Raises InputError where it cannot do this."""
        check_protocol(settings, arm, PROTOCOLS)
        check_requests(settings, MOST_REQUESTS)

    def invocation(self, target: Target) -> Invocation:
        """Return how it is started: with one thread, as others of its kind. The judge sees whether it is the limit."""
        settings, encoding = target.settings, accepted(target.arm)
        one_host(target)
        argv = [
            target.program,
            "-json",
            *("-protocol", target.arm.protocol),
            *("-clients", str(settings.connections), "-streams", str(settings.streams)),
            *("-requests", str(requests_of(target))),
            *("-timeout", f"{settings.request_timeout_s * 1000:.0f}ms"),
            *("-connect", f"{target.address}:{target.port}"),
            *(["-accept-encoding", encoding] if encoding else []),
            *target.urls,
        ]
        return Invocation(argv, {"GOMAXPROCS": "1"}, {})

    def read(self, target: Target, output: Output) -> Results:
        """Read its report, which there is where requests failed, too."""
        if output.status not in (FINE, FAILED, None):
            return Results(None, {}, last_words(output))
        try:
            summary = Summary.from_json(json.loads(output.stdout))
        except ValueError:
            return Results(None, {}, last_words(output))
        if sum(summary.completions) != summary.succeeded:
            what = f"{sum(summary.completions)} completions over time, and {summary.succeeded} requests that succeeded"
            raise RecordError(what, "Run the trial again", key="completions")
        if summary.errors and not summary.failed:  # fewer connections than were asked for made all of the requests
            problem = f"it had not all of its connections: {'; '.join(summary.errors)}"
            return Results(None, _series(summary), problem, reason=Reason.FAILED_REQUESTS)
        return Results(_report(target, summary), _series(summary))


def _report(target: Target, summary: Summary) -> LoadReport:
    wanted, ended = requests_of(target), summary.succeeded
    errors = {**summary.errors, **_bad(summary)}
    if summary.failed > sum(error.count for error in errors.values()):
        errors["never begun"] = of_unknown_time(summary.failed - sum(error.count for error in errors.values()))
    if ended == wanted and other_bytes(bytes_of(target, wanted), summary.body_bytes):
        errors, ended = {BODY: of_unknown_time(wanted)}, 0
    failed = wanted - ended
    return LoadReport(
        generator=NAME,
        protocol=summary.load.protocol,
        tls=summary.tls_version or "off",
        seconds=summary.seconds,
        requests=Tally(
            begun=wanted,
            ended=ended,
            failed=failed,
            timed_out=min(summary.timed_out, failed),
            unfinished=0,
            unfinished_longest_ms=0.0,
            ms=_latency(summary) if ended else None,
        ),
        pages=None,
        parts_ms={},
        errors=errors,
        statuses=summary.statuses,
        body_bytes=summary.body_bytes,
        connections=summary.connections,
        dropped=0,
        use=None,
        stopped="",
    )


def _bad(summary: Summary) -> dict[str, ErrorCount]:
    """Return the answers whose status is an error."""
    return {f"status {status}": of_unknown_time(count) for status, count in summary.statuses.items() if status >= "400"}


def _latency(summary: Summary) -> Latency:
    times = summary.latency_ms
    return Latency(
        count=sum(bucket.count for bucket in summary.histogram),
        min=times.min,
        mean=times.mean,
        p50=times.p50,
        p90=times.p90,
        p95=times.p95,
        p99=times.p99,
        p99_9=times.p99_9,
        max=times.max,
        histogram=tuple((bucket.end_ms, bucket.count) for bucket in summary.histogram),
    )


def _series(summary: Summary) -> dict[str, Series]:
    """Return requests that succeeded in each whole second."""
    spans = round(SECOND_MS / summary.completions_every_ms)
    whole = int(summary.seconds)
    points = [
        ((second + 1) * float(SECOND_MS), float(sum(summary.completions[second * spans : (second + 1) * spans])))
        for second in range(whole)
    ]
    return request_series.series_of({"requests_per_s": points})
