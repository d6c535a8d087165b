"""One page load, and everything that Chromium knows of it."""

from __future__ import annotations

import base64
import contextlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from driver.bed.node import Node
from driver.browser.binaries import Binary
from driver.browser.browser import Page, PageRecord
from driver.browser.chromium import events, flags
from driver.browser.chromium.chromedriver import Session
from driver.browser.chromium.chromium import Chromium
from driver.browser.chromium.emulation import measure_slowdown
from driver.browser.chromium.own_world import OwnWorld
from driver.browser.chromium.repeatable import Repeating
from driver.browser.chromium.tracing import Tracing
from driver.browser.failures import BrowserError
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
    Slowdown,
    View,
    WebSocket,
)
from model.reasons import Failure, Reason

MEASURES = measures_script("arguments[arguments.length - 1]")
NETLOG_WITHIN_S = 5.0
AFTER_FAILURE_S = 3.0
ENDS_WITHIN_S = 0.5
SCRIPT_WITHIN_S = 5.0
CONSOLE_URL = re.compile(r"([a-z]+://\S+) ")


Leave: TypeAlias = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a browser before it loads."""

    chromium: Binary
    chromedriver: Binary
    flags: tuple[str, ...]
    start: str
    sandboxed: bool
    settled_s: float
    loads_before: int  # of this very browser process

    def evidence(self, user_agent: str | None) -> BrowserFacts:
        return BrowserFacts(
            product=self.chromium.version,
            chromedriver=self.chromedriver.version,
            program=self.chromium.path,
            user_agent=user_agent,
            flags=self.flags,
            start=self.start,
            loads_before=self.loads_before,
            sandbox=self.sandboxed,
            settled_s=round(self.settled_s, 3),
        )


class ChromiumPage(Page):
    """A page of a Chromium that a ChromeDriver session leads."""

    def __init__(
        self, node: Node, chromium: Chromium, session: Session, profile: str, facts: Facts, target: str
    ) -> None:
        self._node, self._chromium, self._session = node, chromium, session
        self._profile, self._facts, self._target = profile, facts, target
        self._keys_before = 0
        self.has_keys = self.has_netlog = False
        self.failed = False  # then the browser must not load another page
        self.leave: Leave = lambda: None
        self.repeating: Repeating | None = None
        self.slowdown = 1.0  # that the arm asks for
        self._plt_ms: float | None = None
        self._asked_us: int | None = None
        self._first_request_us: int | None = None
        self._navigate_s = 0.0
        self._failures: list[Failure] = []
        self._measures: dict[str, Any] = {}
        self._sockets: tuple[WebSocket, ...] = ()

    def begin(self) -> None:
        """What is logged from here on is the load's."""
        if self.has_keys:
            self._keys_before = len(self._keys_file())
        self._session.set_script_timeout(scaled(SCRIPT_WITHIN_S))
        for kind in ("performance", "browser"):
            self._session.log(kind)

    def load(self, url: str, timeout_s: float) -> None:
        started = time.monotonic()
        try:
            self._chromium.require_alive()
            self._session.limit(timeout_s)
            self._asked_us = time.time_ns() // 1000
            started = time.monotonic()
            self._session.get(url)
            self._plt_ms = round((time.monotonic() - started) * 1000, 3)
        except BrowserError as error:
            self._failures.append(self._named(error))
        self._navigate_s = time.monotonic() - started
        if self._failures:
            self._session.unlimit(AFTER_FAILURE_S)  # what hangs will hang again
        else:
            self._session.unlimit()

    def record(self) -> PageRecord:
        started, failures = time.monotonic(), self._failures
        if self.repeating and self.repeating.problems and not failures:
            what = f"not every script had a repeatable clock: {self.repeating.problems[0]}"
            failures.append(Failure(Reason.BROWSER_FAILED, what))
        requests, console, measures = self._collect(failures)
        slowdown = self._slowdown(failures)
        self.failed = bool(failures)
        evidence = BrowserEvidence(
            facts=self._facts.evidence(measures.get("user_agent")),
            times=_times(measures, None if failures else self._plt_ms),
            navigation=measures.get("navigation"),
            console=tuple(_console(entry) for entry in console),
            clock=self._clock(measures.get("origin")),
            view=View.from_json(measures["view"]) if "view" in measures else None,
            slowdown=slowdown,
            sockets=self._sockets,
        )
        marks = {"navigate_s": round(self._navigate_s, 4), "collect_s": round(time.monotonic() - started, 4)}
        return PageRecord(evidence, requests, tuple(failures), marks)

    def vitals(self, asked: VitalsAsked) -> Mapping[str, Any] | None:
        """The page's own measures are read before: they are of the load, and not of what comes after it."""
        if self._failures:
            return None
        self._measure()
        return ask(OwnWorld(self._session), asked)

    def knows_selector(self, text: str) -> bool:
        return is_selector(OwnWorld(self._session), text)

    def screenshot(self, target: Path) -> None:
        try:
            target.write_bytes(base64.b64decode(self._session.get_screenshot_as_base64()))
        except BrowserError:
            self.failed = True
            raise

    def keys(self, target: Path) -> bool:
        data = self._keys_file()[self._keys_before :] if self.has_keys else b""
        if data:
            target.write_bytes(data)
        return bool(data)

    def netlog(self, target: Path) -> None:
        """It is only whole when the browser has ended."""
        if not self.has_netlog:
            raise BrowserError("Chromium was not started with a log of its network")
        self._chromium.leave(scaled(NETLOG_WITHIN_S))
        try:
            self._node.get(flags.netlog_file(self._profile), target)
        except NodeError as error:
            raise BrowserError(f"Chromium left no log of its network: {error.what}") from error

    def trace(self, *, screenshots: bool) -> Tracing:
        return Tracing(self._chromium.another_devtools(), self._target, screenshots=screenshots)

    def close(self) -> None:
        if self.repeating:
            self.repeating.close()
        self.leave()
        self.leave = lambda: None

    def _named(self, error: BrowserError) -> Failure:
        """A browser that was killed shows in many ways: whether it lives tells."""
        unclear = error.reason in (Reason.BROWSER_FAILED, Reason.BROWSER_CRASHED)
        if unclear and self._chromium.ended(ENDS_WITHIN_S):
            return Failure(Reason.BROWSER_CRASHED, f"{error.what}; its last words: {self._chromium.last_words()}")
        return Failure(error.reason, error.what)

    def _collect(self, failures: list[Failure]) -> tuple[tuple[Request, ...], list[dict[str, Any]], dict[str, Any]]:
        """The requests, the console and what the page measured."""
        log: list[dict[str, Any]] = []
        console: list[dict[str, Any]] = []
        gone = any(failure.reason is Reason.BROWSER_CRASHED for failure in failures)
        with _noted_in([] if gone else failures):
            log = self._session.log("performance")
            console = self._session.log("browser")
        if events.crashed(log, self._target) and not gone:
            failures.append(Failure(Reason.BROWSER_CRASHED, "the page's process crashed"))
        requests: tuple[Request, ...] = ()
        try:
            requests = events.requests(log, self._target)
            self._first_request_us = events.first_request_us(log, self._target)
            self._sockets = events.sockets(log, self._target)
        except RecordError as unread:
            failures.append(Failure(Reason.EVIDENCE_MISSING, str(unread)))
        error = events.document_error(requests)
        if error and not failures:
            failures.append(Failure(Reason.NAVIGATION_FAILED, f"the page did not come: {error}"))
        if not failures:
            with _noted_in(failures):
                self._measure()
        return requests, console, {} if failures else self._measures

    def _measure(self) -> None:
        """What the page says of its load; once."""
        self._measures = self._measures or self._session.execute_async_script(MEASURES)

    def _slowdown(self, failures: list[Failure]) -> Slowdown | None:
        """Last: what it needs of the processor is nobody's load."""
        if self.slowdown == 1 or failures:
            return None
        measured: list[Slowdown] = []
        with _noted_in(failures):
            measured.append(measure_slowdown(self._session, self.slowdown))
        return measured[0] if measured else None

    def _clock(self, origin_ms: float | None) -> LoadClock | None:
        if self._asked_us is None:
            return None
        return LoadClock(self._asked_us, None if origin_ms is None else round(origin_ms * 1000), self._first_request_us)

    def _keys_file(self) -> bytes:
        """Empty until the first TLS connection makes it."""
        try:
            return self._node.read(flags.keys_file(self._profile))
        except NodeError:
            return b""


