"""A conversation with Firefox by WebDriver BiDi: one question at a time; events are kept until they are wanted."""

import contextlib
import json
import time
from typing import Any, NotRequired, TypedDict

import websocket

from lanelab.driver.arm.browsers.failures import Answer, BrowserError, read_answer
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Node
from lanelab.driver.record.reasons import Reason

START_TIMEOUT_S = 20.0
ANSWER_TIMEOUT_S = 20.0
# What Firefox says of a page that is gone, or that never came.
_GONE = ("no such frame", "no such window", "DiscardedBrowsingContextError", "Actor 'MessageHandlerFrame' destroyed")


class Message(TypedDict):
    """An answer, which has the `id` of its question, or an event, which has a `method`."""

    type: str  # success, error or event
    id: NotRequired[int | None]
    method: NotRequired[str]
    params: NotRequired[Any]  # each method has its own, as `result`
    result: NotRequired[Any]
    error: NotRequired[str]
    message: NotRequired[str]


class ScriptFailure(TypedDict):
    text: NotRequired[str]


class RemoteValue(TypedDict):
    value: NotRequired[object]


class Evaluated(TypedDict):
    """The answer to script.evaluate."""

    type: str  # success, or another
    result: NotRequired[RemoteValue]
    exceptionDetails: NotRequired[ScriptFailure]


class BiDi:
    """The session with one browser."""

    def __init__(self, node: Node, port: int) -> None:
        self._number = 0
        self.events: list[Message] = []
        try:
            line = node.connect("127.0.0.1", port, scaled(START_TIMEOUT_S))
            line.settimeout(scaled(START_TIMEOUT_S))
            url = f"ws://127.0.0.1:{port}/session"
            self._line = websocket.create_connection(url, socket=line, suppress_origin=True)
        except (OSError, websocket.WebSocketException) as error:
            raise BrowserError(f"cannot reach Firefox's WebDriver BiDi at port {port}: {error}") from error

    def call(self, method: str, /, timeout_s: float | None = None, **parameters: object) -> object:
        """Return the answer. Raises BrowserError when the browser says no, is gone or is silent for too long."""
        timeout_s = scaled(ANSWER_TIMEOUT_S) if timeout_s is None else timeout_s
        until = time.monotonic() + timeout_s
        self._number += 1
        try:
            self._line.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
            while (left := until - time.monotonic()) > 0:  # events may come without end
                self._line.settimeout(max(left, 0.001))
                message = read_answer(Message, json.loads(self._line.recv()), method)
                if message.get("id") == self._number:
                    break
                if message["type"] == "event":
                    self.events.append(message)
            else:
                raise websocket.WebSocketTimeoutException("only events came")
        except websocket.WebSocketTimeoutException as error:
            what = f"Firefox did not answer {method} within {timeout_s:g} s"
            raise BrowserError(what, reason=Reason.TIMEOUT) from error
        except (OSError, ValueError, websocket.WebSocketException) as error:
            what = f"Firefox went away during {method}: {error}"
            raise BrowserError(what, reason=Reason.BROWSER_CRASHED) from error
        if message["type"] == "error":
            raise _refused(method, message)
        return message["result"]

    def ask(self, kind: type[Answer], method: str, /, timeout_s: float | None = None, **parameters: object) -> Answer:
        """Do the same as `call`, for an answer that holds this."""
        return read_answer(kind, self.call(method, timeout_s, **parameters), method)

    def evaluate(
        self, context: str, expression: str, sandbox: str | None = None, timeout_s: float | None = None
    ) -> object:
        """Return the value of an expression, which has to be JSON as text."""
        target = {"context": context, **({"sandbox": sandbox} if sandbox else {})}
        done = self.ask(
            Evaluated, "script.evaluate", timeout_s, expression=expression, target=target, awaitPromise=True
        )
        if "result" not in done:
            why = done.get("exceptionDetails", {}).get("text")
            raise BrowserError(f"Firefox could not evaluate a script of ours: {why}")
        return json.loads(str(done["result"].get("value", "null")))

    def close(self) -> None:
        with contextlib.suppress(OSError, websocket.WebSocketException):
            self._line.close(timeout=0)


def _refused(method: str, message: Message) -> BrowserError:
    reason = f"{message.get('error')}: {message.get('message')}"
    what = f"Firefox refused {method}: {reason}"
    if any(words in reason for words in _GONE):
        return BrowserError(what, reason=Reason.BROWSER_CRASHED)
    if method == "browsingContext.navigate":
        return BrowserError(f"the page did not come: {message.get('message')}", reason=Reason.NAVIGATION_FAILED)
    return BrowserError(what)
