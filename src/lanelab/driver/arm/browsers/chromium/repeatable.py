"""Clock and random numbers that are the same in each load: a script in every page, frame and worker, before their own.

Pages and frames of the page's own process get it when they begin. Workers, and frames that have a process of their own,
are held at their start by the browser until they have it, which costs each some milliseconds; a page without them is
not held at any time. Workers learn likewise which addresses are blocked: DevTools have a list for each.

A page tells of the workers and frames that it starts. A shared worker is no page's: the browser tells of it. Some are
told of by both, and go on when both sessions say so; the first gives them what they are to have.
"""

import contextlib
import threading
from collections.abc import Sequence
from typing import NotRequired, TypedDict

from lanelab.driver.arm.browsers.chromium.devtools import (
    ANSWER_TIMEOUT_S,
    Attached,
    DevTools,
    InSession,
    Message,
    ScriptFailure,
    why_failed,
)
from lanelab.driver.arm.browsers.failures import BrowserError, read_answer
from lanelab.driver.base.timeouts import scaled

ADD_SCRIPT = "Page.addScriptToEvaluateOnNewDocument"
GO_ON = "Runtime.runIfWaitingForDebugger"
FRAMES = ("page", "iframe")
HELD = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
# What the browser is to tell of. It holds pages that others open and service workers, too, whether it tells of them or
# not, and they would wait for ever.
OF_THE_BROWSER = [{"type": kind, "exclude": False} for kind in ("shared_worker", "service_worker", "page")]
# What DevTools says of something that has ended meanwhile, as a worker may at any time.
GONE = ("Session with given id not found", "Inspected target navigated or closed", "Target closed", "detached")


class Result(TypedDict):
    """The part of every answer that says whether its script failed."""

    exceptionDetails: NotRequired[ScriptFailure]


class Repeating:
    """Gives the script to whatever the page starts in another process, until `close`. The page itself has it from the
    session that leads it, so that nobody else listens to what the page does."""

    def __init__(self, devtools: DevTools, target: str, text: str, blocked: Sequence[str] = ()) -> None:
        """Keep `devtools`, a connection of its own, which is closed at the end, and `text`, the script; empty: none.
        `blocked`: what workers may not ask for, as DevTools call it; of pages and frames their session sees to that."""
        self._devtools, self._script, self._blocked = devtools, text, blocked
        self._problems: list[str] = []
        self._prepared: dict[str, str] = {}  # session -> the target that was prepared by it
        self._closed = False
        attached = devtools.ask(InSession, "Target.attachToTarget", targetId=target, flatten=True)
        waiting = {self._see_to_children(attached["sessionId"]), self._see_to_children("", filter=OF_THE_BROWSER)}
        while waiting:  # from here on no event is passed over: what it tells of would be held for ever
            message = devtools.receive(scaled(ANSWER_TIMEOUT_S))
            self._see(message)
            waiting.discard(message.get("id") or 0)
        if self._problems:
            raise BrowserError(
                f"Chromium did not take the script for repeatable clocks, or what is blocked: {self._problems[0]}"
            )
        threading.Thread(target=self._listen, name="repeatable", daemon=True).start()

    @property
    def problems(self) -> list[str]:
        """Return what did not get the script, and why."""
        return list(self._problems)

    def close(self) -> None:
        self._closed = True
        self._devtools.close()

    def _meet(self, attached: Attached, *, by_browser: bool) -> None:
        """Prepare what begins, once. A page that the browser tells of just goes on, as nothing is measured of it; and a
        service worker that was there before, maybe of an earlier load."""
        session, new = attached["sessionId"], attached["targetInfo"]
        was_there = new["type"] == "service_worker" and not attached.get("waitingForDebugger", True)
        is_passed = by_browser and (new["type"] == "page" or was_there)
        if is_passed or new["targetId"] in self._prepared.values():
            self._devtools.post(GO_ON, session)
            return
        self._prepared[session] = new["targetId"]
        self._prepare(session, new["type"])

    def _prepare(self, session: str, kind: str) -> None:
        """Give it the script, and see to what it starts itself; then it may go on."""
        post = self._devtools.post
        if self._blocked and kind not in FRAMES:
            post("Network.enable", session)
            post("Network.setBlockedURLs", session, urls=list(self._blocked))
        if self._script and kind in FRAMES:
            # Without the first, the second is taken and does nothing.
            post("Page.enable", session)
            post(ADD_SCRIPT, session, source=self._script)
        elif self._script:
            post("Runtime.evaluate", session, expression=self._script)
        self._see_to_children(session)
        post(GO_ON, session)

    def _see_to_children(self, session: str, **more: object) -> int:
        """Listen to each worker and frame that it starts, which waits then, and return the number of the question.
        `session`: none is the browser's own."""
        return self._devtools.post("Target.setAutoAttach", session, **HELD, **more)

    def _listen(self) -> None:
        try:
            while not self._closed:
                self._see(self._devtools.receive(None))
        except BrowserError as error:
            if not self._closed:
                self._problems.append(error.what)

    def _see(self, message: Message) -> None:
        if message.get("method") == "Target.attachedToTarget":
            attached = read_answer(Attached, message.get("params"), "Target.setAutoAttach")
            with contextlib.suppress(BrowserError):  # the browser is gone, which others notice
                self._meet(attached, by_browser="sessionId" not in message)
        elif message.get("method") == "Target.detachedFromTarget":
            gone = read_answer(InSession, message.get("params"), "Target.setAutoAttach")
            self._prepared.pop(gone["sessionId"], None)
        refused = message.get("error", {}).get("message", "")
        if refused and not any(words in refused for words in GONE):
            self._problems.append(refused)
        result = read_answer(Result, message.get("result") or {}, "Runtime.evaluate")
        if failed := result.get("exceptionDetails"):
            self._problems.append(why_failed(failed))
