"""ab, ApacheBench: one object of HTTP/1.0, a fixed number of times. docs/reference/load-static.md says what its numbers
are."""

import math
import re
from collections import Counter
from collections.abc import Mapping

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import InputError, RecordError
from lanelab.driver.record.evidence.load import BODY, ErrorCount, Latency, LoadReport, Tally
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.series import Series
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.server_load import request_series
from lanelab.driver.trial.server_load.generator import Generator, Invocation, Output, Results, Target
from lanelab.driver.trial.server_load.object_load import (
    HTTP_1,
    accepted,
    bytes_of,
    check_protocol,
    check_requests,
    check_streams,
    connections_of,
    last_words,
    of_unknown_time,
    one_host,
    other_bytes,
    path_of,
    requests_of,
    text_of,
)

NAME = "ab"
PERCENTAGES, REQUESTS = "ab.csv", "ab.log"
MOST_REQUESTS, MOST_CONNECTIONS = 2_000_000, 20_000
ROUNDS, KEPT = 4, 0.5  # requests of each connection from which on so many should have found it kept
TLS_OPTIONS = {"1.2": "TLS1.2", "1.3": "TLS1.3"}
LINE = re.compile(r"^(?P<name>[A-Z][A-Za-z0-9/ -]*): +(?P<value>\S.*)$", re.MULTILINE)
KINDS = re.compile(r"^ +\(Connect: (\d+), Receive: (\d+), Length: (\d+), Exceptions: (\d+)\)$", re.MULTILINE)
# Its last words where the server reset a connection (104), let it time out (110), refused it (111), or kept all
# requests waiting for longer than they may take (70007).
UNANSWERED = re.compile(r"^apr_[a-z_]+(?:\(\))?: .* \((?:104|110|111|70007)\)$", re.MULTILINE)
MEAN = re.compile(r"^Time per request: +([\d.]+) \[ms\] \(mean\)$", re.MULTILINE)


class Ab(Generator):
    name = program = process = NAME
    built = False
    needs = (NAME,)
    results = (PERCENTAGES, REQUESTS)

    def check(self, settings: LoadSettings, arm: Arm) -> None:
        """Raises InputError where it cannot do this."""
        check_protocol(settings, arm, (HTTP_1,))
        check_streams(settings, arm)
        check_requests(settings, MOST_REQUESTS)
        if settings.connections > MOST_CONNECTIONS:
            what = f"ab has {MOST_CONNECTIONS:,} connections at most"
            raise InputError(what, "Write fewer", key="connections")
        if settings.request_timeout_s < 1 or settings.request_timeout_s % 1:
            what = f"ab waits for whole seconds, and not for {settings.request_timeout_s:g} s"
            raise InputError(what, "Write one like 60s", key="request_timeout")

    def invocation(self, target: Target) -> Invocation:
        """Raises InputError for several objects. It takes the name for TLS from the header Host."""
        settings, arm, urls = target.settings, target.arm, one_host(target)
        if len(urls) > 1:
            what = f"ab asks for one object, and here are {len(urls)}"
            raise InputError(what, "Name one, like site/path, or write generator: wrk", key="sites")
        encoding = accepted(arm)
        argv = [
            target.program,
            "-q",
            *("-n", str(requests_of(target)), "-c", str(connections_of(target))),
            *("-s", f"{settings.request_timeout_s:.0f}"),
            *(["-k"] if arm.keepalive else []),
            *(["-f", TLS_OPTIONS[arm.tls]] if arm.tls != "off" else []),
            *("-e", PERCENTAGES, "-g", REQUESTS),
            *("-H", f"Host: {urls[0].netloc}"),
            *(["-H", f"Accept-Encoding: {encoding}"] if encoding else []),
            f"{urls[0].scheme}://{target.address}:{target.port}{path_of(urls[0])}",
        ]
        return Invocation(argv, {}, {})

    def read(self, target: Target, output: Output) -> Results:
        """Return what it prints at its end. Where a connection was refused, reset or too slow it ends at once, and says
        nothing but that (2.4), or also what it had until then (httpd's trunk): the load broke, as with generators that
        go on and count such requests."""
        words = {match["name"]: match["value"] for match in LINE.finditer(output.stdout)}
        mean = MEAN.search(output.stdout)
        broke = UNANSWERED.search(output.stderr)
        reason = Reason.FAILED_REQUESTS if broke else Reason.GENERATOR_FAILED
        if "Complete requests" not in words or not mean or PERCENTAGES not in output.files:
            return Results(None, {}, last_words(output), reason=reason)
        done, wanted = _number(words, "Complete requests"), requests_of(target)
        if broke and done < wanted:
            return Results(None, {}, f"it made {done} of {wanted} requests: {broke[0]}", reason=reason)
        errors = _errors(output.stdout, words)
        body_bytes = _number(words, "HTML transferred")
        if not errors and other_bytes(bytes_of(target, done), body_bytes):
            errors = {BODY: of_unknown_time(done)}
        if not errors and (ignored := _not_kept(target, words, done)):
            return Results(None, {}, ignored, reason=Reason.KEEPALIVE_IGNORED)
        # ab counts one request in several of its kinds: the largest is how many failed at least.
        failed = min(done, max((error.count for error in errors.values()), default=0))
        log = output.files.get(REQUESTS, b"")
        ms = None if failed else _latency(output.files[PERCENTAGES], log, done, float(mean[1]))
        report = LoadReport(
            generator=NAME,
            protocol="http/1.0",
            tls=_tls(words),
            seconds=_seconds(words, done),
            requests=Tally(done, done - failed, failed, 0, 0, 0.0, ms),
            pages=None,
            parts_ms={},
            errors=errors,
            statuses=_statuses(words, done),
            body_bytes=body_bytes,
            connections=None,
            dropped=0,
            use=None,
            stopped="" if done == wanted else f"it made {done} of {wanted} requests",
        )
        return Results(report, _series(_started(log)))