@contextlib.contextmanager
def _noted_in(failures: list[Failure]) -> Iterator[None]:
    """An error becomes a failure, unless there is one already of which it is the consequence."""
    try:
        yield
    except BrowserError as error:
        if not failures:
            failures.append(Failure(error.reason, error.what))


def _times(measures: Mapping[str, Any], plt_ms: float | None) -> PageTimes:
    navigation = measures.get("navigation")
    paints = measures.get("paints") or {}

    def at(name: str) -> float | None:
        """0 is how the browser says that it has not happened."""
        return (navigation or {}).get(name) or None

    return PageTimes(
        plt_ms=plt_ms,
        plt_navigation_ms=at("loadEventEnd"),
        ttfb_ms=at("responseStart"),
        dcl_ms=at("domContentLoadedEventEnd"),
        first_paint_ms=paints.get("first-paint"),
        fcp_ms=paints.get("first-contentful-paint"),
        lcp_ms=measures.get("largest"),
    )


def _console(entry: Mapping[str, Any]) -> ConsoleLine:
    """ChromeDriver puts the address first in the text."""
    text = str(entry.get("message", ""))
    match = CONSOLE_URL.match(text)
    url = match.group(1) if match else ""
    return ConsoleLine(str(entry.get("level", "")), text, str(entry.get("source", "")), url)
