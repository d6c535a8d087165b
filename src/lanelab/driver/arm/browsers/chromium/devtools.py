"""A connection to the browser's own DevTools, for what belongs to no page: contexts, targets, processes."""

import contextlib
import json
import time
from typing import Any

import websocket

from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Node
from lanelab.driver.record.reasons import Reason

START_TIMEOUT_S = 20.0
ANSWER_TIMEOUT_S = 10.0


class DevTools:
    """A conversation with a browser: one question at a time, events are passed over."""

    def __init__(self, node: Node, port: int, path: str) -> None:
        self._number = 0
        try:
            line = node.connect("127.0.0.1", port, scaled(START_TIMEOUT_S))
            self._line = websocket.create_connection(f"ws://127.0.0.1:{port}{path}", socket=line, suppress_origin=True)
        except (OSError, websocket.WebSocketException) as error:
            raise BrowserError(f"cannot reach Chromium's DevTools at port {port}: {error}") from error

    def call(self, method: str, timeout_s: float | None = None, **parameters: object) -> dict[str, Any]:
        """Return the answer. Raises BrowserError when the browser says no, is gone or is silent for too long."""
        timeout_s = scaled(ANSWER_TIMEOUT_S) if timeout_s is None else timeout_s
        until = time.monotonic() + timeout_s
        self.post(method, None, **parameters)
        try:
            while True:
                self._line.settimeout(max(until - time.monotonic(), 0.001))
                message = json.loads(self._line.recv())
                if message.get("id") == self._number:
                    break
        except websocket.WebSocketTimeoutException as error:
            raise BrowserError(f"Chromium did not answer {method} within {timeout_s:g} s") from error
        except (OSError, ValueError, websocket.WebSocketException) as error:
            raise _gone(method, error) from error
        if "error" in message:
            raise BrowserError(f"Chromium refused {method}: {message['error'].get('message')}")
        answer: dict[str, Any] = message["result"]
        return answer

    def post(self, method: str, session: str | None, **parameters: object) -> int:
        """Ask without waiting; the number that the answer will have. `session`: of a target that was attached to."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        try:
            self._line.send(json.dumps({**message, "sessionId": session} if session else message))
        except (OSError, websocket.WebSocketException) as error:
            raise _gone(method, error) from error
        return self._number

    def receive(self, timeout_s: float | None) -> dict[str, Any]:
        """Return the next answer or event; None: however long that takes."""
        try:
            self._line.settimeout(timeout_s)
            message: dict[str, Any] = json.loads(self._line.recv())
        except websocket.WebSocketTimeoutException as error:
            raise BrowserError(f"Chromium said nothing within {timeout_s:g} s") from error
        except (OSError, ValueError, websocket.WebSocketException) as error:
            raise _gone("listening to it", error) from error
        return message

    def close(self) -> None:
        with contextlib.suppress(OSError, websocket.WebSocketException):
            self._line.close(timeout=0)


def _gone(doing: str, error: Exception) -> BrowserError:
    return BrowserError(f"Chromium went away during {doing}: {error}", reason=Reason.BROWSER_CRASHED)
