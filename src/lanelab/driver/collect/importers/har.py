"""HAR files with bodies, as browsers' developer tools save them. Bodies in them are decoded."""

import datetime
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import InputError
from lanelab.driver.collect.importers.har_bodies import REDIRECTS, WITHOUT_BODY, LeftOutError, body_of
from lanelab.driver.collect.importers.importer import Imported, Importer, Source, changed_utc, read_file, start_of
from lanelab.driver.collect.importers.think_times import Waited, think_times
from lanelab.driver.site.archive.addresses import host_and_path
from lanelab.driver.site.archive.dates import utc_of
from lanelab.driver.site.archive.http_text import values_of
from lanelab.driver.site.archive.read_warc import shown
from lanelab.driver.site.exchange import Exchange
from lanelab.driver.site.site import Headers

# Of the body as it was on the wire, which a HAR file has not.
OF_THE_WIRE = frozenset(("content-encoding", "content-length", "transfer-encoding"))
LONGEST_TIME_MS = 1e9
NEVER_FETCHED = ("data:", "blob:", "about:", "chrome-extension:", "moz-extension:", "ws:", "wss:")


class _UnansweredError(Exception):
    """The browser got no answer."""


@dataclass(frozen=True, slots=True)
class _Page:
    begun: datetime.datetime
    loaded_ms: float


def matches(path: Path) -> bool:
    start = start_of(path).removeprefix(b"\xef\xbb\xbf").lstrip()
    return start.startswith(b"{") and b'"log"' in start


def read(source: Source) -> Imported:
    log = _log(source)
    pages = _pages(log)
    exchanges, left_out, unanswered = [], [], []
    doubtful: list[str] = []
    decoded = 0
    fallback = changed_utc(source.path)
    entries = list(_dicts(log.get("entries")))
    waits = [_waited(entry) for entry in entries]
    measured = zip(entries, waits, think_times(waits), strict=True)
    for number, (entry, waited, think_ms) in enumerate(measured, 1):
        url = _text(_dict(entry.get("request")).get("url"))
        try:
            exchange, words = _exchange(entry, url, pages, fallback)
            exchanges.append(replace(exchange, think_ms=think_ms, connect_ms=waited.connect))
            doubtful += [f"{shown(url)}: {words}"] if words else []
            decoded += bool(exchange.body) and _was_encoded(entry)
        except LeftOutError as why:
            left_out.append(f"{shown(url) or f'entry {number}'}: {why}")
        except _UnansweredError:
            unanswered.append(host_and_path(url))
    if not exchanges:
        first = f": {left_out[0]}" if left_out else ""
        remedy = "Save the file with contents ('Save all as HAR with content')"
        raise InputError(f"{source.path} has no answer with its body{first}", remedy)
    if decoded:
        left_out.append(f"compression, of {decoded:,} of the answers: the file has their bodies decoded")
    title = next((text for page in _dicts(log.get("pages")) if (text := _text(page.get("title")))), None)
    known = {each.url for each in exchanges}
    hosts_unanswered = tuple(dict.fromkeys(filter(None, unanswered)))
    doubtful += _without_page(log, title or "", known)
    entry_url = title if title in known else None
    return Imported(
        tuple(exchanges), tuple(left_out), entry_url, title, hosts_unanswered, tuple(doubtful), _loads(log, pages),
        of_one_load=bool(pages),
    )  # fmt: skip


def _loads(log: JsonObject, pages: Mapping[str, _Page]) -> dict[str, frozenset[str]]:
    """Return by a page's address what its load asked for by its load event, as host and path. A page's first entry is
    it itself."""
    addresses: dict[str, str] = {}
    targets: dict[str, set[str | None]] = {}
    for entry in _dicts(log.get("entries")):
        url, page = _text(_dict(entry.get("request")).get("url")), _text(entry.get("pageref"))
        address = addresses.setdefault(page, url)
        if page in pages and not _late(_text(entry.get("startedDateTime")), pages[page]):
            targets.setdefault(address, set()).add(host_and_path(url))
    return {address: frozenset(filter(None, urls)) for address, urls in targets.items()}


def _without_page(log: JsonObject, title: str, known: Collection[str]) -> tuple[str, ...]:
    """Say that the answer of the recording's own page is missing, where it is."""
    first = next((_text(_dict(entry.get("request")).get("url")) for entry in _dicts(log.get("entries"))), "")
    page = title if title.startswith(("http://", "https://")) else first
    return () if page in known else (f"{shown(page)}: the recording's own page is not there; see the entry",)


def _log(source: Source) -> JsonObject:
    try:
        data = json.loads(read_file(source.path, most=source.limits.json_bytes).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source.path} is no JSON: {error}", "Save the HAR file again") from error
    log = data.get("log") if isinstance(data, dict) else None
    if not isinstance(log, dict):
        raise InputError(f"{source.path} is no HAR file: it has no log", "Save the HAR file again")
    return log


