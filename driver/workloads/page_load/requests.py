"""What a record says about requests, in the words of the verdict and of the bound. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

Request = Mapping[str, Any]
ON_THE_WIRE = (
    *("protocol", "tls", "connection", "stream", "reused", "in_flight", "tries", "wire_priority"),
    *("queued_ms", "sent_ms", "first_byte_ms", "last_byte_ms"),
    *("request_header_bytes", "request_header_wire_bytes", "response_header_bytes", "response_header_wire_bytes"),
    *("request_body_bytes", "response_body_bytes"),
)


def on_network(record: Mapping[str, Any]) -> list[Request]:
    """Requests that are a server's business; data:, blob: and about: are the browser's own."""
    return [each for each in record.get("requests") or () if urlsplit(each["url"]).scheme in ("http", "https")]


def fetched(record: Mapping[str, Any]) -> list[Request]:
    """Of these, those that were answered over the network."""
    return [each for each in on_network(record) if not each["from_cache"] and was_answered(each)]


def was_answered(request: Request) -> bool:
    return request["error"] is None and request["status"] is not None


def with_wire(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The browser's requests, each with what the gateway noted of its way over the link as `wire`: those for the same
    thing in the order of asking. None where the browser had it without the gateway."""
    passed: dict[str, list[Mapping[str, Any]]] = {}
    noted = (record.get("gateway") or {}).get("requests") or ()
    for each in sorted(noted, key=lambda each: float(each["queued_ms"])):
        passed.setdefault(each["url"], []).append(each)
    found = []
    for request in sorted(record.get("requests") or (), key=lambda each: float(each["started_ms"])):
        asked = [] if request["from_cache"] else passed.get(target(request), [])
        noted_of_it = asked.pop(0) if asked else None
        wire = {key: noted_of_it.get(key) for key in ON_THE_WIRE} if noted_of_it else None
        found.append({**request, "wire": wire})
    return found


def encoding(request: Request) -> str | None:
    """What the answer's body was compressed with."""
    return next((value for name, value in request["response_headers"] if name.lower() == "content-encoding"), None)


def host(request: Request) -> str:
    return (urlsplit(request["url"]).hostname or "").rstrip(".")


def target(request: Request) -> str:
    """As a manifest names it: host, path and query."""
    parts = urlsplit(request["url"])
    return host(request) + (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def few(items: list[str], most: int = 3) -> str:
    """The first of a list, and how many more there are."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more