def _not_kept(target: Target, words: Mapping[str, str], done: int) -> str:
    """Return why its rate is that of connecting; "": the server kept connections, or was not to."""
    arm = target.arm
    if not arm.keepalive or arm.keepalive_requests == 1 or done < ROUNDS * connections_of(target):
        return ""
    kept = _number(words, "Keep-Alive requests")
    return f"of {done} requests {kept} found a connection that the server keeps" if kept < KEPT * done else ""


def _number(fields: Mapping[str, str], name: str) -> int:
    try:
        return int(fields[name].split()[0])
    except (KeyError, ValueError):
        raise RecordError(f"is {fields.get(name, 'missing')!r}", "Run the trial again", key=name) from None


def _seconds(fields: Mapping[str, str], done: int) -> float:
    """The rate has more digits than the time that it prints."""
    try:
        rate = float(fields["Requests per second"].split()[0])
        return done / rate if rate else float(fields["Time taken for tests"].split()[0])
    except (KeyError, ValueError):
        raise RecordError("is missing", "Run the trial again", key="Requests per second") from None


def _tls(fields: Mapping[str, str]) -> str:
    spoken = fields.get("SSL/TLS Protocol")
    return spoken.split(",")[0].removeprefix("TLSv") if spoken else "off"


def _statuses(fields: Mapping[str, str], done: int) -> dict[str, int]:
    others = _number(fields, "Non-2xx responses") if "Non-2xx responses" in fields else 0
    return {"2xx": done - others, "others": others} if others else {"2xx": done}


def _errors(stdout: str, fields: Mapping[str, str]) -> dict[str, ErrorCount]:
    kinds = KINDS.search(stdout)
    if bool(_number(fields, "Failed requests")) != bool(kinds):
        raise RecordError("has no kinds", "Run the trial again", key="Failed requests")
    connect, receive, length, exceptions = (int(count) for count in kinds.groups()) if kinds else (0, 0, 0, 0)
    counts = {
        "connecting": connect,
        "reading": receive,
        BODY: length,  # of another length than the first
        "exception": exceptions,
        "writing": _number(fields, "Write errors") if "Write errors" in fields else 0,
        "status not 2xx": _number(fields, "Non-2xx responses") if "Non-2xx responses" in fields else 0,
    }
    return {kind: of_unknown_time(count) for kind, count in counts.items() if count}


def _started(log: bytes) -> list[tuple[int, int]]:
    """Return for each request the second of this epoch in which it began, and whole milliseconds that it took."""
    requests = []
    for line in text_of(log, REQUESTS).splitlines()[1:]:
        words = line.split("\t")
        try:
            requests.append((int(words[1]), int(words[4])))
        except (IndexError, ValueError):
            raise RecordError(f"has the line {line[:60]!r}", "Run the trial again", key=REQUESTS) from None
    return requests


def _series(started: list[tuple[int, int]]) -> dict[str, Series]:
    """Return the requests that began in each whole second of the clock, without the first and the last second."""
    if not started:
        return {}
    counts = Counter(second for second, _ in started)
    first, last = min(counts), max(counts)
    points = [((second - first + 1) * 1000.0, float(counts[second])) for second in range(first + 1, last)]
    return request_series.series_of({"requests_per_s": points})


def _latency(percentages: bytes, log: bytes, done: int, mean: float) -> Latency | None:
    """Return the latency from the 101 percentiles that ab tells in microseconds. The 99.9th is from the log, in whole
    milliseconds."""
    at = _percentiles(percentages)
    took = sorted(ms for _, ms in _started(log))
    if len(took) != done:
        raise RecordError(f"has {len(took)} requests, and {done} were made", "Run the trial again", key=REQUESTS)
    if not done:
        return None
    tail = float(took[math.ceil(done * 0.999) - 1])
    return Latency(
        count=done,
        min=at[0],
        mean=mean,
        p50=at[50],
        p90=at[90],
        p95=at[95],
        p99=at[99],
        p99_9=min(max(tail, at[99]), at[100]),
        max=at[100],
        histogram=_histogram(at, done),
    )


def _percentiles(data: bytes) -> list[float]:
    lines = text_of(data, PERCENTAGES).splitlines()
    try:
        rows = [(int(first), float(second)) for first, second in (line.split(",") for line in lines[1:])]
    except ValueError:
        rows = []
    at = [ms for _, ms in rows]
    if [percent for percent, _ in rows] != list(range(101)) or at != sorted(at):
        raise RecordError("does not have 101 percentiles", "Run the trial again", key=PERCENTAGES)
    return at


def _histogram(at: list[float], done: int) -> tuple[tuple[float, int], ...]:
    """Return how many are between two percentiles."""
    buckets: dict[float, int] = {}
    below = 0
    for percent, ms in enumerate(at):
        until = done if percent == 100 else min(done, int(0.5 + done * percent / 100) + 1)  # as ab counts
        if until > below:
            buckets[ms] = buckets.get(ms, 0) + until - below
            below = until
    return tuple(buckets.items())
