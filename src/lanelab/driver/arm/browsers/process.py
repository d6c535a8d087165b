"""A browser's process: started with exactly our arguments, its words read to the end, killed by its handle."""

import collections
import contextlib
import os
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Command, Node, Process, Stdio
from lanelab.driver.record.reasons import Reason

LAST_WORDS = 5
QUIET_LOOKS = 3  # one after the other, in which a browser that has finished starting used (nearly) no processor


class BrowserProcess(ABC):
    """A browser process and everything below it."""

    title: str
    listening: re.Pattern[str]  # what it says on stderr once it can be reached
    usual: tuple[str, ...]  # what it says that tells nothing
    starts_within_s: float
    look_every_s: float

    def __init__(self, node: Node, argv: Sequence[str], env: Mapping[str, str]) -> None:
        self._node = node
        self._last_lines: collections.deque[str] = collections.deque(maxlen=LAST_WORDS)
        self._heard = threading.Event()
        self._place: re.Match[str] | None = None
        reading, stderr = os.pipe()
        try:
            self._process: Process = node.spawn(Command(argv, env), Stdio(stderr=stderr))
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(stderr)
        threading.Thread(target=self._listen, args=(reading,), name="browser-stderr", daemon=True).start()
        try:
            self._await_place()
            self._connect()
        except BaseException:
            self.kill()
            raise

    @abstractmethod
    def _connect(self) -> None:
        """Reach it, at `place`."""

    @abstractmethod
    def _disconnect(self) -> None:
        """It is killed; it may never have been reached."""

    @abstractmethod
    def _ask_to_leave(self, timeout_s: float) -> None:
        """Raises BrowserError."""

    @abstractmethod
    def _used_s(self) -> float:
        """Return the processor time that it has used."""

    @abstractmethod
    def _quiet_s(self, looked_s: float) -> float:
        """Return the most processor time that a browser which has finished starting uses between two looks."""

    @property
    def place(self) -> re.Match[str]:
        """The place where it can be reached, as `listening` matches it."""
        if self._place is None:
            raise self._never_reached()
        return self._place

    @property
    def port(self) -> int:
        return int(self.place[1])

    def _await_place(self) -> None:
        self._heard.wait(scaled(self.starts_within_s))
        if self._place is None:
            raise BrowserError(f"{self.title} did not start: {self.last_words()}", "Run it by hand to see why")

    def _never_reached(self) -> BrowserError:
        return BrowserError(f"this {self.title} was never reached")

    def _listen(self, stderr: int) -> None:
        """Listen to the end, so that it never waits for us to read."""
        with os.fdopen(stderr, errors="replace") as lines:
            for line in lines:
                if line.strip() and not any(words in line for words in self.usual):
                    self._last_lines.append(line.strip())
                match = self.listening.search(line)
                if match and self._place is None:
                    self._place = match
                    self._heard.set()
        self._heard.set()

    def last_words(self) -> str:
        return "; ".join(self._last_lines) or "it said nothing"

    def settle(self, limit_s: float, *, was_quiet: bool = False) -> float:
        """Wait until it has finished starting, or for that long; how long it took. Else the first load would compete
        with what a browser does in its first second: on two processors that added up to 0.3 s to a page load. Where it
        `was_quiet` before, one look tells whether it still is."""
        started = looked = time.monotonic()
        used_s, quiet = self._used_s(), QUIET_LOOKS - 1 if was_quiet else 0
        while quiet < QUIET_LOOKS and time.monotonic() - started < limit_s:
            time.sleep(self.look_every_s)
            before_s, used_s = used_s, self._used_s()
            now = time.monotonic()
            quiet = quiet + 1 if used_s - before_s <= self._quiet_s(now - looked) else 0
            looked = now
        return time.monotonic() - started

    def ended(self, within_s: float = 0.0) -> bool:
        try:
            self._process.wait(within_s)
        except TimeoutError:
            return False
        return True

    def require_alive(self) -> None:
        if self.ended():
            raise BrowserError(f"{self.title} has ended: {self.last_words()}", reason=Reason.BROWSER_CRASHED)

    def leave(self, timeout_s: float) -> None:
        """End it politely, so that it finishes its files; at the latest after that time."""
        with contextlib.suppress(BrowserError, TimeoutError):
            self._ask_to_leave(timeout_s)
            self._process.wait(timeout_s)
        self.kill()

    def kill(self) -> None:
        """At once: nothing in its folder is needed any more."""
        self._process.signal(9)
        with contextlib.suppress(TimeoutError):
            self._process.wait(5)
        self._disconnect()
