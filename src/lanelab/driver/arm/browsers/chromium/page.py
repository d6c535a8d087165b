"""One page load, and everything that Chromium knows of it."""

import base64
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lanelab.driver.arm.browsers.browser import Leg, PageRecord, ScriptAsked
from lanelab.driver.arm.browsers.chromium import events, flags
from lanelab.driver.arm.browsers.chromium.chromedriver import Session
from lanelab.driver.arm.browsers.chromium.chromium import Chromium
from lanelab.driver.arm.browsers.chromium.emulation import measure_slowdown
from lanelab.driver.arm.browsers.chromium.isolated_world import OwnWorld
from lanelab.driver.arm.browsers.chromium.log import Entry
from lanelab.driver.arm.browsers.chromium.repeatable import Repeating
from lanelab.driver.arm.browsers.chromium.scripted import follow
from lanelab.driver.arm.browsers.chromium.step_watch import StepWatch
from lanelab.driver.arm.browsers.chromium.tracing import Tracing
from lanelab.driver.arm.browsers.driven_page import LedPage, Measures, navigation_of, noted_in, times_of, view_of
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.arm.browsers.measures import measures_script
from lanelab.driver.arm.browsers.vitals import StepTold
from lanelab.driver.base.errors import NodeError, RecordError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Node
from lanelab.driver.record.evidence.browser import (
    BrowserEvidence,
    BrowserFacts,
    ConsoleLine,
    LoadClock,
    PageTimes,
    Request,
    Slowdown,
)
from lanelab.driver.record.evidence.journey import StepEvidence
from lanelab.driver.record.reasons import Failure, Reason

