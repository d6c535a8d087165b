"""A user's own script beside a page: its process, its commands for the browser, the marks of its steps."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Protocol

from lanelab.driver.arm.browsers.browser import ScriptAsked
from lanelab.driver.arm.browsers.chromium.chromedriver import reason_of
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.record.reasons import Reason

CHILD = Path(__file__).with_name("script_child.py")
WHERE_WITHIN_S = 0.5  # a process that is asked where it is says so at once
LONGEST_LINE = 64 << 20
# Commands of WebDriver that would take from the record what it has, or end what is not the script's.
REFUSED = {
    "close": "a script cannot close its page: the trial has no other",
    "quit": "a script cannot end its browser: the trial does",
    "newSession": "a script has one browser: `driver`",
    "newWindow": "a script has one page: what others do is not recorded",
    "switchToWindow": "a script has one page: what others do is not recorded",
    "getLog": "the browser's logs are the trial's record: what a script reads would be missing there",
    "executeCdpCommand": "a script cannot use DevTools: the trial's record and its settings depend on it",
    "setNetworkConditions": "the link is the experiment's: see its links",
    "deleteNetworkConditions": "the link is the experiment's: see its links",
}


class Carrier(Protocol):
    """The session that carries out commands. Raises BrowserError where it cannot be reached."""

    session_id: str | None
    caps: dict[str, Any]

    def carry_out(self, command: str, parameters: dict[str, Any]) -> Any: ...  # noqa: ANN401 - Selenium's own words


class Marks(Protocol):
    """A page that is told of steps. Both raise BrowserError."""

    def step_begins(self, name: str) -> None: ...

    def step_ends(self) -> None: ...


def follow(script: ScriptAsked, session: Carrier, marks: Marks, timeout_s: float) -> None:
    """Let the script lead the page until it ends. Each step, and what is between two, may take so long. Raises
    BrowserError with the script's line for what the script does wrong."""
    run = _Run(script, session, marks, timeout_s)
    try:
        run.until_end()
    finally:
        run.close()


class _Run:
    def __init__(self, script: ScriptAsked, session: Carrier, marks: Marks, timeout_s: float) -> None:
        self._script, self._session, self._marks = script, session, marks
        self._timeout_s = timeout_s
        self._until = time.monotonic() + timeout_s
        self._step = ""
        self._left = list(script.steps)
        self._buffer = bytearray()
        self._output = os.memfd_create("script")
        self._here, there = socket.socketpair()
        with there:
            descriptor = there.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(CHILD), str(descriptor), str(os.getpid())],
                pass_fds=[descriptor], stdin=subprocess.DEVNULL, stdout=self._output, stderr=self._output,
                start_new_session=True,
            )  # fmt: skip

    def until_end(self) -> None:
        script = self._script
        about = {"name": script.name, "text": script.text, "url": script.url, "pages": dict(script.pages)}
        self._say({**about, "session": self._session.session_id, "capabilities": self._session.caps})
        while "done" not in (message := self._receive()):
            if "failed" in message:
                raise self._failed(message)
            self._say(self._answer(message))
        if self._left:
            raise self._error(f"it ended without its step {self._left[0]}")

    def _answer(self, message: dict[str, Any]) -> dict[str, object]:
        if "execute" in message:
            command, parameters = message["execute"]
            if command in REFUSED:
                return {"refused": REFUSED[command]}
            return {"answer": self._session.carry_out(command, parameters or {})}
        if "begin" in message:
            name = message["begin"]
            if not self._left or name != self._left[0]:
                wanted = f"its next step is {self._left[0]}" if self._left else "it has had all of its steps"
                raise self._error(f"it begins the step {name!r}, and by its text {wanted}")
            self._marks.step_begins(self._left.pop(0))
            self._step = name
        else:
            self._marks.step_ends()
            self._step = ""
        self._until = time.monotonic() + self._timeout_s
        return {"answer": None}

    def _say(self, message: object) -> None:
        with contextlib.suppress(OSError):  # a process that is gone shows when it is listened to
            self._here.settimeout(self._timeout_s)
            self._here.sendall(f"{json.dumps(message)}\n".encode())

    def _receive(self) -> dict[str, Any]:
        while b"\n" not in self._buffer:
            try:
                self._here.settimeout(max(0.001, self._until - time.monotonic()))
                piece = self._here.recv(1 << 16)
            except TimeoutError:
                raise self._late() from None
            except OSError:
                piece = b""
            if not piece or len(self._buffer) > LONGEST_LINE:
                raise self._error(f"its process ended: {self._last_words()}")
            self._buffer += piece
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer = bytearray(rest)
        message: dict[str, Any] = json.loads(line)
        return message

    def _failed(self, message: dict[str, Any]) -> BrowserError:
        """What the browser's own driver says of a browser that is gone, or of a page that does not come, is no fault of
        the script's."""
        words = str(message["failed"])
        reason = _reason_of(words) if message["of_driver"] else Reason.SCRIPT_FAILED
        return self._error(words, message["line"], reason)

    def _late(self) -> BrowserError:
        """It takes too long: ask where it is."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGUSR1)
        until, line = time.monotonic() + scaled(WHERE_WITHIN_S), None
        while line is None and time.monotonic() < until:
            time.sleep(0.02)
            places = re.findall(rf'File "{re.escape(self._script.name)}", line (\d+)', self._output_text())
            line = int(places[0]) if places else None
        place = f"its step {self._step}" if self._step else "what it does outside of its steps"
        return self._error(f"{place} was not over within {self._timeout_s:g} s", line, Reason.TIMEOUT)

    def _error(self, words: str, line: int | None = None, reason: Reason = Reason.SCRIPT_FAILED) -> BrowserError:
        place = f"{self._script.name}:{line}" if line else self._script.name
        return BrowserError(f"{place}: {words}", "Correct the script, or raise timeout", reason=reason)

    def _output_text(self) -> str:
        return os.pread(self._output, 1 << 20, 0).decode(errors="replace")

    def _last_words(self) -> str:
        return "; ".join(self._output_text().splitlines()[-3:]) or "it said nothing"

    def close(self) -> None:
        """End it, and what it may have started."""
        self._here.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._output)


def _reason_of(words: str) -> Reason:
    known = reason_of(words)
    return Reason.SCRIPT_FAILED if known is Reason.BROWSER_FAILED else known
