"""Chromium's own tracing of one load, over a DevTools connection of its own: started before it, ended after it.

The events come as one stream of JSON, which Perfetto and the performance panel of DevTools open.
"""

import base64
import time
from typing import Any

from lanelab.driver.arm.browsers.chromium.devtools import ANSWER_TIMEOUT_S, DevTools
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.base.timeouts import scaled

# Tasks of the main thread, what they were for, and the moments of the load. More categories make loads slower.
CATEGORIES = ("devtools.timeline", "disabled-by-default-devtools.timeline", "blink.user_timing")
SCREENSHOTS = "disabled-by-default-devtools.screenshot"
COMPLETE = "Tracing.tracingComplete"
ENDS_WITHIN_S = 20.0
BUFFER_KB = 64 * 1024


class Tracing:
    """A trace that runs until `end`."""

    def __init__(self, devtools: DevTools, target: str, *, screenshots: bool) -> None:
        """Keep `devtools`, a connection of its own, which is closed at the end, and `target`, the page, of which alone
        there are pictures in a trace."""
        self._devtools = devtools
        included = [*CATEGORIES, *([SCREENSHOTS] if screenshots else [])]
        settings = {
            "recordMode": "recordUntilFull",
            "traceBufferSizeInKb": BUFFER_KB,
            "includedCategories": included,
            "excludedCategories": ["*"],
        }
        try:
            self._session: str = devtools.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            self._ask("Tracing.start", transferMode="ReturnAsStream", streamFormat="json", traceConfig=settings)
        except BrowserError:
            self.close()
            raise

    def stop(self) -> None:
        """Nothing that happens from here on is wanted. Does not wait."""
        self._devtools.post("Tracing.end", self._session)

    def read(self) -> bytes:
        """Return the events, as JSON, after `stop`."""
        try:
            until = time.monotonic() + scaled(ENDS_WITHIN_S)
            while True:
                message = self._devtools.receive(max(until - time.monotonic(), 0.001))
                if message.get("method") == COMPLETE:
                    break
            if message["params"].get("dataLossOccurred"):
                raise BrowserError("Chromium's trace lost events: its buffer was full", "Trace a smaller page")
            handle = message["params"].get("stream")
            if not handle:
                raise BrowserError("Chromium gave no trace")
            return self._stream(handle)
        finally:
            self.close()

    def _stream(self, handle: str) -> bytes:
        parts: list[bytes] = []
        while True:
            part = self._ask("IO.read", handle=handle, size=1 << 20)
            text = part.get("data", "")
            parts.append(base64.b64decode(text) if part.get("base64Encoded") else text.encode())
            if part.get("eof"):
                return b"".join(parts)

    def _ask(self, method: str, **parameters: object) -> dict[str, Any]:
        """The page's answer; events are passed over."""
        number = self._devtools.post(method, self._session, **parameters)
        until = time.monotonic() + scaled(ANSWER_TIMEOUT_S)
        while (message := self._devtools.receive(max(until - time.monotonic(), 0.001))).get("id") != number:
            pass
        if "error" in message:
            raise BrowserError(f"Chromium refused {method}: {message['error'].get('message')}")
        answer: dict[str, Any] = message["result"]
        return answer

    def close(self) -> None:
        self._devtools.close()
