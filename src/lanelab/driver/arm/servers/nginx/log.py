"""What nginx's logs say. Pure."""

import json
import re
from collections.abc import Iterable

from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.server import ServedRequest

CLOCK_US = 1000  # nginx writes milliseconds
# date time [level] pid#tid: words
_LINE = re.compile(r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[(?P<level>[a-z]+)\] ")
_QUIET = {"notice", "info", "debug"}


def unexpected(lines: Iterable[str]) -> list[str]:
    """Return the lines of an error log that speak against a trial: warnings and worse, and what is no log line at all.
    That a worker died is an alert."""
    return [line for line in lines if line.strip() and not _expected(line)]


def _expected(line: str) -> bool:
    match = _LINE.match(line)
    return match is not None and match["level"] in _QUIET


def requests(lines: Iterable[str]) -> list[ServedRequest]:
    """Return the lines of a log of requests. RecordError for one that cannot be read."""
    return [_request(line) for line in lines if line.strip()]


def _request(line: str) -> ServedRequest:
    """nginx writes an empty text where there is nothing to write. It does not write whether it kept the connection."""
    try:
        read: dict[str, str | float | None] = {
            key: None if value == "" else value for key, value in json.loads(line).items()
        }
        ended_s, duration_s = float(str(read.pop("ended_s"))), float(str(read.pop("duration_s")))
        keepalives = int(str(read.pop("number"))) - 1
        completion, reused = read.pop("completion"), read.pop("reused")
        method = read["method"] or "-"
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise RecordError(f"a line of the server's log cannot be read: {line[:200]}", key="requests") from error
    entry = {
        "method": method,
        "began_us": round((ended_s - duration_s) * 1000) * CLOCK_US,
        "duration_us": round(duration_s * 1000) * CLOCK_US,
        "keepalives": keepalives,
        "connection": None if completion == "OK" else "X",
        "tls_resumed": None if read.get("tls") is None else reused == "r",
        "spdy": None,
        "match": None,
    }
    return ServedRequest.from_json({**read, **entry}, "requests")
