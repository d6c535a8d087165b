"""ChromeDriver's performance log -> the requests of a page load. Pure.

The log holds the page's DevTools events (Network.*, Page.*) in the order of their arrival. The browser's documentation
promises little about that order: a request's "extra info", with the headers as they were sent, may come before the
request itself; a redirect shows only as the next request with the same id, and has no extra info where the cache had
it; what failed may never have been answered.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lanelab.driver.arm.browsers.chromium.log import (
    DataReceived,
    Entry,
    ExtraInfo,
    LoadingEnd,
    Moment,
    OfRequest,
    RequestData,
    Response,
    ResponseReceived,
    SocketCreated,
    WillBeSent,
    messages,
)
from lanelab.driver.arm.browsers.chromium.timings import NOT_APPLICABLE, timings
from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.browser import Headers, Request, WebSocket, mark_reused

NOT_REQUESTS = ("data:", "blob:", "about:", "chrome:", "devtools:", "chrome-extension:")


def requests(log: Iterable[Entry], target: str | None = None) -> tuple[Request, ...]:
    """Return every request, in the order of their starts, times in ms from the start of the navigation.

    `log` is what Selenium's get_log('performance') gives; with `target`, only what that page said. Raises RecordError
    where an event lacks what it must have.
    """
    return requests_of_steps([log], target)[0]


def requests_of_steps(
    logs: Sequence[Iterable[Entry]], target: str | None = None, ends: Sequence[int] = ()
) -> tuple[tuple[Request, ...], ...]:
    """Return the requests of each step of a journey, by what was logged until the next one began. Times are from the
    start of the journey's first request. What ends in a later step stays with the one that asked. `ends`: how many
    entries there were when each step ended, where that was no load event."""
    reading, method = Reading(marked=bool(ends)), "its end"
    try:
        for number, log in enumerate(logs):
            reading.next_step(number)
            for place, entry in enumerate(log):
                if number < len(ends) and place == ends[number]:
                    reading.mark_end()
                for method, parameters in messages([entry], target):
                    reading.take(method, parameters)
            if number < len(ends):
                reading.mark_end()
        listed, steps = reading.finish(), reading.steps
    except KeyError as error:
        key = error.args[0]
        raise RecordError(f"in the browser's log, {key} is missing in {method}", key=f"{method}.{key}") from error
    return tuple(tuple(each for each, of in zip(listed, steps, strict=True) if of == step) for step in range(len(logs)))


def first_request_us(log: Iterable[Entry], target: str | None = None) -> int | None:
    """Return when the first request began, in microseconds since 1970 by the browser's clock; None: there was none."""
    asking = (entry for entry in log if "Network.requestWillBeSent" in entry["message"])
    for method, parameters in messages(asking, target):
        event: WillBeSent = parameters
        if method == "Network.requestWillBeSent" and not event["request"]["url"].startswith(NOT_REQUESTS):
            return round(event["wallTime"] * 1_000_000) if "wallTime" in event else None
    return None


def sockets(log: Iterable[Entry], target: str | None = None) -> tuple[WebSocket, ...]:
    """Return the WebSockets that the page opened, in that order."""
    by_id: dict[str, WebSocket] = {}
    for method, event in messages((entry for entry in log if "Network.webSocket" in entry["message"]), target):
        known = by_id.get(event.get("requestId", ""))
        if method == "Network.webSocketCreated":
            created: SocketCreated = event
            by_id[created["requestId"]] = WebSocket(created["url"], None)
        elif known and method == "Network.webSocketHandshakeResponseReceived":
            answered: ResponseReceived = event
            by_id[answered["requestId"]] = replace(known, status=int(answered["response"]["status"]))
    return tuple(by_id.values())


def document_error(requests: Sequence[Request]) -> str | None:
    """Return why the page itself did not come. An untrusted certificate shows only here: Chromium then loads a page of
    its own about it, and ChromeDriver calls that a load."""
    for request in requests:
        if request.error or not 300 <= (request.status or 0) < 400 or request.status == 304:
            return request.error
    return None


def was_restored(log: Iterable[Entry]) -> bool:
    """Return whether the browser showed a page as it was left, without loading it."""
    shown = (entry for entry in log if "Page.frameNavigated" in entry["message"])
    return any(parameters.get("type") == "BackForwardCacheRestore" for _, parameters in messages(shown))


def crashed(log: Iterable[Entry], target: str | None = None) -> bool:
    return any(method == "Inspector.targetCrashed" for method, _ in messages(log, target))


def opened_windows(log: Iterable[Entry], target: str | None = None) -> list[str]:
    """Return the addresses of other windows that the page opened. Nothing else that they do is in its log."""
    opening = (entry for entry in log if "Page.windowOpen" in entry["message"])
    return [event.get("url", "") for method, event in messages(opening, target) if method == "Page.windowOpen"]


