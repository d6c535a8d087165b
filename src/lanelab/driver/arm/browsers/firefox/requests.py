"""What watch.js noted -> the requests of a page load. Pure."""

from collections.abc import Iterable, Sequence
from typing import NotRequired, TypedDict

from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.browser import Headers, Request, Timings, WebSocket, mark_reused
from lanelab.driver.record.evidence.ends import Ends

NOT_APPLICABLE = -1
FAILED = 400
# nsIContentPolicy's types, in the words that records have for them.
TYPES = {
    2: "Script", 3: "Image", 4: "Stylesheet", 5: "Other", 6: "Document", 7: "Document", 10: "Ping", 11: "XHR",
    13: "Other", 14: "Font", 15: "Media", 17: "CSPViolationReport", 19: "Ping", 20: "Fetch", 21: "Image",
    22: "Manifest", 45: "Prefetch",
}  # fmt: skip
WEB_SOCKET = 16  # among these types
TLS = {1: "TLS 1.0", 2: "TLS 1.1", 3: "TLS 1.2", 4: "TLS 1.3"}  # nsITransportSecurityInfo's
QUIC = "QUIC"  # what records say of the TLS within it
# Errors in the words that the verdict has for them.
ERRORS = {"NS_BINDING_ABORTED": "net::ERR_ABORTED", "NS_ERROR_NET_BLOCKED_BY_ORB": "net::ERR_BLOCKED_BY_ORB"}
REDIRECTED = ("NS_BINDING_REDIRECTED", "NS_BINDING_RETARGETED")


class Noted(TypedDict):
    """The notes of watch.js on a request, in microseconds. The last keys come with its end, those before with an
    answer."""

    url: str
    method: str
    policy: int  # nsIContentPolicy's type
    cached: bool
    body: int | None
    status: NotRequired[int]
    protocol: NotRequired[str | None]
    mime: NotRequired[str]
    asked: NotRequired[Sequence[Sequence[str]]]
    got: NotRequired[Sequence[Sequence[str]]]
    remote: NotRequired[tuple[str, int] | None]
    local: NotRequired[tuple[str, int] | None]
    tls: NotRequired[int | None]
    asyncOpenTime: NotRequired[int]
    domainLookupStartTime: NotRequired[int]
    domainLookupEndTime: NotRequired[int]
    connectStartTime: NotRequired[int]
    secureConnectionStartTime: NotRequired[int]
    connectEndTime: NotRequired[int]
    requestStartTime: NotRequired[int]
    responseStartTime: NotRequired[int]
    responseEndTime: NotRequired[int]
    cacheReadEndTime: NotRequired[int]
    initiator: NotRequired[str]
    sizes: NotRequired[tuple[int, int, int]]
    error: NotRequired[str | None]


def requests(noted: Iterable[Noted], load_us: float | None) -> tuple[Request, ...]:
    """Return every request, in the order of their starts, times in ms from the start of the first. `load_us`: when the
    load event was. Raises RecordError where a note lacks what it must have."""
    listed = [each for each in noted if _is_request(each)]
    start = first_us(listed)
    if start is None:
        return ()
    numbers: dict[Ends, int] = {}
    try:
        descriptions = [_describe(each, start, load_us, numbers) for each in listed]
    except KeyError as error:
        raise RecordError(f"in the browser's notes, {error.args[0]} is missing", key=str(error.args[0])) from error
    return mark_reused(sorted(descriptions, key=lambda each: each.started_ms))


def first_us(noted: Iterable[Noted]) -> int | None:
    """Return when the first request began, in microseconds since 1970 by the browser's clock; None: there was none."""
    return min((each["asyncOpenTime"] for each in noted if each.get("asyncOpenTime")), default=None)


def sockets(noted: Iterable[Noted]) -> tuple[WebSocket, ...]:
    """Return the WebSockets that the page opened. Firefox notes the request of each handshake, with the address of
    that."""
    handshakes = [each for each in noted if each["policy"] == WEB_SOCKET]
    return tuple(WebSocket(f"ws{each['url'].removeprefix('http')}", each.get("status") or None) for each in handshakes)


def document_error(noted: Sequence[Noted]) -> str | None:
    """Return why the page itself did not come."""
    documents = [each for each in noted if each["policy"] == 6]
    for each in documents:
        if not 300 <= each.get("status", 0) < 400 or each.get("status") == 304:
            return _error(each)
    return None


