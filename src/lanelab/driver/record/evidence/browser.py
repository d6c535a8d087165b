"""What a browser tells of one page load."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import TypedDict

from lanelab.driver.base.coded import Coded

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Timings(Coded):
    """The parts of a request in ms, as in HAR: -1 where a part does not apply; `ssl` is within `connect`."""

    blocked: float
    dns: float
    connect: float
    ssl: float
    send: float
    wait: float
    receive: float


@dataclass(frozen=True, slots=True)
class OnTheLink(Coded):
    """Says how the gateway carried a request over the link; a part of GatewayRequest."""

    protocol: str
    tls: str | None
    connection: int | None
    stream: int | None
    reused: bool
    in_flight: int
    tries: int
    wire_priority: int | None
    queued_ms: float
    sent_ms: float | None
    first_byte_ms: float | None
    last_byte_ms: float | None
    request_header_bytes: int
    request_header_wire_bytes: int
    response_header_bytes: int
    response_header_wire_bytes: int
    request_body_bytes: int
    response_body_bytes: int


@dataclass(frozen=True, slots=True)
class Request(Coded):
    """One request of a page and its answer. Times are ms from the start of the first request."""

    url: str
    method: str
    status: int | None  # None: there was no answer
    type: str
    mime: str
    protocol: str | None
    connection: int | None
    reused: bool  # the connection had carried another request of this page
    priority: str
    remote: str | None
    from_cache: bool
    started_ms: float
    ended_ms: float | None  # None: it did not end
    timings: Timings
    request_headers: Headers
    response_headers: Headers
    request_header_bytes: int
    response_header_bytes: int
    body_bytes: int
    wire_bytes: int
    error: str | None
    tls: str | None
    initiator: str
    before_load: bool
    wire: OnTheLink | None  # with the gateway
    link_preload: bool | None = None  # asked for since a link said so; None: the browser does not tell
    early_links: tuple[str, ...] | None = None  # values of Link in a 103 ahead of it; None: there was none
    by_early_links: bool | None = None  # it was under way since a 103 named it; None: the browser does not tell


def mark_reused(requests: Iterable[Request]) -> tuple[Request, ...]:
    """Note whether another request of this page was on the connection before. (Chromium's own "reused" also means a
    connection that was opened ahead and never used.)"""
    seen: set[int] = set()
    marked = []
    for request in requests:
        marked.append(replace(request, reused=request.connection in seen))
        if request.connection is not None:
            seen.add(request.connection)
    return tuple(marked)


class RequestData(TypedDict, total=False):
    """A request as it is stored, with the parts in it that are read without the rest."""

    timings: Mapping[str, float] | None
    wire: Mapping[str, str | int | float | None] | None  # OnTheLink
    protocol: str | None
    connection: int | None
    reused: bool


@dataclass(frozen=True, slots=True)
class ConsoleLine(Coded):
    level: str
    text: str
    source: str
    url: str


@dataclass(frozen=True, slots=True)
class BrowserFacts(Coded):
    """Says what the browser was, and how it was started."""

    product: str
    chromedriver: str
    program: str
    user_agent: str | None  # None: the load failed before the page could say
    flags: tuple[str, ...]
    start: str  # what really was new: fresh-process, fresh-context or warm
    loads_before: int  # of this browser process
    sandbox: bool | None
    settled_s: float


@dataclass(frozen=True, slots=True)
class PageTimes(Coded):
    """Moments of the load in ms. `plt_ms` is by the clock of the program that drives the browser, all others by the
    browser's. None: it did not happen, or the load failed."""

    plt_ms: float | None
    plt_navigation_ms: float | None
    ttfb_ms: float | None
    dcl_ms: float | None
    first_paint_ms: float | None
    fcp_ms: float | None
    lcp_ms: float | None


@dataclass(frozen=True, slots=True)
class LoadClock(Coded):
    """Three moments of the load in microseconds since 1970, which tie the clocks of its witnesses together. None: the
    load did not get as far."""

    asked: int  # the page was asked for, by the clock of the program that drives the browser: 0 of `plt_ms`
    navigation: int | None  # by the browser's clock: 0 of its own times, as `plt_navigation_ms`
    first_request: int | None  # by the browser's clock: 0 of the times of requests


@dataclass(frozen=True, slots=True)
class View(Coded):
    """The screen that the page was told of."""

    width: int  # of what is seen, in the pixels of a page that is as wide as the device
    pixel_ratio: float
    touch_points: int


@dataclass(frozen=True, slots=True)
class Slowdown(Coded):
    """The time that a fixed piece of work took on the page's own thread after the load, and how much processor time
    that thread had for it, in ms: each run."""

    slowed_ms: tuple[float, ...]  # as the load had it
    plain_ms: tuple[float, ...]  # without the slowdown
    slowed_cpu_ms: tuple[float, ...] = ()
    plain_cpu_ms: tuple[float, ...] = ()

    @property
    def factor(self) -> float | None:
        """Return how many times slower it was. By the fastest runs, since whatever else a machine does only makes them
        slower."""
        if not self.slowed_ms or not self.plain_ms or min(self.plain_ms) <= 0:
            return None
        return min(self.slowed_ms) / min(self.plain_ms)

    @property
    def cpu_factor(self) -> float | None:
        """Return the same factor for the thread's processor time. Chromium slows a thread down by letting it work at
        nothing, so this time grows with the slowdown, and is the same whatever else the machine does."""
        if not self.slowed_cpu_ms or not self.plain_cpu_ms or min(self.plain_cpu_ms) <= 0:
            return None
        return median(self.slowed_cpu_ms) / median(self.plain_cpu_ms)


@dataclass(frozen=True, slots=True)
class WebSocket(Coded):
    """A WebSocket that the page opened."""

    url: str
    status: int | None  # of the answer to its handshake; None: there was none


@dataclass(frozen=True, slots=True)
class BrowserEvidence(Coded):
    """All of it, except the requests."""

    facts: BrowserFacts
    times: PageTimes
    navigation: Mapping[str, object] | None  # the browser's own entry, with its own keys
    console: tuple[ConsoleLine, ...]
    clock: LoadClock | None  # None: nothing was asked for
    view: View | None = None  # None: the browser does not tell
    slowdown: Slowdown | None = None  # None: it was not slowed down
    sockets: tuple[WebSocket, ...] = ()
