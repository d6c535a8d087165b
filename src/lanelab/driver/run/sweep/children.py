"""Processes of a sweep that end with the one that started them, however that ends."""

import contextlib
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, TypeVar

from lanelab.driver.base import configuration
from lanelab.driver.base.child_start import start_of
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import ClusterError
from lanelab.driver.base.paths import SOURCES

# Whatever Python's own settings in the user's environment.
START = start_of("lanelab.driver.run.sweep.children")
END_WITHIN_S = 10.0

Message = TypeVar("Message", bound=Coded)


class Child:
    """A process of ours. It is told its settings once, and says JSON lines."""

    def __init__(self, module: str, settings: Coded, log: Path) -> None:
        """`module` has `serve(settings: JSON)`. Keys are in the settings, so these go where no other user looks."""
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", START, str(SOURCES), module, str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **configuration.current().environment()},
                start_new_session=True,  # Ctrl-C on the terminal is for the one that started it
            )
        self._log = log
        with contextlib.suppress(BrokenPipeError), self._input() as pipe:  # its end is told by `next_said`
            pipe.write(json.dumps(settings.to_json()).encode() + b"\n")

    def _input(self) -> Any:  # noqa: ANN401 - of subprocess
        return self._process.stdin

    @property
    def pid(self) -> int:
        return self._process.pid

    def next_said(self, kind: type[Message]) -> Message | None:
        """Return what it says next; None once it has ended."""
        line = next(iter(self._process.stdout or ()), None)
        return None if line is None else kind.from_json(json.loads(line))

    def wait(self) -> int:
        """Return its status once it has ended."""
        return self._process.wait()

    def end(self, within_s: float = END_WITHIN_S) -> None:
        """Ask it to end, and see to it."""
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = self._log.read_text(errors="replace").strip().splitlines()
            return lines[-1][:200] if lines else ""
        return ""


class _Voice:
    """The way in which a child speaks. No program that it starts has that descriptor: one that outlived it would keep
    it open, and the child's end would not be seen."""

    fd = 1


def say(words: Coded) -> None:
    """Tell something to the process that started this one."""
    with contextlib.suppress(OSError):  # it does not listen any more, and we end soon
        os.write(_Voice.fd, json.dumps(words.to_json()).encode() + b"\n")


def end_with(pid: int) -> None:
    """End this process at once when that one ends, and with it all that watches this one: beds."""
    try:
        parent = os.pidfd_open(pid)
    except ProcessLookupError:
        os._exit(0)
    except OSError as error:
        what = f"this kernel does not let a process watch another (pidfd_open: {error.strerror})"
        raise ClusterError(what, "Use Linux 5.3 or later; a container must allow that system call") from error
    if os.getppid() != pid:  # it ended before, and its number may be another process's by now
        os._exit(0)

    def watch() -> None:
        select.select([parent], [], [])
        os._exit(0)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def main() -> None:
    """Run a child. Its arguments are the module, and the number of the process that started this one."""
    module, parent = sys.argv[1:3]
    signal.signal(signal.SIGINT, lambda *_: None)  # not SIG_IGN, which our commands would inherit
    _Voice.fd = os.dup(1)
    os.dup2(2, 1)
    end_with(int(parent))
    configuration.load()
    settings = json.loads(sys.stdin.buffer.readline())
    importlib.import_module(module).serve(settings)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # threads that still wait for something must not hold up the end