def _exchange(entry: JsonObject, url: str, pages: Mapping[str, _Page], fallback: str) -> tuple[Exchange, str]:
    """Return what was exchanged, and words on what is doubtful of it."""
    request, response = _dict(entry.get("request")), _dict(entry.get("response"))
    if not url or url.startswith(NEVER_FETCHED):
        raise LeftOutError("it was not fetched over HTTP")
    status = response.get("status")
    if not isinstance(status, int) or isinstance(status, bool):
        raise LeftOutError("it has no status")
    if status <= 0:
        raise _UnansweredError
    begun = _text(entry.get("startedDateTime"))
    content = _dict(response.get("content"))
    named = values_of(_fields(response, ()), "content-type") or [_text(content.get("mimeType"))]
    may_be_empty = status in WITHOUT_BODY or status in REDIRECTS or _text(request.get("method")) == "HEAD"
    body, words = body_of(content, named[0], may_be_empty=may_be_empty)
    exchange = Exchange(
        method=_text(request.get("method")) or "GET",
        url=url,
        request_headers=_fields(request, ()),
        request_body=_posted(request),
        status=status,
        reason=_text(response.get("statusText")).strip(),
        headers=_fields(response, OF_THE_WIRE),
        body=body,
        protocol=_protocol(_text(response.get("httpVersion"))),
        at_utc=utc_of(begun) or fallback,
        late=_late(begun, pages.get(_text(entry.get("pageref")))),
    )
    return exchange, words


def _was_encoded(entry: JsonObject) -> bool:
    codings = values_of(_fields(_dict(entry.get("response")), ()), "content-encoding")
    return any(each.strip().lower() not in ("", "identity") for each in codings)


def _waited(entry: JsonObject) -> Waited:
    """Return what the browser measured. In HAR `ssl` is a part of `connect`, and -1 is for what did not happen. What
    Chromium had in a cache (`_fromCache`) says how long the cache took, and nothing of a server."""
    timings = {} if entry.get("_fromCache") else _dict(entry.get("timings"))
    wait, connect, ssl = (_milliseconds(timings.get(name)) for name in ("wait", "connect", "ssl"))
    host = (host_and_path(_text(_dict(entry.get("request")).get("url"))) or "").partition("/")[0]
    return Waited(host, wait, None if connect is None else max(connect - (ssl or 0), 0))


def _milliseconds(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < LONGEST_TIME_MS:
        return float(value)
    return None


def _posted(request: JsonObject) -> bytes:
    return _text(_dict(request.get("postData")).get("text")).encode("utf-8", "surrogatepass")


def _fields(message: JsonObject, but: frozenset[str] | tuple[str, ...]) -> Headers:
    """Return headers without pseudo fields of HTTP/2. Several values of one name stand in one, with line ends between
    them."""
    return tuple(
        (name, line.strip())
        for each in _dicts(message.get("headers"))
        if (name := _text(each.get("name")).strip()) and not name.startswith(":") and name.lower() not in but
        for line in _latin(_text(each.get("value"))).split("\n")
    )


def _latin(text: str) -> str:
    """Return the bytes of a field as characters; what is beyond them came as UTF-8."""
    return text if all(ord(each) <= 0xFF for each in text) else text.encode("utf-8", "replace").decode("latin-1")


def _protocol(version: str) -> str:
    named = version.strip().lower()
    return {"h2": "h2", "http/2": "h2", "http/2.0": "h2", "h3": "h3", "http/1.0": "http/1.0"}.get(named) or (
        named if named.startswith("spdy/") and named.isascii() and len(named) < 20 and " " not in named else "http/1.1"
    )


def _pages(log: JsonObject) -> dict[str, _Page]:
    """Return when pages were loaded, by id."""
    pages = {}
    for page in _dicts(log.get("pages")):
        loaded = _dict(page.get("pageTimings")).get("onLoad")
        begun = _instant(_text(page.get("startedDateTime")))
        if begun and isinstance(loaded, int | float) and 0 < loaded < LONGEST_TIME_MS:
            pages[_text(page.get("id"))] = _Page(begun, float(loaded))
    return pages


def _late(begun: str, page: _Page | None) -> bool:
    """Return whether it was asked for after the page's load event."""
    instant = _instant(begun)
    if page is None or instant is None:
        return False
    return (instant - page.begun).total_seconds() * 1_000 > page.loaded_ms


def _instant(text: str) -> datetime.datetime | None:
    known = utc_of(text)
    return datetime.datetime.fromisoformat(known) if known else None


def _dicts(value: object) -> Iterator[JsonObject]:
    return (each for each in value if isinstance(each, dict)) if isinstance(value, list) else iter(())


def _dict(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


HAR = Importer("har", "a HAR file", matches, read)
