"""What webfs's logs say. Pure.

Its log of requests is in the common format: no port, no host, the time in seconds. What it has for the size of an
answer is all that the connection has carried. When a connection ends, the line of its last request comes again; one
that carried none has a line of its own then.
"""

import re
from collections.abc import Iterable

from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.server import LoggedRequest

CLOCK_US = 1_000_000
# fmt: off
UNTOLD = frozenset((
    "began_us", "duration_us", "host", "body_bytes", "sent_bytes", "received_bytes", "remote", "local", "keepalives",
    "connection", "encoding", "tls", "tls_resumed", "match",
))
# fmt: on
HERE = "127.0.0.1"
NOTHING = "-"
BAD_REQUEST = 400
_LINE = re.compile(
    r'(?P<client>\S+) \S+ \S+ \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "(?P<request>.*)" '
    r"(?P<status>\d{3}) (?P<bytes>\d+)"
)


def unexpected(lines: Iterable[str]) -> list[str]:
    """Return every line: it is silent where all is well."""
    return [line for line in lines if line.strip()]


def requests(lines: Iterable[str]) -> list[LoggedRequest]:
    """Return the lines of a log of requests. RecordError for one that cannot be read."""
    requests_read = [_request(line) for line in lines if line.strip()]
    return [each for each in requests_read if each.client != HERE and not _is_end_of_unused(each)]


def _is_end_of_unused(line: LoggedRequest) -> bool:
    return line.path is None and line.status == BAD_REQUEST and line.connection_bytes == 0


def _request(line: str) -> LoggedRequest:
    match = _LINE.fullmatch(line)
    words = match["request"].split(" ") if match else []
    if match is None or (len(words) != 3 and words != [NOTHING]):
        raise RecordError(f"a line of the server's log cannot be read: {line[:200]}", key="requests")
    method, path, protocol = words if len(words) == 3 else (NOTHING, None, None)
    return LoggedRequest(
        client=match["client"],
        method=method,
        host=None,
        path=path,
        protocol=protocol,
        status=int(match["status"]),
        body_bytes=None,
        connection_bytes=int(match["bytes"]),
    )