class Exchange:
    """One request and its answer, as far as it got. A redirect makes one for each hop."""

    def __init__(self, event: WillBeSent) -> None:
        self.id = event["requestId"]
        self.request: RequestData = event["request"]
        self.type = event.get("type", "Other")
        self.initiator = (event.get("initiator") or {}).get("type", "other")
        self.started = event["timestamp"]
        self.ended: float | None = None
        self.response: Response | None = None
        self.from_memory = False
        self.data = 0
        self.wire: float | None = None
        self.wire_so_far = 0.0
        self.error: str | None = None
        self.has_extra = True  # there is extra info of it, as far as it was sent and answered
        self.sent_headers: Mapping[str, str] | None = None
        self.got_headers: ExtraInfo | None = None
        self.early_links: tuple[str, ...] | None = None
        self.joined = False

    @property
    def key(self) -> tuple[str, str]:
        return self.request["method"], self.request["url"]

    @property
    def connection(self) -> int | None:
        number = self.response.get("connectionId") if self.response else None
        return int(number) if number else None


class Reading:
    """The state while a log is read."""

    def __init__(self, *, marked: bool = False) -> None:
        """Begin. `marked`: steps end where they are marked, not with their load event."""
        self._marked = marked
        self._latest = 0.0  # of what was asked for
        self._open: dict[str, Exchange] = {}
        self._all: list[Exchange] = []
        # Extra info, by request id, in order: each belongs to the hop at the same place among those that have some.
        self._sent: dict[str, list[ExtraInfo]] = {}
        self._got: dict[str, list[ExtraInfo]] = {}
        self._early: dict[str, tuple[str, ...]] = {}  # by request id
        self._loads: list[float | None] = [None]  # of each step
        self.steps: list[int] = []  # of each request, in their order
        self._takers: Mapping[str, Callable[[Any], None]] = {
            "Network.requestWillBeSent": self._begin,
            "Network.requestWillBeSentExtraInfo": self._sent_extra,
            "Network.responseReceived": self._answered,
            "Network.responseReceivedExtraInfo": self._got_extra,
            "Network.responseReceivedEarlyHints": self._got_early,
            "Network.requestServedFromCache": self._from_memory,
            "Network.dataReceived": self._data,
            "Network.loadingFinished": self._finished,
            "Network.loadingFailed": self._failed,
            "Page.loadEventFired": self._loaded,
        }

    def next_step(self, number: int) -> None:
        """Take what begins from here on as that step of a journey."""
        if number:
            self._loads.append(None)

    def mark_end(self) -> None:
        """The step has ended, unless it had before: what was asked for until here is its own."""
        if self._loads[-1] is None:
            self._loads[-1] = self._latest

    def take(self, method: str, parameters: Any) -> None:  # noqa: ANN401 - as the method has it
        taker = self._takers.get(method)
        if taker:
            taker(parameters)

    def _begin(self, event: WillBeSent) -> None:
        if event["request"]["url"].startswith(NOT_REQUESTS):
            return
        previous = self._open.get(event["requestId"])
        if previous and "redirectResponse" in event:
            previous.response = event["redirectResponse"]
            previous.has_extra = event["redirectHasExtraInfo"]
            previous.ended = event["timestamp"]
            previous.wire = event["redirectResponse"].get("encodedDataLength", 0)
        exchange = Exchange(event)
        self._latest = max(self._latest, exchange.started)
        self._open[exchange.id] = exchange
        self._all.append(exchange)
        self.steps.append(len(self._loads) - 1)

    def _sent_extra(self, event: ExtraInfo) -> None:
        self._sent.setdefault(event["requestId"], []).append(event)

    def _got_extra(self, event: ExtraInfo) -> None:
        self._got.setdefault(event["requestId"], []).append(event)

    def _got_early(self, event: ExtraInfo) -> None:
        links = (text for name, text in _pairs(event["headers"]) if name.lower() == "link")
        self._early[event["requestId"]] = tuple(value.strip() for text in links for value in text.split(","))

    def _answered(self, event: ResponseReceived) -> None:
        exchange = self._open.get(event["requestId"])
        if exchange:
            exchange.response = event["response"]
            exchange.type = event.get("type", exchange.type)
            exchange.wire_so_far = event["response"].get("encodedDataLength", 0)

    def _from_memory(self, event: OfRequest) -> None:
        exchange = self._open.get(event["requestId"])
        if exchange:
            exchange.from_memory = True

    def _data(self, event: DataReceived) -> None:
        exchange = self._open.get(event["requestId"])
        if exchange and exchange.error is None:  # what comes after is Chromium's own page about the failure
            exchange.data += event["dataLength"]
            exchange.wire_so_far += max(event.get("encodedDataLength", 0), 0)

    def _finished(self, event: LoadingEnd) -> None:
        exchange = self._open.get(event["requestId"])
        if exchange and exchange.error is None:
            exchange.ended = event["timestamp"]
            exchange.wire = event.get("encodedDataLength", 0)

    def _failed(self, event: LoadingEnd) -> None:
        exchange = self._open.get(event["requestId"])
        if exchange:
            exchange.ended = event["timestamp"]
            exchange.error = event.get("blockedReason") or event.get("errorText") or "failed"

    def _loaded(self, event: Moment) -> None:
        if self._all and self._loads[-1] is None and not self._marked:  # that of about:blank comes before any request
            self._loads[-1] = event["timestamp"]

    def finish(self) -> tuple[Request, ...]:
        if not self._all:
            return ()
        hops: dict[str, int] = {}
        for exchange in self._all:
            exchange.early_links = self._early.get(exchange.id)
            if not exchange.has_extra:
                continue
            hop = hops.get(exchange.id, 0)
            hops[exchange.id] = hop + 1
            sent, got = self._sent.get(exchange.id, []), self._got.get(exchange.id, [])
            exchange.sent_headers = sent[hop]["headers"] if hop < len(sent) else None
            exchange.got_headers = got[hop] if hop < len(got) else None
        mark_joined(self._all)
        start = min(exchange.started for exchange in self._all)
        steps = zip(self._all, self.steps, strict=True)
        return with_tls(mark_reused([describe(exchange, start, self._loads[step]) for exchange, step in steps]))


