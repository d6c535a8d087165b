"""The events of a page and of everything below it -> whether it still loads something. Pure.

Requests that are held open on purpose must not hold up a recording: streams of events are not counted, and one that
has been silent for long after the load counts as held open (long polling, or a video that has buffered enough).
"""

from dataclasses import dataclass, field
from typing import TypedDict

QUIET_S = 1.0
HELD_OPEN_S = 5.0
STREAMS = ("EventSource",)
LOADS = ("http:", "https:")
ENDS = ("Network.loadingFinished", "Network.loadingFailed")
SIGNS = ("Network.responseReceived", "Network.dataReceived", "Network.requestWillBeSentExtraInfo")


class RequestData(TypedDict):
    url: str


class Answer(TypedDict, total=False):
    status: int
    mimeType: str


class Event(TypedDict, total=False):
    """The parameters of the events that are heard: each has some of them."""

    requestId: str
    type: str
    url: str
    sessionId: str
    timestamp: float
    request: RequestData
    response: Answer


@dataclass(slots=True)
class UnderWay:
    session: str  # where it began: a frame's own request may go on in the session of its new process
    url: str
    heard_s: float  # the last time that it said something


@dataclass(slots=True)
class Activity:
    """Says what a page is doing. Times in seconds of the caller's clock, but for `loaded`, which is the browser's."""

    page: str  # the session of the page itself
    began_s: float
    loaded: float | None = None
    loaded_s: float = 0.0
    heard_s: float = 0.0
    requests: dict[str, UnderWay] = field(default_factory=dict)
    crashed: bool = False
    download: str = ""
    sockets: dict[str, None] = field(default_factory=dict)  # WebSockets that were opened
    answer: tuple[int, str] | None = None  # status and media type of the page itself
    seen: int = 0

    def take(self, session: str, method: str, event: Event, now_s: float) -> None:
        self.heard_s = max(self.heard_s, self.began_s)
        key = event.get("requestId", "")
        if method == "Network.requestWillBeSent":
            self._begin_request(session, key, event, now_s)
        elif method in ENDS:
            self.requests.pop(key, None)
            self.heard_s = now_s
        elif method in SIGNS and key in self.requests:
            self.requests[key].heard_s = self.heard_s = now_s
            if method == "Network.responseReceived" and session == self.page and event.get("type") == "Document":
                self._answered(event)
        elif method == "Network.webSocketCreated":
            self.sockets[event.get("url", "")] = None
        elif method == "Page.loadEventFired" and session == self.page and self.seen and self.loaded is None:
            self.loaded, self.loaded_s = event["timestamp"], now_s
        elif method == "Target.detachedFromTarget":
            gone = event.get("sessionId", "")
            self.requests = {other: each for other, each in self.requests.items() if each.session != gone}
        elif method in ("Inspector.targetCrashed", "Target.targetCrashed"):
            self.crashed = True
        elif method in ("Browser.downloadWillBegin", "Page.downloadWillBegin"):
            self.download = event.get("url", "")

    def _begin_request(self, session: str, key: str, event: Event, now_s: float) -> None:
        url = event["request"]["url"]
        if url.startswith(LOADS):
            self.seen += 1
            self.heard_s = now_s
            if event.get("type") not in STREAMS:
                self.requests[key] = UnderWay(session, url, now_s)

    def _answered(self, event: Event) -> None:
        """The page's own document is the first; frames of its process come later."""
        response = event["response"]
        if self.answer is None:
            self.answer = response["status"], response.get("mimeType", "")

    def held_open(self, now_s: float) -> list[str]:
        """Return what counts as held open on purpose."""
        return [each.url for each in self.requests.values() if self._is_held(each, now_s)]

    def _is_held(self, each: UnderWay, now_s: float) -> bool:
        return self.loaded is not None and now_s - max(each.heard_s, self.loaded_s) >= HELD_OPEN_S

    def is_quiet(self, now_s: float) -> bool:
        if self.loaded is None:
            return False
        busy = any(not self._is_held(each, now_s) for each in self.requests.values())
        return not busy and now_s - max(self.heard_s, self.loaded_s) >= QUIET_S
