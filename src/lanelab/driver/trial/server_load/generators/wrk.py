"""wrk: requests per second of HTTP/1.1, for a time. docs/reference/load-static.md says what its numbers are."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError, RecordError
from lanelab.driver.record.evidence.load import BODY, ErrorCount, LoadReport, Tally
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.server_load import latency
from lanelab.driver.trial.server_load.generator import Generator, Invocation, Output, Results, Target
from lanelab.driver.trial.server_load.object_load import (
    HTTP_1,
    accepted,
    bytes_of,
    check_protocol,
    last_words,
    of_unknown_time,
    one_host,
    path_of,
)

NAME = "wrk"
SCRIPT, RESULT = "load.lua", "wrk.json"
ENOUGH = 0.98  # of the time that it was to take; less: somebody ended it
# The address, whatever the name is (so that the server sees the name, in Host and in TLS); and what wrk counted, of
# which it prints less.
LUA = """\
function wrk.resolve(host, service)
  wrk.addrs = wrk.lookup("{address}", "{port}")
end
{requests}
function done(summary, latency, requests)
  local file, errors = io.open("{result}", "w"), summary.errors
  file:write(string.format('{{"microseconds": %d, "requests": %d, "bytes": %d, ', summary.duration, summary.requests,
    summary.bytes))
  file:write(string.format('"connect": %d, "read": %d, "write": %d, "status": %d, "timeout": %d, "latencies": [',
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
  for i = 1, #latency do
    local microseconds, count = latency(i)
    file:write(i > 1 and "," or "", "[", microseconds, ",", count, "]")
  end
  file:write("]}}\\n")
  file:close()
end
"""
IN_TURN = """
local paths = {{{paths}}}
local requests, number = {{}}, 0
function init(args)
  for i, path in ipairs(paths) do requests[i] = wrk.format("GET", path) end
end
function request()
  number = number % #requests + 1
  return requests[number]
end
"""


@dataclass(frozen=True, slots=True)
class Counted(Coded):
    """Counts that wrk gives."""

    microseconds: int
    requests: int  # answered
    bytes: int  # of answers, with their headers
    connect: int  # errors of each kind
    read: int
    write: int
    status: int  # 400 and above
    timeout: int  # answered, but late; those never answered are in no number
    latencies: tuple[tuple[int, int], ...]  # microseconds, count; wrk has added some: see `measured`


class Wrk(Generator):
    name = program = process = NAME
    keys = frozenset(("connections", "duration"))
    usual_s = 10.0
    built = False
    needs = (NAME,)
    results = (RESULT,)

    def check(self, settings: LoadSettings, arm: Arm) -> None:
        """Raises InputError where it cannot do this."""
        check_protocol(settings, arm, (HTTP_1,))
        if settings.lasts_s < 1 or settings.lasts_s % 1:
            what = f"wrk goes on for whole seconds, and not for {settings.lasts_s:g} s"
            raise InputError(what, "Write a duration like 10s", key="duration")
        _whole_timeout(settings)

    def invocation(self, target: Target) -> Invocation:
        """One URL is asked for without calling Lua; several in turn, over all connections together."""
        settings, urls = target.settings, one_host(target)
        paths = ", ".join(_lua(path_of(url)) for url in urls)
        requests = IN_TURN.format(paths=paths) if len(urls) > 1 else ""
        script = LUA.format(address=target.address, port=target.port, requests=requests, result=RESULT)
        encoding = accepted(target.arm)
        argv = [
            target.program,
            "--threads=1",
            f"--connections={settings.connections}",
            f"--duration={settings.lasts_s:.0f}s",
            f"--timeout={_whole_timeout(settings)}s",
            f"--script={SCRIPT}",
            *([f"--header=Accept-Encoding: {encoding}"] if encoding else []),
            target.urls[0],
        ]
        return Invocation(argv, {}, {SCRIPT: script.encode("ascii")})

    def read(self, target: Target, output: Output) -> Results:
        """Read the results. There are no series over time, since wrk does not report any."""
        if RESULT not in output.files:
            return Results(None, {}, last_words(output))
        try:
            counted = Counted.from_json(json.loads(output.files[RESULT]), RESULT)
        except ValueError:
            return Results(None, {}, last_words(output))
        return Results(_report(target, counted), {})


def _report(target: Target, counted: Counted) -> LoadReport:
    settings = target.settings
    ended = counted.requests - counted.status - counted.timeout
    errors = _errors(counted)
    short = _too_short(target, counted)
    if short:
        errors = {**errors, BODY: of_unknown_time(short)}
        ended -= short
    failed = sum(error.count for error in errors.values())
    times = measured(counted, settings.connections)
    seconds = counted.microseconds / 1e6
    wanted = settings.lasts_s
    return LoadReport(
        generator=NAME,
        protocol=HTTP_1,
        tls=target.arm.tls,  # the server speaks no other version, and wrk no plain text to https
        seconds=seconds,
        requests=Tally(
            begun=ended + failed + settings.connections,
            ended=ended,
            failed=failed,
            timed_out=counted.timeout,
            unfinished=settings.connections,  # it leaves off in the middle: each connection has one under way
            unfinished_longest_ms=0.0,
            # Its times are of all answers, whatever their status.
            ms=latency.of_counts(times) if ended == sum(times.values()) else None,
        ),
        pages=None,
        parts_ms={},
        errors=errors,
        statuses={"below 400": counted.requests - counted.status, "400 and above": counted.status},
        body_bytes=None,
        connections=None,
        dropped=0,
        use=None,
        stopped=f"it was stopped after {seconds:.1f} of {wanted:g} s" if seconds < wanted * ENOUGH else "",
    )


def _errors(counted: Counted) -> dict[str, ErrorCount]:
    kinds = {
        "connecting": counted.connect,
        "reading": counted.read,
        "writing": counted.write,
        "status 400 or above": counted.status,
        "time-out": counted.timeout,
    }
    return {kind: of_unknown_time(count) for kind, count in kinds.items() if count}


def _too_short(target: Target, counted: Counted) -> int:
    """Return all ended requests where so many answers have more bytes than came, else 0: wrk counts any answer."""
    ended = counted.requests - counted.status - counted.timeout
    expected = bytes_of(target, ended)
    return ended if expected is not None and counted.bytes < expected else 0


def measured(counted: Counted, connections: int) -> Mapping[float, int]:
    """Return how long each answer took, in ms.

    wrk adds to what it measured, so that a server that stalls looks as if it had been asked all the while (its source
    calls that stats_correct). Here is what was measured: what was added to each value follows from the higher ones, and
    none was added to the highest. Raises RecordError where this does not give as many values as there were answers.
    """
    times = dict(counted.latencies)
    rounds = counted.requests // connections
    usual = counted.microseconds // rounds if rounds else 0
    for value in sorted(times, reverse=True):
        if not usual or value < 2 * usual:
            break
        for added in range(value - usual, usual, -usual):
            times[added] = times.get(added, 0) - times[value]
    values = sum(times.values())
    if values != counted.requests - counted.timeout or min(times.values(), default=0) < 0:
        what = f"there are {values} times of {counted.requests - counted.timeout} answers"
        raise RecordError(what, "Run the trial again", key=f"{RESULT}: latencies")
    return {value / 1000: count for value, count in times.items() if count}


def _whole_timeout(settings: LoadSettings) -> int:
    if settings.request_timeout_s < 1 or settings.request_timeout_s % 1:
        what = f"wrk waits for whole seconds, and not for {settings.request_timeout_s:g} s"
        raise InputError(what, "Write one like 60s", key="request_timeout")
    return int(settings.request_timeout_s)


def _lua(text: str) -> str:
    """Return a string of Lua's."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
