"""The lines to browsers: an answer is awaited for its time and no longer, whatever else comes."""

import time
from collections.abc import Callable
from typing import Any

import pytest
import websocket

from lanelab.driver.arm.browsers.chromium.devtools import DevTools
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.arm.browsers.firefox.bidi import BiDi

WITHIN_S = 0.05
HANGS_S = 5.0


class TalkativeLine:
    """It has an event each time, and never an answer."""

    def __init__(self, _url: str, **_options: object) -> None:
        self._until = time.monotonic() + HANGS_S

    def settimeout(self, _seconds: float | None) -> None:
        pass

    def send(self, _data: str) -> None:
        pass

    def recv(self) -> str:
        assert time.monotonic() < self._until, "the answer is awaited for ever"
        return '{"type": "event", "method": "Network.dataReceived", "params": {}}'


class FakeNode:
    def connect(self, _host: str, _port: int, _timeout_s: float) -> TalkativeLine:
        return TalkativeLine("")


@pytest.mark.parametrize(
    ("connected", "words"),
    [
        (lambda node: DevTools(node, 1, "/"), "Chromium did not answer Some.method within 0.05 s"),
        (lambda node: BiDi(node, 1), "Firefox did not answer Some.method within 0.05 s"),
    ],
    ids=["devtools", "bidi"],
)
def test_an_answer_is_not_awaited_longer_because_events_come(
    connected: Callable[[Any], DevTools | BiDi], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "create_connection", TalkativeLine)
    line = connected(FakeNode())
    with pytest.raises(BrowserError, match=words):
        line.call("Some.method", timeout_s=WITHIN_S)
