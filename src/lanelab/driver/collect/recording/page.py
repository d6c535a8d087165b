"""The page that is recorded: led through its load by the browser's own DevTools, until it is quiet.

Not by ChromeDriver: its log lacks frames and workers that have a process of their own, and one of them must not be
taken for quiet. Nor does it listen at a port that others on this machine may use.
"""

import base64
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NotRequired, TypedDict

from lanelab.driver.arm.browsers.chromium.chromium import Chromium
from lanelab.driver.arm.browsers.chromium.devtools import Attached, Evaluated, InSession, Message, TargetInfo
from lanelab.driver.arm.browsers.failures import Answer, BrowserError, read_answer
from lanelab.driver.base.errors import RecordingError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.collect.recording.exchanges import shown
from lanelab.driver.collect.recording.page_activity import Activity, Event

LOAD_WITHIN_S = 90.0
ANSWER_WITHIN_S = 20.0  # the page and its servers may be anywhere
QUIET_WITHIN_S = 45.0  # after the load
LISTEN_S = 0.1
SCREEN_S = 0.3  # how long each screenful is shown while the page is scrolled
MOST_SCREENS = 60
FIRST_ERROR = 400
SCROLL = "(() => { const y = scrollY; scrollBy({top: innerHeight * 0.8, behavior: 'instant'}); return scrollY > y; })()"
SHOWN = ("text/html", "application/xhtml+xml")
HELP = {
    "ERR_NAME_NOT_RESOLVED": "Mind the spelling of the host, and whether this machine has a network",
    "ERR_INTERNET_DISCONNECTED": "This machine has no network",
    "ERR_CONNECTION_REFUSED": "Nobody listens there: mind the scheme and the port",
    "ERR_CERT": "Record a site whose certificate this machine trusts, or its http address",
    "ERR_ADDRESS_UNREACHABLE": "This machine has no way there",
    "ERR_ABORTED": "Try the address in a browser",
}
# Of the browser itself: those that no page is the parent of.
OF_THE_BROWSER = [{"type": kind, "exclude": False} for kind in ("service_worker", "shared_worker")]


@dataclass(frozen=True, slots=True)
class View:
    viewport: tuple[int, int]
    pixel_ratio: float
    touch: bool


class Targets(TypedDict):
    targetInfos: Sequence[TargetInfo]


class Navigated(TypedDict):
    """The answer to Page.navigate."""

    isDownload: NotRequired[bool]
    errorText: NotRequired[str]


class Picture(TypedDict):
    data: str


