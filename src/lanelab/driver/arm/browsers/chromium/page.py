"""One page load, and everything that Chromium knows of it."""

import base64
import re
import time
from collections.abc import Sequence
from pathlib import Path

from lanelab.driver.arm.browsers.browser import PageRecord
from lanelab.driver.arm.browsers.chromium import events, flags
from lanelab.driver.arm.browsers.chromium.chromedriver import Session
from lanelab.driver.arm.browsers.chromium.chromium import Chromium
from lanelab.driver.arm.browsers.chromium.emulation import measure_slowdown
from lanelab.driver.arm.browsers.chromium.isolated_world import OwnWorld
from lanelab.driver.arm.browsers.chromium.log import Entry
from lanelab.driver.arm.browsers.chromium.repeatable import Repeating
from lanelab.driver.arm.browsers.chromium.tracing import Tracing
from lanelab.driver.arm.browsers.driven_page import LedPage, Measures, navigation_of, noted_in, times_of, view_of
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.arm.browsers.measures import measures_script
from lanelab.driver.base.errors import NodeError, RecordError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Node
from lanelab.driver.record.evidence.browser import BrowserEvidence, BrowserFacts, ConsoleLine, Request, Slowdown
from lanelab.driver.record.reasons import Failure, Reason

MEASURES = measures_script("arguments[arguments.length - 1]")
NETLOG_WITHIN_S = 5.0
AFTER_FAILURE_S = 3.0
SCRIPT_WITHIN_S = 5.0
CONSOLE_URL = re.compile(r"([a-z]+://\S+) ")


class ChromiumPage(LedPage):
    """A page of a Chromium that a ChromeDriver session leads."""

    def __init__(
        self,
        node: Node,
        chromium: Chromium,
        session: Session,
        profile: str,
        facts: BrowserFacts,
        target: str,
        *,
        has_keys: bool,
    ) -> None:
        super().__init__(node, chromium, flags.keys_file(profile) if has_keys else None, facts)
        self._chromium, self._session, self._profile, self._target = chromium, session, profile, target
        self.has_netlog = False
        self.repeating: Repeating | None = None
        self.slowdown = 1.0  # that the arm asks for

    def begin(self) -> None:
        self._keys_before = len(self._keys_file())
        self._session.set_script_timeout(scaled(SCRIPT_WITHIN_S))
        for kind in ("performance", "browser"):
            self._session.log(kind)

    def _limit(self, timeout_s: float) -> None:
        self._session.limit(timeout_s)

    def _go(self, url: str, timeout_s: float) -> None:  # noqa: ARG002 - the session has been limited
        self._session.get(url)

    def _after_load(self) -> None:
        if self._failures:
            self._session.unlimit(AFTER_FAILURE_S)
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
            facts=self._evidence_facts(measures),
            times=times_of(measures, None if failures else self._plt_ms),
            navigation=navigation_of(measures),
            console=tuple(_console(entry) for entry in console),
            clock=self._clock(measures),
            view=view_of(measures),
            slowdown=slowdown,
            sockets=self._sockets,
        )
        return PageRecord(evidence, requests, tuple(failures), self._marks(started))

    def screenshot(self, target: Path) -> None:
        try:
            target.write_bytes(base64.b64decode(self._session.get_screenshot_as_base64()))
        except BrowserError:
            self.failed = True
            raise

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

    def _collect(self, failures: list[Failure]) -> tuple[tuple[Request, ...], Sequence[Entry], Measures | None]:
        """Return the requests, the console and what the page measured."""
        log: Sequence[Entry] = ()
        console: Sequence[Entry] = ()
        gone = any(failure.reason is Reason.BROWSER_CRASHED for failure in failures)
        with noted_in([] if gone else failures):
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
            with noted_in(failures):
                self._measure()
        return requests, console, None if failures else self._measures

    def _read_measures(self) -> object:
        return self._session.execute_async_script(MEASURES)

    def _hand(self) -> OwnWorld:
        return OwnWorld(self._session)

    def _slowdown(self, failures: list[Failure]) -> Slowdown | None:
        """Measure the slowdown after all else, so that its own work disturbs no load."""
        if self.slowdown == 1 or failures:
            return None
        measured: list[Slowdown] = []
        with noted_in(failures):
            measured.append(measure_slowdown(self._session))
        return measured[0] if measured else None


def _console(entry: Entry) -> ConsoleLine:
    """ChromeDriver puts the address first in the text."""
    text = entry["message"]
    match = CONSOLE_URL.match(text)
    url = match.group(1) if match else ""
    return ConsoleLine(entry.get("level", ""), text, entry.get("source", ""), url)
