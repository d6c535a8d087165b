"""What a record says about requests, in the words of the verdict and of the bound. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

Request = Mapping[str, Any]


def on_network(record: Mapping[str, Any]) -> list[Request]:
    """Requests that are a server's business; data:, blob: and about: are the browser's own."""
    return [each for each in record.get("requests") or () if urlsplit(each["url"]).scheme in ("http", "https")]


def fetched(record: Mapping[str, Any]) -> list[Request]:
    """Of these, those that were answered over the network."""
    return [each for each in on_network(record) if not each["from_cache"] and was_answered(each)]


def was_answered(request: Request) -> bool:
    return request["error"] is None and request["status"] is not None


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
