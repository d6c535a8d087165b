"""The browser's own DevTools line, for what is not a page's: contexts, targets, processes."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import time
from pathlib import Path
from typing import Any

import websocket

from driver.bed.node import Command, Node, Stdio
from driver.browser.failures import BROWSER_CRASHED, BrowserError

RELAY = Path(__file__).with_name("relay.py")
START_TIMEOUT_S = 20.0


class Relay:
    """The way to ports of a node's loopback, through its management address."""

    def __init__(self, node: Node, address: str) -> None:
        self._address = address
        self._password = secrets.token_hex(16)
        stdin, self._life = os.pipe()
        said, stdout = os.pipe()
        try:
            # The program as an argument: another machine's node has no file of ours.
            argv = [*node.python, "-c", RELAY.read_text(), address]
            self._process = node.spawn(Command(argv), Stdio(stdin, stdout))
            os.write(self._life, f"{self._password}\n".encode())
        finally:
            os.close(stdin)
            os.close(stdout)
        with os.fdopen(said) as lines:
            word = lines.readline().strip()
        if not word.isdigit():
            raise BrowserError(f"on {node.name}, the relay to Chromium's DevTools did not start at {address}")
        self._port = int(word)

    def connect(self, port: int) -> socket.socket:
        line = socket.create_connection((self._address, self._port), timeout=START_TIMEOUT_S)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line.sendall(f"{self._password} {port}\n".encode())
        return line

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._life)
        self._process.signal(9)


class DevTools:
    """A conversation with a browser: one question at a time, events are passed over."""

    def __init__(self, relay: Relay, port: int, path: str) -> None:
        self._number = 0
        try:
            self._line = websocket.create_connection(
                f"ws://127.0.0.1:{port}{path}", socket=relay.connect(port), suppress_origin=True
            )
        except (OSError, websocket.WebSocketException) as error:
            raise BrowserError(f"cannot reach Chromium's DevTools at port {port}: {error}") from error

    def call(self, method: str, timeout_s: float = 10.0, **parameters: object) -> dict[str, Any]:
        """The answer. Raises BrowserError when the browser says no, is gone or is silent for too long."""
        self._number += 1
        until = time.monotonic() + timeout_s
        try:
            self._line.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
            while True:
                self._line.settimeout(max(until - time.monotonic(), 0.001))
                said = json.loads(self._line.recv())
                if said.get("id") == self._number:
                    break
        except websocket.WebSocketTimeoutException as error:
            raise BrowserError(f"Chromium did not answer {method} within {timeout_s:g} s") from error
        except (OSError, ValueError, websocket.WebSocketException) as error:
            raise BrowserError(f"Chromium went away during {method}: {error}", reason=BROWSER_CRASHED) from error
        if "error" in said:
            raise BrowserError(f"Chromium refused {method}: {said['error'].get('message')}")
        answer: dict[str, Any] = said["result"]
        return answer

    def close(self) -> None:
        with contextlib.suppress(OSError, websocket.WebSocketException):
            self._line.close(timeout=0)
