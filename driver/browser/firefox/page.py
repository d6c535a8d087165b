"""One page load, and everything that Firefox knows of it."""

from __future__ import annotations

import base64
import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from driver.bed.node import Node
from driver.browser.browser import Page, PageRecord, Trace
from driver.browser.failures import BrowserError
from driver.browser.firefox import requests as noted_requests
from driver.browser.firefox.firefox import Firefox
from driver.browser.firefox.own_world import OwnWorld
from driver.browser.measures import measures_script
from driver.browser.vitals import VitalsAsked, ask, is_selector
from driver.timeouts import scaled
from model.errors import NodeError, RecordError
from model.evidence.browser import (
    BrowserEvidence,
    BrowserFacts,
    ConsoleLine,
    LoadClock,
    PageTimes,
    Request,
    View,
    WebSocket,
)
from model.reasons import Failure, Reason

MEASURES = f"new Promise(done => {measures_script('told => done(JSON.stringify(told))')})"
SANDBOX = "lanelab"  # our scripts see the page's objects as the browser made them, whatever the page has done to them
AFTER_FAILURE_S = 3.0
ENDS_WITHIN_S = 0.5
CONSOLE = "log.entryAdded"

Leave: TypeAlias = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a browser before it loads."""

    product: str
    program: str
    prefs: tuple[str, ...]
    start: str
    sandboxed: bool
    settled_s: float
    loads_before: int  # of this very browser process

    def evidence(self, user_agent: str | None) -> BrowserFacts:
        return BrowserFacts(
            product=self.product,
            chromedriver="",
            program=self.program,
            user_agent=user_agent,
            flags=self.prefs,
            start=self.start,
            loads_before=self.loads_before,
            sandbox=self.sandboxed,
            settled_s=round(self.settled_s, 3),
        )


class FirefoxPage(Page):
    """A tab of a Firefox."""

    def __init__(self, node: Node, firefox: Firefox, context: str, keys_file: str | None, facts: Facts) -> None:
        self._node, self._firefox, self._context, self._facts = node, firefox, context, facts
        self._keys_path = keys_file
        self._keys_before = 0
        self.failed = False  # then the browser must not load another page
        self.leave: Leave = lambda: None
        self._plt_ms: float | None = None
        self._asked_us: int | None = None
        self._first_request_us: int | None = None
        self._navigate_s = 0.0
        self._limit_s: float | None = None  # of each question; None: the usual
        self._failures: list[Failure] = []
        self._measures: dict[str, Any] = {}
        self._sockets: tuple[WebSocket, ...] = ()

    def begin(self) -> None:
        """What is noted from here on is the load's."""
        self._keys_before = len(self._keys_file())
        self._firefox.bidi.events.clear()
        self._firefox.inside("(lanelab.begin(), 'null')")

    def load(self, url: str, timeout_s: float) -> None:
        started = time.monotonic()
        try:
            self._firefox.require_alive()
            self._asked_us = time.time_ns() // 1000
            started = time.monotonic()
            navigate(self._firefox, self._context, url, timeout_s)
            self._plt_ms = round((time.monotonic() - started) * 1000, 3)
        except BrowserError as error:
            self._failures.append(self._named(error))
            self._limit_s = scaled(AFTER_FAILURE_S)  # what hangs will hang again
        self._navigate_s = time.monotonic() - started

    def record(self) -> PageRecord:
        started, failures = time.monotonic(), self._failures
        requests, measures = self._collect(failures)
        self.failed = bool(failures)
        console = [each for each in self._firefox.bidi.events if each.get("method") == CONSOLE]
        evidence = BrowserEvidence(
            facts=self._facts.evidence(measures.get("user_agent")),
            times=_times(measures, None if failures else self._plt_ms),
            navigation=measures.get("navigation"),
            view=View.from_json(measures["view"]) if "view" in measures else None,
            console=tuple(_console(entry["params"]) for entry in console),
            clock=self._clock(measures.get("origin")),
            sockets=self._sockets,
        )
        marks = {"navigate_s": round(self._navigate_s, 4), "collect_s": round(time.monotonic() - started, 4)}
        return PageRecord(evidence, requests, tuple(failures), marks)

    def vitals(self, asked: VitalsAsked) -> Mapping[str, Any] | None:
        """The page's own measures are read before: they are of the load, and not of what comes after it."""
        if self._failures:
            return None
        self._measure()
        return ask(OwnWorld(self._firefox.bidi, self._context), asked)

    def knows_selector(self, text: str) -> bool:
        return is_selector(OwnWorld(self._firefox.bidi, self._context), text)

    def screenshot(self, target: Path) -> None:
        try:
            data = self._firefox.bidi.call("browsingContext.captureScreenshot", context=self._context)["data"]
        except BrowserError:
            self.failed = True
            raise
        target.write_bytes(base64.b64decode(data))

    def keys(self, target: Path) -> bool:
        data = self._keys_file()[self._keys_before :]
        if data:
            target.write_bytes(data)
        return bool(data)

    def netlog(self, target: Path) -> None:  # noqa: ARG002 - experiments that want it of Firefox are refused
        raise BrowserError("Firefox has no log of its network that lanelab reads", "Leave netlog out")

    def trace(self, *, screenshots: bool) -> Trace:  # noqa: ARG002
        raise BrowserError("Firefox has no trace that lanelab reads", "Leave trace out")

    def close(self) -> None:
        self.leave()
        self.leave = lambda: None

    def _named(self, error: BrowserError) -> Failure:
        """A browser that was killed shows in many ways: whether it lives tells."""
        unclear = error.reason in (Reason.BROWSER_FAILED, Reason.BROWSER_CRASHED)
        if unclear and self._firefox.ended(ENDS_WITHIN_S):
            return Failure(Reason.BROWSER_CRASHED, f"{error.what}; its last words: {self._firefox.last_words()}")
        return Failure(error.reason, error.what)

    def _collect(self, failures: list[Failure]) -> tuple[tuple[Request, ...], dict[str, Any]]:
        """The requests, and what the page measured."""
        noted: dict[str, Any] = {"exchanges": [], "problems": []}
        if any(failure.reason is Reason.BROWSER_CRASHED for failure in failures):
            return (), {}
        if not failures:
            with _noted_in(failures):
                self._measure()
        with _noted_in(failures):
            noted = self._firefox.inside("lanelab.read()", self._limit_s)
        if noted["problems"] and not failures:
            what = f"not every request could be noted: {noted['problems'][0]}"
            failures.append(Failure(Reason.EVIDENCE_MISSING, what))
        requests: tuple[Request, ...] = ()
        try:
            requests = noted_requests.requests(noted["exchanges"], _load_us(self._measures))
            self._first_request_us = noted_requests.first_us(noted["exchanges"])
            self._sockets = noted_requests.sockets(noted["exchanges"])
        except RecordError as unread:
            failures.append(Failure(Reason.EVIDENCE_MISSING, str(unread)))
        error = noted_requests.document_error(noted["exchanges"])
        if error and not failures:
            failures.append(Failure(Reason.NAVIGATION_FAILED, f"the page did not come: {error}"))
        return requests, {} if failures else self._measures

    def _measure(self) -> None:
        """What the page says of its load; once."""
        if not self._measures:
            told = self._firefox.bidi.evaluate(self._context, MEASURES, SANDBOX)
            self._measures = told

    def _clock(self, origin_ms: float | None) -> LoadClock | None:
        if self._asked_us is None:
            return None
        return LoadClock(self._asked_us, None if origin_ms is None else round(origin_ms * 1000), self._first_request_us)

    def _keys_file(self) -> bytes:
        """Empty until the first TLS connection makes it."""
        if self._keys_path is None:
            return b""
        try:
            return self._node.read(self._keys_path)
        except NodeError:
            return b""


