"""What h2o's logs say. Pure."""

import json
import re
from collections.abc import Iterable

from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.server import ServedRequest

CLOCK_US = 1000  # h2o looks at its clock once for all that came at the same time
HERE = "127.0.0.1:"
UNTOLD = frozenset(("sent_bytes", "received_bytes", "connection", "match"))
PROTOCOLS = {"HTTP/2": "HTTP/2.0"}
# h2o writes no levels: what is not listed here speaks against a trial.
_EXPECTED = re.compile(
    r"h2o server \(pid:\d+\) is ready to serve requests"
    r"|received SIG[A-Z]+, (gracefully shutting down|exiting)"
    r"|\[INFO\] raised RLIMIT_NOFILE to \d+"
    r"|\[OCSP Stapling\] disabled for certificate file:.*"
)


def unexpected(lines: Iterable[str]) -> list[str]:
    """Return the lines of an error log that speak against a trial."""
    return [line for line in lines if line.strip() and not _EXPECTED.fullmatch(line.strip())]


def requests(lines: Iterable[str]) -> list[ServedRequest]:
    """Return the lines of a log of requests. RecordError for one that cannot be read."""
    requests_read = (_request(line) for line in lines if line.strip())
    return [each for each in requests_read if not each.remote.startswith(HERE)]


def _request(line: str) -> ServedRequest:
    """Read a line. It lacks the bytes of headers, and whether the connection was kept. It numbers the requests of a
    connection for HTTP/1.1 alone."""
    try:
        read: dict[str, str | float | None] = {
            key: None if value == "" else value for key, value in json.loads(line).items()
        }
        duration_s, number, reused = read.pop("duration_s"), read.pop("number"), read.pop("reused")
        protocol = read["protocol"]
        entry = {
            "protocol": PROTOCOLS.get(str(protocol), protocol),
            "duration_us": round(float(duration_s or 0) * 1e6),
            "keepalives": None if number is None else int(number) - 1,
            "tls_resumed": None if read["tls"] is None else reused == "1",
        }
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise RecordError(f"a line of the server's log cannot be read: {line[:200]}", key="requests") from error
    absent = dict.fromkeys((*UNTOLD, "spdy"))
    return ServedRequest.from_json({**read, **entry, **absent}, "requests")
