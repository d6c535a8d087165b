"""What the gateway's log says. Pure."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

MOST_NAMED = 3
KINDS = {"connection": "connections", "request": "requests", "dns": "dns"}
# What the verdict goes by. A line without these is none that it can hear.
NEEDED: Mapping[str, tuple[str, ...]] = {
    "gateway": ("version", "started_unix_us", "wire"),
    "connection": (
        *("connection", "host", "hosts", "remote", "local", "protocol", "alpn", "tls", "tls_resumed"),
        *("began_ms", "connected_ms", "secured_ms", "closed_ms", "requests", "ended_by", "error"),
    ),
    "request": (
        *("request", "connection", "stream", "method", "url", "protocol", "tls", "reused", "queued_ms", "sent_ms"),
        *("first_byte_ms", "last_byte_ms", "status", "response_header_wire_bytes", "response_body_bytes"),
        *("in_flight", "tries", "cancelled", "error"),
    ),
    "dns": ("host", "error"),
}


def parse(data: bytes) -> dict[str, Any]:
    """The log as a trial's record has it: `connections` and `requests` in the order of their numbers, `dns`, and what
    the gateway says of itself. A line that is not whole, or that nobody understands, is left out and counted in
    `unread_lines`: a gateway that was killed may leave one, one that ended well none."""
    log: dict[str, Any] = {"connections": [], "requests": [], "dns": [], "unread_lines": 0}
    for line in data.split(b"\n"):
        if not line:
            continue
        event, entry = _read(line)
        if event == "gateway":
            log |= entry
        elif event:
            log[KINDS[event]].append(entry)
        else:
            log["unread_lines"] += 1
    for kind in ("connection", "request"):
        log[KINDS[kind]].sort(key=lambda entry: entry[kind])
    return log


def _read(line: bytes) -> tuple[str, dict[str, Any]]:
    """Its kind and the rest; no kind where it cannot be understood."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return "", {}
    event = entry.pop("event", None) if isinstance(entry, dict) else None
    if not isinstance(event, str) or event not in NEEDED or any(key not in entry for key in NEEDED[event]):
        return "", {}
    if event in ("connection", "request") and (type(entry[event]) is not int or entry[event] < 1):
        return "", {}
    return event, entry


def gaps(log: Mapping[str, Any]) -> Iterator[str]:
    """What the log of a gateway that ended well cannot lack, and this one does. `said`: a record's `gateway`. Runs from
    before lines were counted do not say how many could not be read."""
    unread = log.get("unread_lines", 0)
    if unread:
        yield f"{unread} of the lines of the gateway's log cannot be read"
    if log.get("started_unix_us") is None:
        yield "the gateway's log lacks its first line"
    yield from _numbered("requests", [each["request"] for each in log.get("requests") or ()])
    # A connection whose name was not found has a number, and was none.
    unfound = any(each["error"] for each in log.get("dns") or ())
    yield from _numbered(
        "connections", [each["connection"] for each in log.get("connections") or ()], whole=not unfound
    )


def _numbered(kind: str, numbers: Sequence[int], *, whole: bool = True) -> Iterator[str]:
    """Numbers go from 1 on, each once; where they must be whole, without a gap."""
    counted = Counter(numbers)
    last = max(counted, default=0)
    if whole and last > len(counted):
        absent = _some(number for number in range(1, last) if number not in counted)
        yield f"the gateway's log lacks {last - len(counted)} of {kind}: {absent}"
    twice = sorted(number for number, count in counted.items() if count > 1)
    if twice:
        yield f"the gateway's log has {len(twice)} of {kind} more than once: {_some(twice)}"


def _some(numbers: Iterable[int]) -> str:
    return f"number {', '.join(map(str, itertools.islice(numbers, MOST_NAMED)))}"