def with_tls(requests: Iterable[Request]) -> tuple[Request, ...]:
    """TLS is the connection's. Chromium does not say it of an answer to which another site's redirect led: then what
    it says of others on that connection holds."""
    listed = list(requests)
    tls_of = {each.connection: each.tls for each in listed if each.tls and each.connection is not None}
    secure = [each.url.startswith("https:") for each in listed]
    return tuple(
        replace(each, tls=tls_of.get(each.connection)) if not each.tls and is_secure and each.connection else each
        for each, is_secure in zip(listed, secure, strict=True)
    )


def mark_joined(exchanges: Sequence[Exchange]) -> None:
    """Note which had their answer through the cache while another request for the same thing still received it.
    Chromium does not say so of them: only that no connection carried them."""
    carried = {each.key for each in exchanges if each.connection is not None}
    for each in exchanges:
        answered = each.response is not None and each.ended is not None and each.error is None
        early = answered and _answer(each).get("fromEarlyHints", False)
        each.joined = answered and not early and each.connection is None and each.key in carried


def describe(exchange: Exchange, start: float, load: float | None) -> Request:
    """Return a request as the trial's record has it."""
    response = _answer(exchange)
    timing = response.get("timing")
    kept = exchange.from_memory or exchange.joined
    cached = kept or response.get("fromDiskCache", False) or response.get("fromPrefetchCache", False)
    # Chromium shows the sent headers of a cached answer's first delivery: nothing was sent now.
    sent = exchange.sent_headers or response.get("requestHeaders") or exchange.request.get("headers", {})
    extra = exchange.got_headers
    got = (extra["headers"] if extra else None) or response.get("headers", {})
    head = extra.get("headersText") if extra else None
    wire = exchange.wire if exchange.wire is not None else exchange.wire_so_far
    remote = response.get("remoteIPAddress")
    return Request(
        url=exchange.request["url"] + exchange.request.get("urlFragment", ""),
        method=exchange.request["method"],
        status=_status(exchange, response),
        type=exchange.type,
        mime=response.get("mimeType", ""),
        protocol=response.get("protocol"),
        connection=None if cached else exchange.connection,
        reused=False,  # see mark_reused
        priority=exchange.request.get("initialPriority", ""),
        remote=f"{remote}:{response.get('remotePort', 0)}" if remote else None,
        from_cache=bool(cached),
        started_ms=_ms(exchange.started - start),
        ended_ms=None if exchange.ended is None else _ms(exchange.ended - start),
        timings=timings(exchange.started, exchange.ended, None if cached else timing),
        request_headers=_pairs(sent),
        response_headers=_pairs(got),
        request_header_bytes=_length(response.get("requestHeadersText")),
        response_header_bytes=_length(head or response.get("headersText")),
        body_bytes=exchange.data,
        wire_bytes=0 if cached else int(wire),
        error=exchange.error,
        tls=_tls(response),
        initiator=exchange.initiator,
        before_load=load is None or exchange.started <= load,
        wire=None,
        link_preload=exchange.request.get("isLinkPreload", False),
        early_links=exchange.early_links,
        by_early_links=response.get("fromEarlyHints", False),
    )


def _answer(exchange: Exchange) -> Response:
    """Return what is known of its answer."""
    return exchange.response or {}


def _status(exchange: Exchange, response: Response) -> int | None:
    """Return the status that the server sent: a confirmed answer of the cache shows as 200, and was a 304. None also
    while only the status is known: the request is still under way."""
    if exchange.response is None and exchange.ended is None:
        return None
    extra = exchange.got_headers
    code = (extra.get("statusCode") if extra else None) or response.get("status")
    return int(code) if code else None


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)


def _pairs(headers: Mapping[str, str]) -> Headers:
    """Return headers as pairs. One that came more than once is one value with line breaks here."""
    return tuple((name, part) for name, value in headers.items() for part in str(value).split("\n"))


def _length(text: str | None) -> int:
    return len(text.encode("latin-1", errors="replace")) if text else NOT_APPLICABLE


def _tls(response: Response) -> str | None:
    """Of connections by QUIC, DevTools names that in its place: in it there is TLS 1.3 and nothing else (RFC 9001)."""
    named = (response.get("securityDetails") or {}).get("protocol")
    return "TLS 1.3" if named == "QUIC" else named