MEASURES = measures_script("arguments[arguments.length - 1]")
NETLOG_WITHIN_S = 5.0
AFTER_FAILURE_S = 3.0
SCRIPT_WITHIN_S = 5.0
READ_LOG_S = 0.3  # before a step of a journey its log is read, which takes no longer
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
        self._leg: Leg | None = None  # of a journey, that is under way or was the last
        self._thought_s, self._ended_at = 0.0, 0.0
        self._steps: list[StepEvidence] = []
        self._logs: list[Sequence[Entry]] = []  # of each step
        self._inside: list[Entry] = []  # of a script's step that is under way: what was logged until it ended
        self._ends: list[int] = []  # of each step of a script, how much that was
        self._began_at, self._document = 0.0, 0.0  # of a script's step; when the document before it began
        self._vitals: StepWatch | None = None  # where steps are asked for them

    def begin(self) -> None:
        self._keys_before = len(self._keys_file())
        self._session.set_script_timeout(scaled(SCRIPT_WITHIN_S))
        for kind in ("performance", "browser"):
            self._session.log(kind)

    def _limit(self, timeout_s: float) -> None:
        self._session.limit(timeout_s)

    def _go(self, url: str, timeout_s: float) -> None:  # noqa: ARG002 - the session has been limited
        if self._leg and self._leg.back:
            self._session.back()
        else:
            self._session.get(url)

    def _after_load(self) -> None:
        if self._failures:
            self._session.unlimit(AFTER_FAILURE_S)
        else:
            self._session.unlimit()

    def watch_steps(self, after_ms: float) -> None:
        self._vitals = StepWatch(self._session, after_ms)

    def vitals_of_steps(self) -> Sequence[StepTold]:
        return self._vitals.answers if self._vitals else ()

    def travel(self, legs: Sequence[Leg], timeout_s: float) -> None:
        for number, leg in enumerate(legs):
            thought_s = self._think(leg) if number else 0.0
            if self._failures:
                break
            self._leg, self._thought_s = leg, thought_s
            self.load(leg.url, timeout_s)
            self._ended_at = time.monotonic()
            if self._vitals and not self._failures:
                with noted_in(self._failures):
                    self._measure()
                    self._vitals.end(leg.name, by_load=True)
        if self._failures and self._leg:
            first, *others = self._failures
            self._failures[:] = [replace(first, detail=f"step {self._leg.name}: {first.detail}"), *others]

    def _think(self, leg: Leg) -> float:
        """Wait as a user does who reads, and read meanwhile what the page and the browser know of their load. Return
        how long that took."""
        with noted_in(self._failures):
            self._measure()
            remaining_s = self._ended_at + leg.think_s - scaled(READ_LOG_S) - time.monotonic()
            time.sleep(max(0.0, remaining_s))
            self._note_step(self._session.log("performance"))
            self._measures = None
            if self._vitals:
                self._vitals.begin(hears=False)
        time.sleep(max(0.0, self._ended_at + leg.think_s - time.monotonic()))
        return time.monotonic() - self._ended_at

    def follow(self, script: ScriptAsked, timeout_s: float) -> None:
        self._asked_us = time.time_ns() // 1000
        try:
            self._life.require_alive()
            self._limit(timeout_s)
            self._document = self._origin()
            follow(script, self._session, self, timeout_s)
        except BrowserError as error:
            failure = self._named(error)
            place = f"step {self._leg.name}: " if self._leg else ""
            self._failures.append(replace(failure, detail=f"{place}{failure.detail}"))
        self._after_load()

    def step_begins(self, name: str) -> None:
        log = self._session.log("performance")
        if self._leg:
            self._note_step([*self._inside, *log])
        elif events.first_request_us(log, self._target) is not None:
            what = "it loads something before its first step"
            raise BrowserError(what, "Begin the step before", reason=Reason.SCRIPT_FAILED)
        if self._vitals:
            self._vitals.begin(hears=True)
        self._measures, self._plt_ms, self._inside = None, None, []
        self._began_at, self._asked_us = time.monotonic(), time.time_ns() // 1000
        self._thought_s = self._began_at - self._ended_at if self._leg else 0.0
        self._leg = Leg(name, "", back=False, think_s=0.0)

    def step_ends(self) -> None:
        """A navigation that is under way belongs to the step: a question to its page waits for that."""
        url = self._session.current_url
        self._ended_at = time.monotonic()
        self._plt_ms = round((self._ended_at - self._began_at) * 1000, 3)
        self._inside = self._session.log("performance")
        self._ends.append(len(self._inside))
        if self._leg:
            self._leg = replace(self._leg, url=url)
        self._measure()
        if self._vitals and self._leg:
            self._vitals.end(self._leg.name, by_load=False)

    def _origin(self) -> float:
        """Return when the document that is there began."""
        return float(self._session.execute_script("return performance.timeOrigin"))

    def _note_step(self, log: Sequence[Entry]) -> None:
        """Keep what is known of the step that has ended. A script's step need not load a page."""
        if self._leg is None or self._plt_ms is None:
            return
        self._logs.append(log)
        measures = self._measures
        scripted = bool(self._ends)
        restored = (self._leg.back or scripted) and events.was_restored(log)
        same = scripted and measures is not None and measures["origin"] == self._document
        self._document = measures["origin"] if measures else 0.0
        loaded = None if restored or same else measures
        asked_us, requested_us = self._asked_us or 0, events.first_request_us(log, self._target)
        self._steps.append(
            StepEvidence(
                name=self._leg.name,
                page=self._leg.url,
                back=self._leg.back,
                thought_ms=round(self._thought_s * 1000, 3),
                times=times_of(loaded, self._plt_ms, cached=True),
                clock=LoadClock(asked_us, round(loaded["origin"] * 1000) if loaded else None, requested_us),
                navigation=navigation_of(loaded),
                requests=0,  # known when the whole log is read
            )
        )

    def record(self) -> PageRecord:
        started, failures = time.monotonic(), self._failures
        if self.repeating and self.repeating.problems and not failures:
            what = (
                f"not every script had a repeatable clock, or the list of what is blocked: {self.repeating.problems[0]}"
            )
            failures.append(Failure(Reason.BROWSER_FAILED, what))
        requests, console, measures = self._collect(failures)
        slowdown = self._slowdown(failures)
        self.failed = bool(failures)
        times = times_of(measures, None if failures else self._plt_ms)
        evidence = BrowserEvidence(
            facts=self._evidence_facts(measures),
            times=_together(self._steps) if self._leg and not failures else times,
            navigation=navigation_of(measures),
            console=tuple(_console(entry) for entry in console),
            clock=self._steps[0].clock if self._steps else self._clock(measures),
            view=view_of(measures),
            slowdown=slowdown,
            sockets=self._sockets,
        )
        return PageRecord(evidence, requests, tuple(failures), self._marks(started), tuple(self._steps))

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
            requests = self._requests(log, failures)
            self._first_request_us = events.first_request_us(log, self._target)
            self._sockets = events.sockets([entry for each in self._logs for entry in each] or log, self._target)
        except RecordError as unread:
            failures.append(Failure(Reason.EVIDENCE_MISSING, str(unread)))
        error = events.document_error(requests)
        if error and not failures:
            failures.append(Failure(Reason.NAVIGATION_FAILED, f"the page did not come: {error}"))
        if not failures:
            with noted_in(failures):
                self._measure()
        return requests, console, None if failures else self._measures

    def _requests(self, log: Sequence[Entry], failures: list[Failure]) -> tuple[Request, ...]:
        """Return those of the load; of a journey those of all steps, whose counts are noted."""
        if self._leg is None:
            return events.requests(log, self._target)
        if not failures:
            with noted_in(failures):
                self._measure()
        if failures:
            self._logs.append([*self._inside, *log])  # of a step that failed nothing else is kept
        else:
            self._note_step([*self._inside, *log])
            failures += self._windows()
        by_step = events.requests_of_steps(self._logs, self._target, self._ends)
        self._steps = [replace(step, requests=len(each)) for step, each in zip(self._steps, by_step, strict=False)]
        return tuple(request for each in by_step for request in each)

    def _windows(self) -> Iterator[Failure]:
        """Yield the steps of a script in which the page opened another window, as a click may: what that asks for would
        be in no record, and its bytes in the capture."""
        for step, log in zip(self._steps if self._ends else (), self._logs, strict=False):
            for url in events.opened_windows(log, self._target)[:1]:
                what = f"step {step.name}: the page opened another window ({url[:200]}), and a script has one page"
                yield Failure(Reason.SCRIPT_FAILED, what)

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


def _together(steps: Sequence[StepEvidence]) -> PageTimes:
    """Return the times of a journey: its load times together. It has no paints of its own."""
    whole = sum(step.times.plt_ms or 0.0 for step in steps)
    return PageTimes(round(whole, 3), None, None, None, None, None, None)


def _console(entry: Entry) -> ConsoleLine:
    """ChromeDriver puts the address first in the text."""
    text = entry["message"]
    match = CONSOLE_URL.match(text)
    url = match.group(1) if match else ""
    return ConsoleLine(entry.get("level", ""), text, entry.get("source", ""), url)
