"""Chromium's own tracing of one load, over a DevTools connection of its own: started before it, ended after it.

The events come as one stream of JSON, which Perfetto and the performance panel of DevTools open.
"""

import base64
import time
from typing import NotRequired, TypedDict

from lanelab.driver.arm.browsers.chromium.devtools import DevTools, InSession
from lanelab.driver.arm.browsers.failures import BrowserError, read_answer
from lanelab.driver.base.timeouts import scaled

# Tasks of the main thread, what they were for, and the moments of the load. More categories make loads slower.
CATEGORIES = ("devtools.timeline", "disabled-by-default-devtools.timeline", "blink.user_timing")
SCREENSHOTS = "disabled-by-default-devtools.screenshot"
COMPLETE = "Tracing.tracingComplete"
ENDS_WITHIN_S = 20.0
BUFFER_KB = 64 * 1024


class Complete(TypedDict):
    """The parameters of Tracing.tracingComplete."""

    dataLossOccurred: NotRequired[bool]
    stream: NotRequired[str]


class Part(TypedDict):
    """The answer to IO.read."""

    data: str
    base64Encoded: NotRequired[bool]
    eof: bool


class Tracing:
    """A trace that runs until `end`."""

    def __init__(self, devtools: DevTools, target: str, *, screenshots: bool) -> None:
        """Keep `devtools`, a connection of its own that is closed at the end, and `target`: a trace has pictures of
        this page alone."""
        self._devtools = devtools
        included = [*CATEGORIES, *([SCREENSHOTS] if screenshots else [])]
        settings = {
            "recordMode": "recordUntilFull",
            "traceBufferSizeInKb": BUFFER_KB,
            "includedCategories": included,
            "excludedCategories": ["*"],
        }
        try:
            attached = devtools.ask(InSession, "Target.attachToTarget", targetId=target, flatten=True)
            self._session = attached["sessionId"]
            stream = "ReturnAsStream"
            devtools.call(
                "Tracing.start", self._session, transferMode=stream, streamFormat="json", traceConfig=settings
            )
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
            complete = read_answer(Complete, message.get("params"), COMPLETE)
            if complete.get("dataLossOccurred"):
                raise BrowserError("Chromium's trace lost events: its buffer was full", "Trace a smaller page")
            handle = complete.get("stream")
            if not handle:
                raise BrowserError("Chromium gave no trace")
            return self._stream(handle)
        finally:
            self.close()

    def _stream(self, handle: str) -> bytes:
        parts: list[bytes] = []
        while True:
            part = self._devtools.ask(Part, "IO.read", self._session, handle=handle, size=1 << 20)
            text = part["data"]
            parts.append(base64.b64decode(text) if part.get("base64Encoded") else text.encode())
            if part["eof"]:
                return b"".join(parts)

    def close(self) -> None:
        self._devtools.close()
