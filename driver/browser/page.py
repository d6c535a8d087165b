"""One page load, and all that the browser tells of it."""

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
from driver.browser import events, flags
from driver.browser.binaries import Binary
from driver.browser.chromedriver import Session
from driver.browser.chromium import Chromium
from driver.browser.failures import BROWSER_CRASHED, BROWSER_FAILED, NAVIGATION_FAILED, BrowserError
from driver.timeouts import patient
from model.errors import NodeError

# What was painted by the time of `load` is told a frame or two later; a page that paints nothing must not hold us up.
PAINTED_WITHIN_MS = 250
MEASURES = """
const done = arguments[arguments.length - 1], limit = arguments[0];
const plain = entry => entry && entry.toJSON();
const tell = () => {
  const paints = Object.fromEntries(performance.getEntriesByType('paint').map(e => [e.name, e.startTime]));
  let largest = null;
  try {
    const observer = new PerformanceObserver(() => {});
    observer.observe({type: 'largest-contentful-paint', buffered: true});
    for (const e of observer.takeRecords()) largest = e.startTime;
    observer.disconnect();
  } catch (error) {}
  done({navigation: plain(performance.getEntriesByType('navigation')[0]), paints, largest,
        origin: performance.timeOrigin, user_agent: navigator.userAgent, url: location.href});
};
let told = false;
const once = () => { if (!told) { told = true; tell(); } };
setTimeout(once, limit);
requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(once, 0)));
"""
NETLOG_WITHIN_S = patient(5.0)
AFTER_FAILURE_S = patient(3.0)
ENDS_WITHIN_S = 0.5
SCRIPT_WITHIN_S = patient(5.0)
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

    def to_json(self) -> dict[str, Any]:
        return {
            "product": self.chromium.version,
            "chromedriver": self.chromedriver.version,
            "program": self.chromium.path,
            "user_agent": None,
            "flags": list(self.flags),
            "start": self.start,
            "loads_before": self.loads_before,
            "sandbox": self.sandboxed,
            "settled_s": round(self.settled_s, 3),
        }


