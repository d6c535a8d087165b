"""One Firefox: started by us with a profile of ours, reached by WebDriver BiDi, killed by its handle."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import re
import threading
import time
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from driver.bed.node import Command, Node, Process, Stdio
from driver.browser.failures import BrowserError
from driver.browser.firefox.bidi import START_TIMEOUT_S, BiDi
from driver.timeouts import scaled
from model.reasons import Reason

LISTENING = re.compile(r"WebDriver BiDi listening on ws://[^/]*:(\d+)")
LAST_WORDS = 5
USUAL = ("headless mode", "WebDriver BiDi listening", "[GFX1-]", "dbus", "JavaScript error:", "console.")
# A browser has finished starting when it used little processor time in this many looks, one after the other.
QUIET_LOOKS = 3
QUIET_SHARE = 0.10  # of one processor; to be asked costs it some
LOOK_EVERY_S = 0.1
CONFINEMENT = 'for p in "$@"; do grep -E "^Seccomp:" "/proc/$p/status"; done'


class Firefox:
    """A browser process and everything below it."""

    def __init__(self, node: Node, argv: Sequence[str], env: Mapping[str, str]) -> None:
        self._node = node
        self._last_lines: collections.deque[str] = collections.deque(maxlen=LAST_WORDS)
        self._listening = threading.Event()
        self._port: int | None = None
        self._bidi: BiDi | None = None
        self._window = ""
        reading, stderr = os.pipe()
        try:
            self._process: Process = node.spawn(Command(argv, env), Stdio(stderr=stderr))
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(stderr)
        threading.Thread(target=self._listen, args=(reading,), name="firefox-stderr", daemon=True).start()
        try:
            self._connect()
        except BaseException:
            self.kill()
            raise

    def _connect(self) -> None:
        self._listening.wait(scaled(START_TIMEOUT_S))
        if self._port is None:
            raise BrowserError(f"Firefox did not start: {self.last_words()}", "Run it by hand to see why")
        self._bidi = BiDi(self._node, self._port)
        self._bidi.call("session.new", capabilities={"alwaysMatch": {}})
        own: dict[str, Any] = {"moz:scope": "chrome"}
        windows = self._bidi.call("browsingContext.getTree", None, **own)["contexts"]
        self._window = windows[0]["context"]

    @property
    def bidi(self) -> BiDi:
        if self._bidi is None:
            raise BrowserError("this Firefox was never reached")
        return self._bidi

    def watch(self, settings: Mapping[str, object]) -> None:
        """Have it note its requests, and find the site's names, from here on."""
        script = resources.files("driver.browser.firefox").joinpath("watch.js").read_text()
        self.inside(f"({script[script.index('async ({ hosts') :].strip()})({json.dumps(settings)})")

    def inside(self, expression: str, timeout_s: float | None = None) -> Any:  # noqa: ANN401 - JSON
        """The value of an expression in the browser's own scope."""
        return self.bidi.evaluate(self._window, expression, timeout_s=timeout_s)

    def page(self) -> str:
        """The tab that it came with."""
        context: str = self.bidi.call("browsingContext.getTree")["contexts"][0]["context"]
        return context

    def _listen(self, stderr: int) -> None:
        """To the end, so that it never waits for us to read."""
        with os.fdopen(stderr, errors="replace") as lines:
            for line in lines:
                if line.strip() and not any(words in line for words in USUAL):
                    self._last_lines.append(line.strip())
                match = LISTENING.search(line)
                if match and self._port is None:
                    self._port = int(match[1])
                    self._listening.set()
        self._listening.set()

    def last_words(self) -> str:
        return "; ".join(self._last_lines) or "it said nothing"

    def settle(self, limit_s: float) -> float:
        """Wait until it has finished starting, or for that long; how long it took. Else the first load would compete
        with what a browser does in its first seconds."""
        started = looked = time.monotonic()
        used, quiet = self._used(), 0
        while quiet < QUIET_LOOKS and time.monotonic() - started < limit_s:
            time.sleep(LOOK_EVERY_S)
            before, used = used, self._used()
            now = time.monotonic()
            quiet = quiet + 1 if used - before <= QUIET_SHARE * (now - looked) else 0
            looked = now
        return time.monotonic() - started

    def _used(self) -> float:
        return float(self.inside("lanelab.processes()")["used_s"])

    def sandboxed(self) -> bool:
        """Whether every process of pages really is confined, as the kernel tells."""
        pages = [str(each) for each in self.inside("lanelab.processes()")["pages"]]
        if not pages:
            return False
        lines = self._node.run(["sh", "-c", CONFINEMENT, "sh", *pages], check=False).stdout.splitlines()
        return len(pages) == sum(line.split() == ["Seccomp:", "2"] for line in lines)

    def ended(self, within_s: float = 0.0) -> bool:
        try:
            self._process.wait(within_s)
        except TimeoutError:
            return False
        return True

    def leave(self, timeout_s: float) -> None:
        """End it politely, so that it finishes its files; at the latest after that time."""
        with contextlib.suppress(BrowserError, TimeoutError):
            self.bidi.call("browser.close", timeout_s)
            self._process.wait(timeout_s)
        self.kill()

    def kill(self) -> None:
        """At once: nothing in its folder is needed any more."""
        self._process.signal(9)
        with contextlib.suppress(TimeoutError):
            self._process.wait(5)
        if self._bidi:
            self._bidi.close()

    def require_alive(self) -> None:
        if self.ended():
            raise BrowserError(f"Firefox has ended: {self.last_words()}", reason=Reason.BROWSER_CRASHED)
