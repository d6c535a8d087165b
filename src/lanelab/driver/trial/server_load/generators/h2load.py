"""h2load: requests per second of HTTP/1.1 and HTTP/2, a fixed number. docs/reference/load-static.md says what its
numbers are."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.load import BODY, ErrorCount, LoadReport, Tally
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.server_load import latency, request_series
from lanelab.driver.trial.server_load.generator import Generator, Invocation, Output, Results, Target
from lanelab.driver.trial.server_load.object_load import (
    HTTP_1,
    accepted,
    bytes_of,
    check_protocol,
    check_requests,
    check_streams,
    connections_of,
    counted,
    last_words,
    of_unknown_time,
    one_host,
    other_bytes,
    requests_of,
    text_of,
)

NAME = "h2load"
LOG = "h2load.log"  # each request: when it began (microseconds of this epoch), status, microseconds
MOST_REQUESTS = 2_000_000
H2 = "h2"
NOT_ANSWERED = -1  # as a status
PROTOCOLS = {"h2c": H2, H2: H2, HTTP_1: HTTP_1}
REQUESTS = re.compile(
    r"^requests: (\d+) total, (\d+) started, (\d+) done, (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout$",
    re.MULTILINE,
)
TRAFFIC = re.compile(r"^traffic: .*\((\d+)\) headers .*\((\d+)\) data$", re.MULTILINE)
SPOKEN = re.compile(r"^Application protocol: (\S+)$", re.MULTILINE)
TLS = re.compile(r"^TLS Protocol: TLSv(\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Row:
    """A request of the log."""

    began_us: int
    status: int
    took_us: int

    @property
    def ended_well(self) -> bool:
        return 200 <= self.status < 400


class H2load(Generator):
    name = program = process = NAME
    built = False
    needs = (NAME,)
    results = (LOG,)

    def check(self, settings: LoadSettings, arm: Arm) -> None:
        """Raises InputError where it cannot do this."""
        check_protocol(settings, arm, (HTTP_1, H2))
        check_streams(settings, arm)
        check_requests(settings, MOST_REQUESTS)

    def invocation(self, target: Target) -> Invocation:
        """The server chooses the version of TLS: it has one."""
        settings, encoding = target.settings, accepted(target.arm)
        one_host(target)
        argv = [
            target.program,
            f"--requests={requests_of(target)}",
            f"--clients={connections_of(target)}",
            f"--max-concurrent-streams={settings.streams}",
            "--threads=1",
            f"--connection-inactivity-timeout={settings.request_timeout_s * 1000:.0f}ms",
            f"--log-file={LOG}",
            f"--connect-to={target.address}:{target.port}",
            *(["--h1"] if target.arm.protocol == HTTP_1 else []),
            *([f"--header=accept-encoding: {encoding}"] if encoding else []),
            *target.urls,
        ]
        return Invocation(argv, {}, {})

    def read(self, target: Target, output: Output) -> Results:
        """The log has a line for each request that came to an end, also where h2load itself did not."""
        rows = read_log(output.files.get(LOG, b""), whole=output.status == 0)
        series = request_series.series([(row.began_us / 1000, row.took_us / 1000, row.ended_well) for row in rows])
        totals = REQUESTS.search(output.stdout)
        traffic = TRAFFIC.search(output.stdout)
        if not (totals and traffic):
            return Results(None, series, last_words(output))
        total, _, done, succeeded, _, errored, timeout = (int(number) for number in totals.groups())
        if total != requests_of(target) or done != sum(row.status != NOT_ANSWERED for row in rows):
            what = f"{requests_of(target)} requests were to be made, h2load says {total}, done {done}, and its log has "
            raise RecordError(f"{what}{len(rows)}", "Run the trial again", key=LOG)
        errors = _errors(rows, timed_out=timeout, others=errored - timeout)
        bodies = int(traffic[2])
        if succeeded == total and other_bytes(_bytes(target), bodies):
            errors, succeeded = {BODY: of_unknown_time(total)}, 0
        return Results(_report(target, output.stdout, rows, errors, (succeeded, timeout, bodies)), series)


def read_log(data: bytes, *, whole: bool) -> list[Row]:
    """Return every line; without the last where h2load was ended in the middle of it."""
    lines = text_of(data, LOG).split("\n")
    if lines.pop() and whole:
        raise RecordError("its last line has no end", "Run the trial again", key=LOG)
    rows = []
    for number, line in enumerate(lines, 1):
        words = line.split("\t")
        try:
            began_us, status, took_us = (int(word) for word in words[:3])
        except ValueError:
            raise RecordError(f"line {number} is {line[:60]!r}", "Run the trial again", key=LOG) from None
        rows.append(Row(began_us, status, took_us))
    return rows


def _errors(rows: Sequence[Row], *, timed_out: int, others: int) -> dict[str, ErrorCount]:
    bad: dict[int, list[float]] = {}
    for row in rows:
        if not row.ended_well and row.status != NOT_ANSWERED:
            bad.setdefault(row.status, []).append(row.took_us / 1000)
    errors = {f"status {status}": counted(times) for status, times in sorted(bad.items())}
    if timed_out:
        errors["time-out"] = of_unknown_time(timed_out)
    if others:  # h2load counts those among them that it never began, since it had no connection any more
        errors["not answered"] = of_unknown_time(others)
    return errors


def _bytes(target: Target) -> int | None:
    """Of all bodies: each connection asks for the URLs in turn, from the first on."""
    each, more = divmod(requests_of(target), connections_of(target))
    few, many = bytes_of(target, each), bytes_of(target, each + 1)
    return None if few is None or many is None else few * (connections_of(target) - more) + many * more


def _report(
    target: Target, stdout: str, rows: Sequence[Row], errors: dict[str, ErrorCount], counts: tuple[int, int, int]
) -> LoadReport:
    succeeded, timed_out, body_bytes = counts
    spoken, secured = SPOKEN.search(stdout), TLS.search(stdout)
    statuses: dict[str, int] = {}
    for row in rows:
        if row.status != NOT_ANSWERED:
            statuses[str(row.status)] = statuses.get(str(row.status), 0) + 1
    ms = latency.of_values([row.took_us / 1000 for row in rows if row.ended_well]) if succeeded else None
    total = requests_of(target)
    return LoadReport(
        generator=NAME,
        protocol=PROTOCOLS.get(spoken[1], spoken[1]) if spoken else "none",
        tls=secured[1] if secured else "off",
        seconds=_seconds(rows),
        requests=Tally(total, succeeded, total - succeeded, timed_out, 0, 0.0, ms),
        pages=None,
        parts_ms={},
        errors=errors,
        statuses=statuses,
        body_bytes=body_bytes,
        connections=connections_of(target) if target.arm.protocol == H2 else None,  # of HTTP/1.1 it opens others
        dropped=0,
        use=None,
        stopped="",
    )


def _seconds(rows: Sequence[Row]) -> float:
    """Return the time from the first request to the last answer. h2load's own time includes that of connecting."""
    if not rows:
        return 0.0
    return (max(row.began_us + row.took_us for row in rows) - min(row.began_us for row in rows)) / 1e6
