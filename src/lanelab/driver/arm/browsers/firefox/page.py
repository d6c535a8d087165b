"""One page load, and everything that Firefox knows of it."""

import base64
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

from lanelab.driver.arm.browsers.browser import PageRecord, Trace
from lanelab.driver.arm.browsers.driven_page import LedPage, Measures, navigation_of, noted_in, times_of, view_of
from lanelab.driver.arm.browsers.failures import BrowserError, read_answer
from lanelab.driver.arm.browsers.firefox import requests as noted_requests
from lanelab.driver.arm.browsers.firefox.firefox import Firefox
from lanelab.driver.arm.browsers.firefox.isolated_world import OwnWorld
from lanelab.driver.arm.browsers.measures import measures_script
from lanelab.driver.base.errors import RecordError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Node
from lanelab.driver.record.evidence.browser import BrowserEvidence, BrowserFacts, ConsoleLine, Request
from lanelab.driver.record.reasons import Failure, Reason

MEASURES = f"new Promise(done => {measures_script('told => done(JSON.stringify(told))')})"
SANDBOX = "lanelab"  # our scripts see the page's objects as the browser made them, whatever the page has done to them
AFTER_FAILURE_S = 3.0
CONSOLE = "log.entryAdded"


class Picture(TypedDict):
    data: str


class CallFrame(TypedDict):
    url: str


class StackTrace(TypedDict):
    callFrames: Sequence[CallFrame]


class LogEntry(TypedDict):
    """The parameters of log.entryAdded."""

    level: str
    text: str | None
    type: str
    stackTrace: NotRequired[StackTrace | None]


class Notes(TypedDict):
    """The notes of watch.js."""

    exchanges: Sequence[noted_requests.Noted]
    problems: Sequence[str]


class FirefoxPage(LedPage):
    """A tab of a Firefox."""

    def __init__(self, node: Node, firefox: Firefox, context: str, keys_file: str | None, facts: BrowserFacts) -> None:
        super().__init__(node, firefox, keys_file, facts)
        self._firefox, self._context = firefox, context
        self._limit_s: float | None = None  # of each question; None: the usual

    def begin(self) -> None:
        self._keys_before = len(self._keys_file())
        self._firefox.bidi.events.clear()
        self._firefox.inside("(lanelab.begin(), 'null')")

    def _limit(self, timeout_s: float) -> None:
        """`_go` does."""

    def _go(self, url: str, timeout_s: float) -> None:
        navigate(self._firefox, self._context, url, timeout_s)

    def _after_load(self) -> None:
        if self._failures:
            self._limit_s = scaled(AFTER_FAILURE_S)

    def record(self) -> PageRecord:
        started, failures = time.monotonic(), self._failures
        requests, measures = self._collect(failures)
        console = self._console(failures)
        self.failed = bool(failures)
        evidence = BrowserEvidence(
            facts=self._evidence_facts(measures),
            times=times_of(measures, None if failures else self._plt_ms, cached=_is_cached(measures)),
            navigation=navigation_of(measures),
            view=view_of(measures),
            console=console,
            clock=self._clock(measures),
            sockets=self._sockets,
        )
        return PageRecord(evidence, requests, tuple(failures), self._marks(started))

    def screenshot(self, target: Path) -> None:
        try:
            picture = self._firefox.bidi.ask(Picture, "browsingContext.captureScreenshot", context=self._context)
        except BrowserError:
            self.failed = True
            raise
        target.write_bytes(base64.b64decode(picture["data"]))

    def netlog(self, target: Path) -> None:  # noqa: ARG002 - experiments that want it of Firefox are refused
        raise BrowserError("Firefox has no log of its network that lanelab reads", "Leave netlog out")

    def trace(self, *, screenshots: bool) -> Trace:  # noqa: ARG002
        raise BrowserError("Firefox has no trace that lanelab reads", "Leave trace out")

    def close(self) -> None:
        self.leave()
        self.leave = lambda: None

    def _collect(self, failures: list[Failure]) -> tuple[tuple[Request, ...], Measures | None]:
        """Return the requests, and what the page measured."""
        noted: Notes = {"exchanges": [], "problems": []}
        if any(failure.reason is Reason.BROWSER_CRASHED for failure in failures):
            return (), None
        if not failures:
            with noted_in(failures):
                self._measure()
        with noted_in(failures):
            notes = self._firefox.inside("lanelab.read()", self._limit_s)
            noted = read_answer(Notes, notes, "lanelab.read", Reason.EVIDENCE_MISSING)
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
        return requests, None if failures else self._measures

    def _console(self, failures: list[Failure]) -> tuple[ConsoleLine, ...]:
        entries: list[LogEntry] = []
        with noted_in(failures):
            words = [each.get("params") for each in self._firefox.bidi.events if each["method"] == CONSOLE]
            entries = read_answer(list[LogEntry], words, CONSOLE, Reason.EVIDENCE_MISSING)
        return tuple(_console_line(entry) for entry in entries)

    def _read_measures(self) -> object:
        return self._firefox.bidi.evaluate(self._context, MEASURES, SANDBOX)

    def _hand(self) -> OwnWorld:
        return OwnWorld(self._firefox.bidi, self._context)


def navigate(firefox: Firefox, context: str, url: str, timeout_s: float) -> None:
    """Go there, until the load event."""
    firefox.bidi.call("browsingContext.navigate", timeout_s, context=context, url=url, wait="complete")


def _load_us(measures: Measures | None) -> float | None:
    navigation = navigation_of(measures)
    return (measures["origin"] + navigation["loadEventStart"]) * 1000 if measures and navigation else None


def _is_cached(measures: Measures | None) -> bool:
    navigation = navigation_of(measures)
    return navigation is not None and navigation["transferSize"] == 0  # then its times may be 0, and have happened


def _console_line(entry: LogEntry) -> ConsoleLine:
    trace = entry.get("stackTrace")
    frames = trace["callFrames"] if trace else ()
    return ConsoleLine(entry["level"], str(entry["text"]), entry["type"], frames[0]["url"] if frames else "")
