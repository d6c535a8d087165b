"""One Chromium: started with exactly our flags, reached through its own DevTools, killed by its handle."""

from __future__ import annotations

import collections
import contextlib
import os
import re
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from driver.bed.node import Command, Node, Process, Stdio
from driver.browser.chromium.devtools import START_TIMEOUT_S, DevTools
from driver.browser.failures import BrowserError
from driver.timeouts import scaled
from model.reasons import Reason

LISTENING = re.compile(r"DevTools listening on ws://[^/]*:(\d+)(/\S+)")
LAST_WORDS = 5
USUAL = ("/dbus/", ":dbus/", "DevTools listening")  # a bed has no message bus, which it goes on about
# A browser has finished starting when it used no processor time in this many looks, one after the other. The kernel
# counts that time in steps of 10 ms, so a single look would prove little.
QUIET_LOOKS = 3
QUIET_S = 0.001
LOOK_EVERY_S = 0.02
# How each process of Chromium says whether it is confined: system call filter, and a process namespace of its own.
CONFINEMENT = 'for p in "$@"; do echo "$p"; grep -E "^(Seccomp|NSpid):" "/proc/$p/status"; done'


class Chromium:
    """A browser process and everything below it."""

    def __init__(self, node: Node, argv: Sequence[str], env: Mapping[str, str]) -> None:
        self._node = node
        self._last_lines: collections.deque[str] = collections.deque(maxlen=LAST_WORDS)
        self._listening = threading.Event()
        self._line: tuple[int, str] | None = None
        self._devtools: DevTools | None = None
        reading, stderr = os.pipe()
        try:
            self._process: Process = node.spawn(Command(argv, env), Stdio(stderr=stderr))
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(stderr)
        threading.Thread(target=self._listen, args=(reading,), name="chromium-stderr", daemon=True).start()
        try:
            self.port = self._connect()
        except BaseException:
            self.kill()
            raise

    def _connect(self) -> int:
        self._listening.wait(scaled(START_TIMEOUT_S))
        if self._line is None:
            raise BrowserError(f"Chromium did not start: {self.last_words()}", "Run it by hand to see why")
        port, path = self._line
        self._devtools = DevTools(self._node, port, path)
        return port

    @property
    def endpoint(self) -> tuple[int, str]:
        """Port and path of its DevTools, for a conversation of one's own."""
        if self._line is None:
            raise BrowserError("this Chromium was never reached")
        return self._line

    @property
    def devtools(self) -> DevTools:
        if self._devtools is None:
            raise BrowserError("this Chromium was never reached")
        return self._devtools

    def another_devtools(self) -> DevTools:
        """A connection of its own, for whoever listens to events."""
        if self._line is None:
            raise BrowserError("this Chromium was never reached")
        return DevTools(self._node, *self._line)

    def _listen(self, stderr: int) -> None:
        """To the end, so that it never waits for us to read."""
        with os.fdopen(stderr, errors="replace") as lines:
            for line in lines:
                if line.strip() and not any(words in line for words in USUAL):
                    self._last_lines.append(line.strip())
                match = LISTENING.search(line)
                if match and self._line is None:
                    self._line = int(match[1]), match[2]
                    self._listening.set()
        self._listening.set()

    def last_words(self) -> str:
        return "; ".join(self._last_lines) or "it said nothing"

    def processes(self) -> list[dict[str, Any]]:
        """type, id (as the browser's process namespace counts) and cpuTime of each."""
        listed: list[dict[str, Any]] = self.devtools.call("SystemInfo.getProcessInfo")["processInfo"]
        return listed

    def settle(self, limit_s: float) -> float:
        """Wait until it has finished starting, or for that long; how long it took. Else the first load would compete
        with what a browser does in its first second: on two processors that added up to 0.3 s to a page load."""
        started = time.monotonic()
        used, quiet = self._used(), 0
        while quiet < QUIET_LOOKS and time.monotonic() - started < limit_s:
            time.sleep(LOOK_EVERY_S)
            before, used = used, self._used()
            quiet = quiet + 1 if used - before <= QUIET_S else 0
        return time.monotonic() - started

    def _used(self) -> float:
        return sum(float(process["cpuTime"]) for process in self.processes())

    def sandboxed(self) -> bool:
        """Whether every renderer really is confined, as the kernel tells."""
        renderers = [str(process["id"]) for process in self.processes() if process["type"] == "renderer"]
        if not renderers:
            return False
        lines = self._node.run(["sh", "-c", CONFINEMENT, "sh", *renderers], check=False).stdout.splitlines()
        filtered = sum(line.split() == ["Seccomp:", "2"] for line in lines)
        apart = sum(line.startswith("NSpid:") and len(line.split()) > 2 for line in lines)
        return filtered == apart == len(renderers)

    def ended(self, within_s: float = 0.0) -> bool:
        try:
            self._process.wait(within_s)
        except TimeoutError:
            return False
        return True

    def leave(self, timeout_s: float) -> None:
        """End it politely, so that it finishes its files; at the latest after that time."""
        with contextlib.suppress(BrowserError, TimeoutError):
            self.devtools.call("Browser.close", timeout_s)
            self._process.wait(timeout_s)
        self.kill()

    def kill(self) -> None:
        """At once: nothing in its folder is needed any more."""
        self._process.signal(9)
        with contextlib.suppress(TimeoutError):
            self._process.wait(5)
        if self._devtools:
            self._devtools.close()

    def require_alive(self) -> None:
        if self.ended():
            raise BrowserError(f"Chromium has ended: {self.last_words()}", reason=Reason.BROWSER_CRASHED)