class Page:
    """A tab of a browser that was started for this recording."""

    def __init__(self, browser: Chromium, view: View) -> None:
        self._browser, self._view = browser, view
        self._activity = Activity("", time.monotonic())
        self._devtools = browser.another_devtools(self._take)
        within_s = scaled(ANSWER_WITHIN_S)
        call = partial(self._devtools.call, timeout_s=within_s)
        call("Browser.setDownloadBehavior", behavior="deny", eventsEnabled=True)
        call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True, filter=OF_THE_BROWSER)
        targets = self._devtools.ask(Targets, "Target.getTargets", timeout_s=within_s)["targetInfos"]
        page = next(each["targetId"] for each in targets if each["type"] == "page")
        attach = "Target.attachToTarget"
        attached = self._devtools.ask(InSession, attach, timeout_s=within_s, targetId=page, flatten=True)
        self._session = attached["sessionId"]
        self._activity.page = self._session
        self._watch(self._session, call)
        self._show(view)

    @property
    def loaded(self) -> float | None:
        """Return when the load event was, in the browser's seconds."""
        return self._activity.loaded

    @property
    def sockets(self) -> tuple[str, ...]:
        return tuple(self._activity.sockets)

    def load(self, url: str) -> None:
        """Go there and wait for the load event. Raises RecordingError where no page came."""
        until = time.monotonic() + scaled(LOAD_WITHIN_S)
        answer = self._ask(Navigated, "Page.navigate", LOAD_WITHIN_S, url=url)
        if self._activity.download or answer.get("isDownload"):
            raise RecordingError(f"{shown(url)} is a file to be saved and no page", "Record the page that links to it")
        error = answer.get("errorText")
        if error:
            remedy = next((help_ for word, help_ in HELP.items() if word in error), "Try the address in a browser")
            raise RecordingError(f"{shown(url)} did not come: {error}", remedy)
        while self._activity.loaded is None and time.monotonic() < until:
            self._listen(LISTEN_S)
        self._require_page(url)

    def _require_page(self, url: str) -> None:
        if self._activity.loaded is None:
            waiting = ", ".join(shown(each.url) for each in list(self._activity.requests.values())[:3])
            what = f"{shown(url)} did not finish loading within {scaled(LOAD_WITHIN_S):g} s"
            raise RecordingError(what + (f": {waiting} did not end" if waiting else ""), "Try again later")
        status, mime = self._activity.answer or (0, "")
        if status >= FIRST_ERROR:
            raise RecordingError(f"{shown(url)} was answered with the status {status}", "Record a page that is there")
        if mime not in SHOWN:
            raise RecordingError(f"{shown(url)} is {mime or 'of no type'} and no page", "Record an HTML page")

    def settle(self, tell: Callable[[str], None]) -> None:
        """Wait until nothing is under way. What never ends is told."""
        began = time.monotonic()
        while not self._activity.is_quiet(time.monotonic()):
            if time.monotonic() - began >= scaled(QUIET_WITHIN_S):
                busy = [shown(each.url) for each in self._activity.requests.values()][:3]
                why = f": {', '.join(busy)} is still under way" if busy else ": it asks for one thing after another"
                tell(f"the page was not quiet within {scaled(QUIET_WITHIN_S):g} s{why}. What has come is recorded")
                return
            self._listen(LISTEN_S)
        held = self._activity.held_open(time.monotonic())
        if held:
            tell(f"held open by the page or its server, and not waited for: {', '.join(map(shown, held[:3]))}")

    def wait(self, seconds: float) -> None:
        self._listen(seconds)

    def scroll(self) -> None:
        """Scroll through the whole page and back."""
        for _ in range(MOST_SCREENS):
            moved = self._evaluate(SCROLL)
            self._listen(SCREEN_S)
            if not moved:
                break
        self._evaluate("scrollTo({top: 0, behavior: 'instant'})")
        self._listen(SCREEN_S)

    def screenshot(self) -> bytes:
        """Take a picture as large as a trial's, which has a pixel for each of the view's."""
        width, height = self._view.viewport
        shown_part = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1 / self._view.pixel_ratio}
        picture = self._ask(Picture, "Page.captureScreenshot", format="png", clip=shown_part)
        return base64.b64decode(picture["data"])

    def title(self) -> str:
        return " ".join(str(self._evaluate("document.title") or "").split())

    def close(self) -> None:
        self._devtools.close()

    def _call(self, method: str, /, within_s: float = ANSWER_WITHIN_S, **parameters: object) -> object:
        try:
            return self._devtools.call(method, self._session, scaled(within_s), **parameters)
        except BrowserError as error:
            raise self._translated(error) from error

    def _ask(
        self, kind: type[Answer], method: str, /, within_s: float = ANSWER_WITHIN_S, **parameters: object
    ) -> Answer:
        """Do the same as `_call`, for an answer that holds this."""
        answer = self._call(method, within_s, **parameters)
        try:
            return read_answer(kind, answer, method)
        except BrowserError as error:
            raise self._translated(error) from error

    def _evaluate(self, expression: str) -> object:
        answer = self._ask(Evaluated, "Runtime.evaluate", expression=expression, returnByValue=True)
        return answer["result"].get("value")

    def _listen(self, seconds: float) -> None:
        try:
            self._devtools.listen(seconds)
        except BrowserError as error:
            raise self._translated(error) from error
        if self._activity.crashed:
            raise RecordingError("the page's process crashed", "Try again")

    def _translated(self, error: BrowserError) -> RecordingError:
        words = f"; its last words: {self._browser.last_words()}" if self._browser.ended() else ""
        return RecordingError(f"{error.what}{words}", error.remedy or "Try again")

    def _show(self, view: View) -> None:
        width, height = view.viewport
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=view.pixel_ratio,
            mobile=view.touch,
        )
        if view.touch:
            self._call("Emulation.setTouchEmulationEnabled", enabled=True)

    def _watch(self, session: str, say: Callable[..., object]) -> None:
        """Watch the requests of a target, and all that it starts, which the browser holds until it is watched too."""
        for method in ("Network.enable", "Page.enable", "Inspector.enable"):
            say(method, session)
        say("Target.setAutoAttach", session, autoAttach=True, waitForDebuggerOnStart=True, flatten=True)

    def _take(self, message: Message) -> None:
        session, method = message.get("sessionId", ""), message["method"]
        if method == "Target.attachedToTarget":
            attached: Attached = message["params"]
            new = attached["sessionId"]
            if attached["targetInfo"]["type"] != "page" or self._activity.page:
                self._watch(new, self._devtools.post)  # what a worker does not know it refuses, unheard
                self._devtools.post("Runtime.runIfWaitingForDebugger", new)
        elif method == "Page.javascriptDialogOpening":
            self._devtools.post("Page.handleJavaScriptDialog", session, accept=False)
        else:
            self._activity.take(session, method, message.get("params", Event()), time.monotonic())
