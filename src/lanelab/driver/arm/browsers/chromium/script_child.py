"""The process of a user's own script: it has a Selenium driver whose commands the bed carries out, and marks its steps.

It is started as a file, and imports nothing of lanelab: a script may do what it likes with its own process, and the bed
sees no more of it than commands, marks and its end. docs/reference/journeys.md says what a script may use.
"""

import ctypes
import faulthandler
import json
import linecache
import os
import signal
import socket
import sys
import traceback
from types import TracebackType
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.remote_connection import RemoteConnection

PR_SET_PDEATHSIG = 1
NOWHERE = "http://127.0.0.1:9"  # Selenium wants an address, and nothing is sent there


class Line:
    """The way to the bed: a question, then its answer. Each is a line of JSON."""

    def __init__(self, descriptor: int) -> None:
        self._stream = socket.socket(fileno=descriptor).makefile("rw", encoding="utf-8")

    def receive(self) -> Any:  # noqa: ANN401 - what JSON has
        text = self._stream.readline()
        if not text:
            os._exit(1)  # the bed is gone
        return json.loads(text)

    def say(self, message: object) -> None:
        self._stream.write(f"{json.dumps(message)}\n")
        self._stream.flush()

    def ask(self, message: object) -> Any:  # noqa: ANN401
        self.say(message)
        answer = self.receive()
        if "refused" in answer:
            raise WebDriverException(answer["refused"])
        return answer["answer"]


class Relay(RemoteConnection):
    """Selenium's way to a browser, by the bed."""

    def __init__(self, line: Line) -> None:
        super().__init__(client_config=ClientConfig(NOWHERE))
        self._line = line

    def execute(self, command: str, params: Any) -> Any:  # noqa: ANN401 - Selenium's own
        return self._line.ask({"execute": [command, params]})


class Driver(webdriver.Remote):
    """A driver of the session that the bed has."""

    def __init__(self, line: Line, session: str, capabilities: dict[str, Any]) -> None:
        self._known = session, capabilities
        super().__init__(Relay(line), options=Options())

    def start_session(self, _capabilities: dict[str, Any]) -> None:
        self.session_id, self.caps = self._known

    def quit(self) -> None:
        """Do nothing: the browser is the trial's, which ends it."""


class Steps:
    """`step` of a script."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._open: Step | None = None

    def __call__(self, name: str) -> "Step":
        if self._open and self._open.is_block:
            raise RuntimeError(f"step({name!r}) is within step({self._open.name!r}), which has not ended")
        self.end()
        self._line.ask({"begin": name})
        self._open = Step(self, name)
        return self._open

    def end(self) -> None:
        if self._open:
            self._open = None
            self._line.ask({"end": True})


class Step:
    """A step that has begun. As a block it ends with the block, else when the next one begins or the script ends."""

    def __init__(self, steps: Steps, name: str) -> None:
        self.name, self.is_block, self._steps = name, False, steps

    def __enter__(self) -> "Step":
        self.is_block = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._steps.end()


def main() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(sys.argv[2]):
        os._exit(1)  # the bed ended before
    faulthandler.register(signal.SIGUSR1)  # whoever ends a script that takes too long asks where it is
    line = Line(int(sys.argv[1]))
    start = line.receive()
    name, text = start["name"], start["text"]
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    steps = Steps(line)
    driver = Driver(line, start["session"], start["capabilities"])
    names = {"__name__": "__main__", "__file__": name, "driver": driver, "step": steps}
    try:
        run_text(text, name, names | {"url": start["url"], "pages": start["pages"]})
        steps.end()
    except BaseException as error:  # noqa: BLE001 - whatever it is, it ends the script
        line.say({"failed": _words(error), "line": _line_of(error, name), "of_driver": _is_of_driver(error)})
    else:
        line.say({"done": True})


def run_text(text: str, name: str, names: dict[str, object]) -> None:
    """Run the script's text. One that ends by `sys.exit()` has come to its end."""
    try:
        exec(compile(text, name, "exec"), names)  # noqa: S102 - what it is for
    except SystemExit as end:
        if end.code not in (None, 0):
            raise


def _words(error: BaseException) -> str:
    words = str(getattr(error, "msg", None) or error).strip().splitlines()
    return f"{type(error).__name__}: {words[0]}" if words else type(error).__name__


def _line_of(error: BaseException, name: str) -> int | None:
    """Return the script's line that was under way."""
    if isinstance(error, SyntaxError) and error.filename == name:
        return error.lineno
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == name]
    return lines[-1] if lines else None


def _is_of_driver(error: BaseException) -> bool:
    return isinstance(error, WebDriverException)


if __name__ == "__main__":
    main()
