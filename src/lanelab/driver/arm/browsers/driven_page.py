"""What pages of all browsers have in common that a program of ours leads: a load, its clock, its failures, its keys."""

import contextlib
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NotRequired, Protocol, TypeAlias, TypedDict

from lanelab.driver.arm.browsers.browser import Page
from lanelab.driver.arm.browsers.failures import BrowserError, read_answer
from lanelab.driver.arm.browsers.vitals import Hand, Vitals, VitalsAsked, ask, is_selector
from lanelab.driver.base.errors import NodeError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Node
from lanelab.driver.record.evidence.browser import BrowserFacts, LoadClock, PageTimes, View, WebSocket
from lanelab.driver.record.reasons import Failure, Reason

ENDS_WITHIN_S, SETTLES_WITHIN_S = 0.5, 1.5
Leave: TypeAlias = Callable[[], None]


class Navigation(TypedDict):
    """The browser's own entry, with what is read of it. 0: it has not happened."""

    loadEventStart: float
    loadEventEnd: float
    responseStart: float
    domContentLoadedEventEnd: float
    transferSize: float


class ViewMeasures(TypedDict):
    width: int
    pixel_ratio: float
    touch_points: int


class Measures(TypedDict):
    """The answer of measures.js."""

    navigation: NotRequired[Navigation | None]
    paints: Mapping[str, float]
    largest: float | None
    view: ViewMeasures
    origin: float
    user_agent: str


class Life(Protocol):
    """The life of a browser's process, as far as this has to know of it."""

    def ended(self, within_s: float = 0.0) -> bool: ...
    def last_words(self) -> str: ...
    def require_alive(self) -> None: ...
    def settle(self, limit_s: float, *, was_quiet: bool = False) -> float: ...


class LedPage(Page):
    """A page of a browser that runs."""

    def __init__(self, node: Node, life: Life, keys_path: str | None, facts: BrowserFacts) -> None:
        """Begin a page. `facts` are what is known before it loads."""
        self._node, self._life, self._keys_path, self._facts = node, life, keys_path, facts
        self._keys_before = 0
        self.failed = False  # then the browser must not load another page
        self.leave: Leave = lambda: None
        self.let_go: Leave = lambda: None
        self._plt_ms: float | None = None
        self._asked_us: int | None = None
        self._first_request_us: int | None = None
        self._navigate_s = 0.0
        self._failures: list[Failure] = []
        self._measures: Measures | None = None
        self._sockets: tuple[WebSocket, ...] = ()

    @abstractmethod
    def begin(self) -> None:
        """What is noted from here on is the load's. Raises BrowserError."""

    def begin_anew(self) -> None:
        settled_s = self._facts.settled_s + self._life.settle(scaled(SETTLES_WITHIN_S), was_quiet=True)
        self._facts = replace(self._facts, settled_s=round(settled_s, 3))
        self.begin()

    @abstractmethod
    def _limit(self, timeout_s: float) -> None:
        """Ahead of the load: it may take so long. Raises BrowserError."""

    @abstractmethod
    def _go(self, url: str, timeout_s: float) -> None:
        """Go there, until the load event. Raises BrowserError."""

    @abstractmethod
    def _after_load(self) -> None:
        """The limit is that of other questions again; after a failure less, since what hangs will hang again."""

    @abstractmethod
    def _read_measures(self) -> object:
        """Return what the page says of its load. Raises BrowserError."""

    @abstractmethod
    def _hand(self) -> Hand:
        """Return what asks the page for its vitals. Raises BrowserError."""

    def load(self, url: str, timeout_s: float) -> None:
        started = time.monotonic()
        try:
            self._life.require_alive()
            self._limit(timeout_s)
            self._asked_us = time.time_ns() // 1000
            started = time.monotonic()
            self._go(url, timeout_s)
            self._plt_ms = round((time.monotonic() - started) * 1000, 3)
        except BrowserError as error:
            self._failures.append(self._named(error))
        self._navigate_s = time.monotonic() - started
        self._after_load()

    def vitals(self, request: VitalsAsked) -> Vitals | None:
        """The page's own measures are read before: they are of the load, and not of what comes after it."""
        if self._failures:
            return None
        self._measure()
        return ask(self._hand(), request)

    def release(self) -> None:
        if not self.failed:  # else its browser ends with it
            self.let_go()

    def knows_selector(self, text: str) -> bool:
        return is_selector(self._hand(), text)

    def keys(self, target: Path) -> bool:
        data = self._keys_file()[self._keys_before :]
        if data:
            target.write_bytes(data)
        return bool(data)

    def _measure(self) -> None:
        """Measure the page, once."""
        if self._measures is None:
            self._measures = read_answer(Measures, self._read_measures(), "measures.js")

    def _named(self, error: BrowserError) -> Failure:
        """A browser that was killed shows in many ways: whether it lives tells."""
        unclear = error.reason in (Reason.BROWSER_FAILED, Reason.BROWSER_CRASHED)
        if unclear and self._life.ended(ENDS_WITHIN_S):
            return Failure(Reason.BROWSER_CRASHED, f"{error.what}; its last words: {self._life.last_words()}")
        return Failure(error.reason, error.what)

    def _evidence_facts(self, measures: Measures | None) -> BrowserFacts:
        return replace(self._facts, user_agent=measures["user_agent"] if measures else None)

    def _clock(self, measures: Measures | None) -> LoadClock | None:
        if self._asked_us is None:
            return None
        navigation_us = round(measures["origin"] * 1000) if measures else None
        return LoadClock(self._asked_us, navigation_us, self._first_request_us)

    def _marks(self, collecting_since: float) -> dict[str, float]:
        """Return where the time went."""
        collect_s = time.monotonic() - collecting_since
        return {"navigate_s": round(self._navigate_s, 4), "collect_s": round(collect_s, 4)}

    def _keys_file(self) -> bytes:
        """Empty until the first TLS connection makes it."""
        if self._keys_path is None:
            return b""
        try:
            return self._node.read(self._keys_path)
        except NodeError:
            return b""


@contextlib.contextmanager
def noted_in(failures: list[Failure]) -> Iterator[None]:
    """An error becomes a failure, unless there is one already of which it is the consequence."""
    try:
        yield
    except BrowserError as error:
        if not failures:
            failures.append(Failure(error.reason, error.what))


def navigation_of(measures: Measures | None) -> Navigation | None:
    return measures.get("navigation") if measures else None


def view_of(measures: Measures | None) -> View | None:
    return View.from_json(measures["view"]) if measures else None


def times_of(measures: Measures | None, plt_ms: float | None, *, cached: bool = False) -> PageTimes:
    """`cached`: the page came from the cache, so its first byte may have come at 0."""
    navigation, paints = navigation_of(measures), measures["paints"] if measures else {}
    first_byte = navigation["responseStart"] if navigation else None
    return PageTimes(
        plt_ms=plt_ms,
        plt_navigation_ms=(navigation["loadEventEnd"] or None) if navigation else None,
        ttfb_ms=first_byte if cached else first_byte or None,
        dcl_ms=(navigation["domContentLoadedEventEnd"] or None) if navigation else None,
        first_paint_ms=paints.get("first-paint"),
        fcp_ms=paints.get("first-contentful-paint"),
        lcp_ms=measures["largest"] if measures else None,
    )
