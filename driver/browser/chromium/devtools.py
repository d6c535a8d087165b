"""A connection to the browser's own DevTools, for what belongs to no page: contexts, targets, processes."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import websocket

from driver.bed.node import Node
from driver.browser.failures import BrowserError
from driver.timeouts import scaled
from model.reasons import Reason

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
        """The answer. Raises BrowserError when the browser says no, is gone or is silent for too long."""
        self._number += 1
        timeout_s = scaled(ANSWER_TIMEOUT_S) if timeout_s is None else timeout_s
        until = time.monotonic() + timeout_s
        try:
            self._line.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
            while True:
                self._line.settimeout(max(until - time.monotonic(), 0.001))
                message = json.loads(self._line.recv())
                if message.get("id") == self._number:
                    break
        except websocket.WebSocketTimeoutException as error:
            raise BrowserError(f"Chromium did not answer {method} within {timeout_s:g} s") from error
        except (OSError, ValueError, websocket.WebSocketException) as error:
            raise BrowserError(f"Chromium went away during {method}: {error}", reason=Reason.BROWSER_CRASHED) from error
        if "error" in message:
            raise BrowserError(f"Chromium refused {method}: {message['error'].get('message')}")
        answer: dict[str, Any] = message["result"]
        return answer

    def close(self) -> None:
        with contextlib.suppress(OSError, websocket.WebSocketException):
            self._line.close(timeout=0)
