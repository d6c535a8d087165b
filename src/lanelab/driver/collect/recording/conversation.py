"""A conversation with a browser and all that it attaches: questions, and events as they come."""

import contextlib
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import websocket

from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Node
from lanelab.driver.record.reasons import Reason

Taker = Callable[[str, str, Mapping[str, Any]], None]  # session, method, parameters
CONNECT_TIMEOUT_S = 20.0
ANSWER_TIMEOUT_S = 20.0


class RefusedError(BrowserError):
    """The browser understood, and said no."""


class Conversation:
    """One thread: events go to `taker` while an answer is awaited, or in `listen`."""

    def __init__(self, node: Node, port: int, path: str, taker: Taker) -> None:
        self._number = 0
        self._taker = taker
        try:
            line = node.connect("127.0.0.1", port, scaled(CONNECT_TIMEOUT_S))
            self._line = websocket.create_connection(f"ws://127.0.0.1:{port}{path}", socket=line, suppress_origin=True)
        except (OSError, websocket.WebSocketException) as error:
            raise BrowserError(f"cannot reach Chromium's DevTools at port {port}: {error}") from error

    def tell(self, method: str, session: str = "", **parameters: object) -> int:
        """Without waiting for the answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        try:
            self._line.send(json.dumps(message | ({"sessionId": session} if session else {})))
        except (OSError, websocket.WebSocketException) as error:
            raise self._gone(method, error) from error
        return self._number

    def call(
        self, method: str, session: str = "", *, timeout_s: float = ANSWER_TIMEOUT_S, **parameters: object
    ) -> dict[str, Any]:
        """The answer. Raises RefusedError, or BrowserError when the browser is gone or silent for too long."""
        number = self.tell(method, session, **parameters)
        until = time.monotonic() + scaled(timeout_s)
        while time.monotonic() < until:
            message = self._next(until, method)
            if message is not None and message.get("id") == number:
                if "error" in message:
                    raise RefusedError(f"Chromium refused {method}: {message['error'].get('message')}")
                answer: dict[str, Any] = message["result"]
                return answer
        what = f"Chromium did not answer {method} within {scaled(timeout_s):g} s"
        raise BrowserError(what, reason=Reason.TIMEOUT)

    def listen(self, seconds: float) -> None:
        """Take events for so long."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._next(until, "listening")

    def _next(self, until: float, during: str) -> dict[str, Any] | None:
        """The next message that is an answer; None: an event, which was taken, or nothing until then."""
        try:
            self._line.settimeout(max(until - time.monotonic(), 0.001))
            message: dict[str, Any] = json.loads(self._line.recv())
        except websocket.WebSocketTimeoutException:
            return None
        except (OSError, ValueError, websocket.WebSocketException) as error:
            raise self._gone(during, error) from error
        if "method" not in message:
            return message
        self._taker(message.get("sessionId", ""), message["method"], message.get("params") or {})
        return None

    @staticmethod
    def _gone(during: str, error: Exception) -> BrowserError:
        return BrowserError(f"Chromium went away during {during}: {error}", reason=Reason.BROWSER_CRASHED)

    def close(self) -> None:
        with contextlib.suppress(OSError, websocket.WebSocketException):
            self._line.close(timeout=0)
