"""A trial's record -> HAR 1.2, for every tool that reads such files. Pure."""

import datetime
from collections.abc import Iterable, Sequence
from urllib.parse import parse_qsl, urlsplit

from lanelab.driver.base.coded import Json, JsonObject
from lanelab.driver.record.evidence.browser import PageTimes, Request
from lanelab.driver.record.record import TrialRecord

CREATOR = {"name": "lanelab", "version": "1"}
PAGE = "page_1"
FETCHER = "lanelab-fetcher/1"  # what names itself so in a fetch
NO_TIMES = PageTimes(None, None, None, None, None, None, None)
HTTP_VERSIONS = {"http/1.0": "HTTP/1.0", "http/1.1": "HTTP/1.1", "h2": "HTTP/2", "h3": "HTTP/3"}


def har(record: TrialRecord) -> JsonObject:
    """Return the HAR of one page load, or of one fetch."""
    started = datetime.datetime.fromisoformat(record.started_utc)
    evidence = record.page_load
    browser = evidence.browser if evidence else None
    product = browser.facts.product if browser else FETCHER if record.fetch else "Chromium"
    name, _, version = product.replace("/", " ", 1).partition(" ")
    return {
        "log": {
            "version": "1.2",
            "creator": CREATOR,
            "browser": {"name": name, "version": version},
            "pages": [_page(record.requests, browser.times if browser else NO_TIMES, started)],
            "entries": [_entry(request, started) for request in record.requests],
        }
    }


def _page(requests: Sequence[Request], times: PageTimes, started: datetime.datetime) -> JsonObject:
    timings = {"onContentLoad": times.dcl_ms, "onLoad": times.plt_navigation_ms}
    custom = {
        "_firstPaint": times.first_paint_ms,
        "_firstContentfulPaint": times.fcp_ms,
        "_largestContentfulPaint": times.lcp_ms,
    }
    timings |= {key: value for key, value in custom.items() if value is not None}
    return {
        "startedDateTime": _stamp(started),
        "id": PAGE,
        "title": requests[0].url if requests else "",
        "pageTimings": {key: -1 if value is None else value for key, value in timings.items()},
    }


def _entry(request: Request, started: datetime.datetime) -> JsonObject:
    version = HTTP_VERSIONS.get(request.protocol or "", request.protocol or "unknown")
    timings = request.timings.to_json()
    entry: dict[str, Json] = {
        "pageref": PAGE,
        "startedDateTime": _stamp(started + datetime.timedelta(milliseconds=request.started_ms)),
        "time": round(sum(max(value, 0) for name, value in timings.items() if name != "ssl"), 3),
        "request": _request(request, version),
        "response": _answered(request, version),
        "cache": {},
        "timings": timings,
        "_resourceType": request.type.lower(),
        "_priority": request.priority,
        "_initiator": request.initiator,
        "_fromCache": request.from_cache,
        "_connectionReused": request.reused,
    }
    if request.remote:
        entry["serverIPAddress"] = request.remote.rpartition(":")[0].strip("[]")
    if request.connection is not None:
        entry["connection"] = str(request.connection)
    if request.tls:
        entry["_securityProtocol"] = request.tls
    if request.wire:
        entry["_wire"] = request.wire.to_json()  # what was on the link, behind the gateway
    return entry


def _request(request: Request, version: str) -> JsonObject:
    return {
        "method": request.method,
        "url": request.url,
        "httpVersion": version,
        "cookies": _sent_cookies(request.request_headers),
        "headers": _named(request.request_headers),
        "queryString": _named(parse_qsl(urlsplit(request.url).query, keep_blank_values=True)),
        "headersSize": request.request_header_bytes,
        "bodySize": 0 if request.method in ("GET", "HEAD", "OPTIONS") else -1,
    }


def _answered(request: Request, version: str) -> JsonObject:
    headers = request.response_headers
    head, wire = request.response_header_bytes, request.wire_bytes
    answer: dict[str, Json] = {
        "status": request.status or 0,
        "statusText": "",
        "httpVersion": version,
        "cookies": _given_cookies(headers),
        "headers": _named(headers),
        "content": {"size": request.body_bytes, "mimeType": request.mime or "x-unknown"},
        "redirectURL": next((value for name, value in headers if name.lower() == "location"), ""),
        "headersSize": head,
        # What cannot be told apart from the headers is not known.
        "bodySize": 0 if request.from_cache else max(wire - head, 0) if head >= 0 else -1,
        "_transferSize": wire,
    }
    if request.error:
        answer["_error"] = request.error
    return answer


def _named(headers: Iterable[Sequence[str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers]


def _sent_cookies(headers: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    lines = [value for name, value in headers if name.lower() == "cookie"]
    return [_cookie(pair) for line in lines for pair in line.split(";") if pair.strip()]


def _given_cookies(headers: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    return [_cookie(value.split(";")[0]) for name, value in headers if name.lower() == "set-cookie"]


def _cookie(pair: str) -> dict[str, str]:
    name, _, value = pair.partition("=")
    return {"name": name.strip(), "value": value.strip()}


def _stamp(when: datetime.datetime) -> str:
    return when.isoformat(timespec="milliseconds")