class Page:
    """A page that is ready to load once."""

    def __init__(
        self, node: Node, chromium: Chromium, session: Session, profile: str, facts: Facts, target: str
    ) -> None:
        self._node, self._chromium, self._session = node, chromium, session
        self._profile, self._facts, self._target = profile, facts, target
        self._keys_before = 0
        self.has_keys = self.has_netlog = False
        self.failed = False
        self.prepare_s = 0.0
        self.leave: Leave = lambda: None

    def begin(self) -> None:
        """What is logged from here on is the load's."""
        if self.has_keys:
            self._keys_before = len(self._keys_file())
        self._session.set_script_timeout(SCRIPT_WITHIN_S)
        for kind in ("performance", "browser"):
            self._session.log(kind)

    def load(self, url: str, timeout_s: float, screenshot: Path | None = None) -> dict[str, Any]:
        """Go there and wait for the load event. The browser's part of the trial's record; whatever goes wrong is in its
        `failures`, since a trial that failed is stored, too."""
        failures: list[dict[str, str]] = []
        plt_ms: float | None = None
        started = time.monotonic()
        try:
            self._chromium.require_alive()
            self._session.limit(timeout_s)
            started = time.monotonic()
            self._session.get(url)
            plt_ms = round((time.monotonic() - started) * 1000, 3)
        except BrowserError as error:
            failures.append(self._named(error))
        navigated = time.monotonic()
        if failures:
            self._session.unlimit(AFTER_FAILURE_S)  # what hangs will hang again
        else:
            self._session.unlimit()
        part = self._collect(failures)
        if screenshot and not failures:
            with _told_in(failures):
                screenshot.write_bytes(base64.b64decode(self._session.get_screenshot_as_base64()))
                part["artifacts"].append(screenshot.name)
        self.failed = bool(failures)
        collected = time.monotonic()
        marks = {"navigate_s": round(navigated - started, 4), "collect_s": round(collected - navigated, 4)}
        return {"plt_ms": None if failures else plt_ms, "marks": marks, **part, "failures": failures}

    def keys(self, target: Path) -> bool:
        """The TLS keys of this load, for its capture; False where there are none."""
        found = self._keys_file()[self._keys_before :] if self.has_keys else b""
        if found:
            target.write_bytes(found)
        return bool(found)

    def netlog(self, target: Path) -> bool:
        """Chromium's own log. It is only whole when the browser has ended, so this ends it."""
        if not self.has_netlog:
            return False
        self._chromium.leave(NETLOG_WITHIN_S)
        try:
            self._node.get(flags.netlog_file(self._profile), target)
        except NodeError:
            return False
        return True

    def close(self) -> None:
        """The load's browser or context ends; what takes time goes on beside the caller."""
        self.leave()
        self.leave = lambda: None

    def _named(self, error: BrowserError) -> dict[str, str]:
        """A browser that was killed shows in many ways: whether it lives tells."""
        unclear = error.reason in (BROWSER_FAILED, BROWSER_CRASHED)
        if unclear and self._chromium.ended(ENDS_WITHIN_S):
            return {"reason": BROWSER_CRASHED, "detail": f"{error.what}; its last words: {self._chromium.last_words()}"}
        return {"reason": error.reason, "detail": error.what}

    def _collect(self, failures: list[dict[str, str]]) -> dict[str, Any]:
        log: list[dict[str, Any]] = []
        console: list[dict[str, Any]] = []
        measures: dict[str, Any] = {}
        gone = any(failure["reason"] == BROWSER_CRASHED for failure in failures)
        with _told_in([] if gone else failures):
            log = self._session.log("performance")
            console = self._session.log("browser")
        if events.crashed(log, self._target) and not gone:
            failures.append({"reason": BROWSER_CRASHED, "detail": "the page's process crashed"})
        requests = events.requests(log, self._target)
        error = events.document_error(requests)
        if error and not failures:
            failures.append({"reason": NAVIGATION_FAILED, "detail": f"the page did not come: {error}"})
        if not failures:
            with _told_in(failures):
                measures = self._session.execute_async_script(MEASURES, PAINTED_WITHIN_MS)
        return {
            **_measured(measures),
            "requests": requests,
            "console": [_console(entry) for entry in console],
            "browser": self._facts.to_json() | {"user_agent": measures.get("user_agent")},
            "artifacts": [],
        }

    def _keys_file(self) -> bytes:
        """Empty until the first TLS connection makes it."""
        try:
            return self._node.read(flags.keys_file(self._profile))
        except NodeError:
            return b""


@contextlib.contextmanager
def _told_in(failures: list[dict[str, str]]) -> Iterator[None]:
    """An error becomes a failure, unless there is one already of which it is the consequence."""
    try:
        yield
    except BrowserError as error:
        if not failures:
            failures.append({"reason": error.reason, "detail": error.what})


def _measured(measures: Mapping[str, Any]) -> dict[str, Any]:
    navigation = measures.get("navigation")
    paints = measures.get("paints") or {}

    def at(name: str) -> float | None:
        """0 is how the browser says that it has not happened."""
        return (navigation or {}).get(name) or None

    return {
        "navigation": navigation,
        "plt_navigation_ms": at("loadEventEnd"),
        "ttfb_ms": at("responseStart"),
        "dcl_ms": at("domContentLoadedEventEnd"),
        "first_paint_ms": paints.get("first-paint"),
        "fcp_ms": paints.get("first-contentful-paint"),
        "lcp_ms": measures.get("largest"),
    }


def _console(entry: Mapping[str, Any]) -> dict[str, str]:
    """ChromeDriver puts the address first in the text."""
    text = str(entry.get("message", ""))
    found = CONSOLE_URL.match(text)
    url = found.group(1) if found else ""
    return {"level": str(entry.get("level", "")), "text": text, "source": str(entry.get("source", "")), "url": url}