def navigate(firefox: Firefox, context: str, url: str, timeout_s: float) -> None:
    """Go there, until the load event."""
    firefox.bidi.call("browsingContext.navigate", timeout_s, context=context, url=url, wait="complete")


@contextlib.contextmanager
def _noted_in(failures: list[Failure]) -> Iterator[None]:
    """An error becomes a failure, unless there is one already of which it is the consequence."""
    try:
        yield
    except BrowserError as error:
        if not failures:
            failures.append(Failure(error.reason, error.what))


def _load_us(measures: Mapping[str, Any]) -> float | None:
    navigation = measures.get("navigation")
    return (measures["origin"] + navigation["loadEventStart"]) * 1000 if navigation else None


def _times(measures: Mapping[str, Any], plt_ms: float | None) -> PageTimes:
    navigation = measures.get("navigation")
    paints = measures.get("paints") or {}

    def at(name: str) -> float | None:
        """0 is how the browser says that it has not happened."""
        return (navigation or {}).get(name) or None

    cached = navigation is not None and navigation["transferSize"] == 0  # then its times may be 0, and have happened

    return PageTimes(
        plt_ms=plt_ms,
        plt_navigation_ms=at("loadEventEnd"),
        ttfb_ms=navigation["responseStart"] if cached and navigation else at("responseStart"),
        dcl_ms=at("domContentLoadedEventEnd"),
        first_paint_ms=paints.get("first-paint"),
        fcp_ms=paints.get("first-contentful-paint"),
        lcp_ms=measures.get("largest"),
    )


def _console(entry: Mapping[str, Any]) -> ConsoleLine:
    frames = (entry.get("stackTrace") or {}).get("callFrames") or [{}]
    return ConsoleLine(
        str(entry.get("level", "")), str(entry.get("text", "")), str(entry.get("type", "")), frames[0].get("url", "")
    )
