"""What lighttpd's logs say. Pure."""

import json
import re
from collections.abc import Iterable

from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.server import ServedRequest

CLOCK_US = 1
UNTOLD = frozenset(("tls", "tls_resumed", "match"))
HERE = "127.0.0.1:"
# Not a request: how a connection of HTTP/2 begins, which lighttpd logs when it ends.
PREFACE = "PRI"
# date time: (file.c.line) words. lighttpd writes no levels: what is not listed here speaks against a trial.
_LINE = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d: \([a-z0-9_]+\.c\.\d+\) (?P<words>.*)$")
_EXPECTED = (
    "server started (",
    "server stopped by ",
    "[note] graceful shutdown started",
    "SSL: ",  # a client that cannot speak this TLS, or went away: Apache and nginx do not log these as warnings either
)


def unexpected(lines: Iterable[str]) -> list[str]:
    """Return the lines of an error log that speak against a trial, and what is no log line at all."""
    return [line for line in lines if line.strip() and not _expected(line)]


def _expected(line: str) -> bool:
    match = _LINE.match(line)
    return match is not None and match["words"].startswith(_EXPECTED)


def requests(lines: Iterable[str]) -> list[ServedRequest]:
    """Return the lines of a log of requests. RecordError for one that cannot be read."""
    requests_read = (_request(line) for line in lines if line.strip())
    return [each for each in requests_read if each.method != PREFACE and not each.remote.startswith(HERE)]


def _request(line: str) -> ServedRequest:
    try:
        read: dict[str, str | float | None] = {
            key: None if value == "-" else value for key, value in json.loads(line).items()
        }
        method, path, _ = str(read.pop("request")).split(" ", 2)
        local = f":{int(str(read.pop('port')))}"
        sizes = {key: int(read[key] or 0) for key in ("body_bytes", "sent_bytes", "received_bytes")}
        # Of HTTP/2 it counts the connection itself too, and says of each stream that it was closed.
        if read["protocol"] == "HTTP/2.0":
            read |= {"keepalives": max(int(str(read["keepalives"])) - 1, 0), "connection": None}
        elif read["connection"] is None:
            read["connection"] = "-"  # closed; "-" is nothing elsewhere
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise RecordError(f"a line of the server's log cannot be read: {line[:200]}", key="requests") from error
    entry = {"method": method, "path": path, "local": local}
    return ServedRequest.from_json({**read, **sizes, **entry, **dict.fromkeys((*UNTOLD, "spdy"))}, "requests")
