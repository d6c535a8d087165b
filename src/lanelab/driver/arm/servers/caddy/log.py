"""What Caddy's logs say. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NotRequired, TypedDict

from lanelab.driver.arm.servers.server import PORTS
from lanelab.driver.base.coded import parsed
from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.server import ServedRequest

CLOCK_US = 1
HTTP_3 = "HTTP/3.0"
HERE = "127.0.0.1"
TLS_VERSIONS = {0x0303: "TLSv1.2", 0x0304: "TLSv1.3"}
UNTOLD = frozenset(("sent_bytes", "received_bytes", "keepalives", "connection", "match"))
UNTOLD_OF_H3 = frozenset(("tls", "tls_resumed"))  # it takes these from a connection over TCP, and writes zeros
_QUIET = {"debug", "info"}
# Warnings that say nothing about a trial.
_EXPECTED = {
    "admin endpoint disabled": "asked for",
    "automatic HTTPS is completely disabled for server": "likewise",
    "exiting; byeee!! \N{WAVING HAND SIGN}": "how it ends",
    "HTTP/2 skipped because it requires TLS": "what an arm without TLS asks for",
}


class Tls(TypedDict):
    version: int
    resumed: bool


class LoggedRequest(TypedDict):
    host: str
    method: str
    uri: str
    proto: str
    remote_ip: str
    remote_port: str
    tls: NotRequired[Tls | None]


class Line(TypedDict):
    """A line of the log of requests, as the configuration asks for it."""

    ts: float  # in ns
    duration: float  # in s
    request: LoggedRequest
    resp_headers: Mapping[str, Sequence[str]] | None
    status: int
    size: int


def unexpected(lines: Iterable[str]) -> list[str]:
    """Return the lines of an error log that speak against a trial: warnings and worse, and what is no log line at
    all."""
    return [line for line in lines if line.strip() and not _expected(line)]


def _expected(line: str) -> bool:
    try:
        read = json.loads(line)
        return read["level"] in _QUIET or read["msg"] in _EXPECTED
    except (ValueError, KeyError, TypeError):
        return False


def requests(lines: Iterable[str]) -> list[ServedRequest]:
    """Return the lines of a log of requests. RecordError for one that cannot be read."""
    read = [_read(line) for line in lines if line.strip()]
    return [request for request in read if not request.remote.startswith(f"{HERE}:")]


def _read(line: str) -> ServedRequest:
    try:
        return _request(parsed(Line, json.loads(line), "the server's log"))
    except (ValueError, KeyError, RecordError) as error:
        raise RecordError(f"a line of the server's log cannot be read: {line[:200]}", key="requests") from error


def _request(read: Line) -> ServedRequest:
    """Read a line. It lacks the request's number on its connection, the bytes of headers, whether the connection was
    kept, and the address that was asked: the port follows from TLS."""
    request, tls = read["request"], read["request"].get("tls")
    quic = request["proto"] == HTTP_3
    duration_us = round(read["duration"] * 1e6)
    answered = {name.lower(): values for name, values in (read["resp_headers"] or {}).items()}
    entry = {
        "began_us": int(read["ts"]) // 1000 - duration_us,
        "duration_us": duration_us,
        "host": request["host"] or None,
        "method": request["method"],
        "path": request["uri"],
        "status": read["status"],
        "body_bytes": read["size"],
        "protocol": request["proto"],
        "remote": f"{request['remote_ip']}:{request['remote_port']}",
        "local": f":{PORTS['https' if tls else 'http']}",
        "encoding": next(iter(answered.get("content-encoding", ())), None),
        "tls": TLS_VERSIONS[tls["version"]] if tls and not quic else None,
        "tls_resumed": tls["resumed"] if tls and not quic else None,
    }
    absent = dict.fromkeys((*UNTOLD, "spdy"))
    return ServedRequest.from_json({**entry, **absent}, "requests")
