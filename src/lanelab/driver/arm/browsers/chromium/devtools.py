"""A conversation with a browser by its own DevTools, for what belongs to no page of ChromeDriver's: contexts, targets,
processes, and all that a page attaches."""

import contextlib
import json
import threading
import time
from collections.abc import Callable
from typing import Any, NotRequired, TypeAlias, TypedDict

import websocket

from lanelab.driver.arm.browsers.failures import Answer, BrowserError, read_answer
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Node
from lanelab.driver.record.reasons import Reason

START_TIMEOUT_S = 20.0
ANSWER_TIMEOUT_S = 10.0


class Refusal(TypedDict):
    message: NotRequired[str]


class Message(TypedDict, total=False):
    """An answer, which has an `id`, or an event, which has a `method`."""

    id: int | None  # None: what was asked could not be read
    method: str
    sessionId: str
    params: Any  # each method has its own, as `result`
    result: Any
    error: Refusal


class InSession(TypedDict):
    """The answer to Target.attachToTarget."""

    sessionId: str


class TargetInfo(TypedDict):
    targetId: str
    type: str


class Attached(InSession):
    """The parameters of Target.attachedToTarget."""

    targetInfo: TargetInfo
    waitingForDebugger: NotRequired[bool]


class Thrown(TypedDict):
    description: NotRequired[str]


class ScriptFailure(TypedDict):
    exception: NotRequired[Thrown]
    text: NotRequired[str]


class RemoteValue(TypedDict):
    value: NotRequired[object]


class Evaluated(TypedDict):
    """The answer to Runtime.evaluate."""

    result: RemoteValue
    exceptionDetails: NotRequired[ScriptFailure]


Taker: TypeAlias = Callable[[Message], None]


class DevTools:
    """One question at a time. Events go to `taker`, while an answer is awaited or in `listen`; without it they are
    passed over."""

    def __init__(self, node: Node, port: int, path: str, taker: Taker | None = None) -> None:
        self._number = 0
        self._taker = taker
        self._asking = threading.RLock()
        try:
            line = node.connect("127.0.0.1", port, scaled(START_TIMEOUT_S))
            self._line = websocket.create_connection(f"ws://127.0.0.1:{port}{path}", socket=line, suppress_origin=True)
        except (OSError, websocket.WebSocketException) as error:
            raise BrowserError(f"cannot reach Chromium's DevTools at port {port}: {error}") from error

    def call(self, method: str, /, session: str = "", timeout_s: float | None = None, **parameters: object) -> object:
        """Return the answer. Raises BrowserError when the browser says no, is gone or is silent for too long."""
        timeout_s = scaled(ANSWER_TIMEOUT_S) if timeout_s is None else timeout_s
        with self._asking:
            until = time.monotonic() + timeout_s
            number = self.post(method, session, **parameters)
            while (left := until - time.monotonic()) > 0:  # events may come without end
                message = self._receive(max(left, 0.001), method)
                if message is None:
                    break
                if message.get("id") == number:
                    if "error" in message:
                        raise BrowserError(f"Chromium refused {method}: {message['error'].get('message')}")
                    return message["result"]
                self._take(message)
        raise BrowserError(f"Chromium did not answer {method} within {timeout_s:g} s")

    def ask(
        self,
        kind: type[Answer],
        method: str,
        /,
        session: str = "",
        timeout_s: float | None = None,
        **parameters: object,
    ) -> Answer:
        """Do the same as `call`, for an answer that holds this."""
        return read_answer(kind, self.call(method, session, timeout_s, **parameters), method)

    def post(self, method: str, /, session: str = "", **parameters: object) -> int:
        """Ask without waiting; the number that the answer will have."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        try:
            self._line.send(json.dumps(message | ({"sessionId": session} if session else {})))
        except (OSError, websocket.WebSocketException) as error:
            raise _gone(method, error) from error
        return self._number

    def receive(self, timeout_s: float | None) -> Message:
        """Return the next answer or event; None: however long that takes."""
        message = self._receive(timeout_s, "listening to it")
        if message is None:
            raise BrowserError(f"Chromium said nothing within {timeout_s:g} s")
        return message

    def listen(self, seconds: float) -> None:
        """Take events for so long."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            message = self._receive(max(left, 0.001), "listening")
            if message is not None:
                self._take(message)

    def _take(self, message: Message) -> None:
        if self._taker and "method" in message:
            self._taker(message)

    def _receive(self, timeout_s: float | None, during: str) -> Message | None:
        """None: nothing came in time."""
        try:
            self._line.settimeout(timeout_s)
            return read_answer(Message, json.loads(self._line.recv()), during)
        except websocket.WebSocketTimeoutException:
            return None
        except (OSError, ValueError, websocket.WebSocketException) as error:
            raise _gone(during, error) from error

    def close(self) -> None:
        with contextlib.suppress(OSError, websocket.WebSocketException):
            self._line.close(timeout=0)


def why_failed(failure: ScriptFailure) -> str:
    """Say why a script failed."""
    return failure.get("exception", {}).get("description") or failure.get("text", "it failed")


def _gone(doing: str, error: Exception) -> BrowserError:
    return BrowserError(f"Chromium went away during {doing}: {error}", reason=Reason.BROWSER_CRASHED)