def _describe(noted: Noted, start: int, load_us: float | None, numbers: dict[Ends, int]) -> Request:
    began = noted.get("asyncOpenTime") or start
    ended = noted.get("responseEndTime") or noted.get("cacheReadEndTime") or None
    cached, sizes = noted["cached"], noted.get("sizes") or (0, 0, 0)
    sent, got = _pairs(noted.get("asked")), _pairs(noted.get("got"))
    protocol, remote = noted.get("protocol"), noted.get("remote")
    secure = noted["url"].startswith("https:") and not cached
    return Request(
        url=noted["url"],
        method=noted["method"],
        status=noted.get("status") or None,
        type=TYPES.get(noted["policy"], "Other"),
        mime=noted.get("mime", ""),
        protocol=protocol if noted.get("status") else None,
        connection=None if cached or not remote else _number(numbers, remote, noted.get("local")),
        reused=False,  # see mark_reused
        priority=next((value for name, value in sent if name.lower() == "priority"), ""),
        remote=_address(*remote) if remote else None,
        from_cache=cached,
        started_ms=_ms(began - start),
        ended_ms=None if ended is None else _ms(ended - start),
        timings=timings(noted, began, ended),
        request_headers=sent,
        response_headers=got,
        request_header_bytes=sizes[0] if protocol == "http/1.1" and not cached else NOT_APPLICABLE,
        response_header_bytes=NOT_APPLICABLE,
        body_bytes=_body_bytes(noted, got, sizes[2]),
        wire_bytes=0 if cached else sizes[1],
        error=_error(noted),
        tls=(QUIC if protocol == "h3" else TLS.get(noted.get("tls") or 0)) if secure else None,
        initiator=noted.get("initiator") or "other",
        before_load=load_us is None or began <= load_us,
        wire=None,
    )


def _number(numbers: dict[Ends, int], remote: tuple[str, int], local: tuple[str, int] | None) -> int:
    """A connection is known by its two ends."""
    return numbers.setdefault(Ends(local[1] if local else 0, *remote), len(numbers) + 1)


def _body_bytes(noted: Noted, got: Headers, encoded: int) -> int:
    """Return the bytes of a body, decoded, as the page's process counted them. What it did not count is what came,
    unless that was compressed."""
    if noted["body"]:
        return noted["body"]
    if _is_unwanted(noted):
        return NOT_APPLICABLE
    return NOT_APPLICABLE if any(name.lower() == "content-encoding" for name, _ in got) and encoded else encoded


def _is_request(noted: Noted) -> bool:
    over_http = noted["url"].startswith(("http:", "https:")) and noted["policy"] != WEB_SOCKET
    return over_http and not _is_internal(noted)


def _is_internal(noted: Noted) -> bool:
    """A redirect within the browser, as from http to https by what it knows: nothing was asked for."""
    return noted.get("error") in REDIRECTED and not noted.get("status")


def _is_unwanted(noted: Noted) -> bool:
    """Return whether it is a picture that came with an error, whose body the browser does not take."""
    is_picture = TYPES.get(noted["policy"]) == "Image" and noted.get("status", 0) >= FAILED
    return is_picture and noted.get("error") == "NS_BINDING_ABORTED"


def _error(noted: Noted) -> str | None:
    error: str | None = noted.get("error")
    if _is_unwanted(noted):
        return None  # the status tells of it
    return None if error is None or error in REDIRECTED else ERRORS.get(error, error)


def timings(noted: Noted, began: int, ended: int | None) -> Timings:
    """HAR's parts, -1 for what did not happen. They sum up to the whole, without `ssl`, which is within `connect`. What
    lies between them (waiting for a connection that another request opened, or in a queue) is `blocked`."""

    def span(first: int | None, last: int | None) -> float:
        return _ms(max(last - first, 0)) if first and last else NOT_APPLICABLE

    total = 0.0 if ended is None else _ms(max(ended - began, 0))
    if noted["cached"] or not noted.get("requestStartTime"):
        parts = {"blocked": total if ended is None else NOT_APPLICABLE, "receive": 0.0 if ended is None else total}
        return Timings(dns=NOT_APPLICABLE, connect=NOT_APPLICABLE, ssl=NOT_APPLICABLE, send=0.0, wait=0.0, **parts)
    dns = span(noted.get("domainLookupStartTime"), noted.get("domainLookupEndTime"))
    connected = noted.get("connectEndTime")
    connect = span(noted.get("connectStartTime"), connected)
    answered = noted.get("responseStartTime")
    if connect == NOT_APPLICABLE:  # it says when the name was looked up ahead of use, too
        dns = NOT_APPLICABLE
    wait, receive = span(noted.get("requestStartTime"), answered), span(answered, noted.get("responseEndTime"))
    known = sum(max(each, 0.0) for each in (dns, connect, wait, receive))
    return Timings(
        blocked=round(max(total - known, 0.0), 3),
        dns=dns,
        connect=connect,
        ssl=NOT_APPLICABLE if connect == NOT_APPLICABLE else span(noted.get("secureConnectionStartTime"), connected),
        send=0.0,
        wait=max(wait, 0.0),
        receive=max(receive, 0.0),
    )


def _ms(us: float) -> float:
    return round(us / 1000, 3)


def _pairs(listed: Iterable[Sequence[str]] | None) -> Headers:
    return tuple((name, value) for name, value in listed or ())


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
