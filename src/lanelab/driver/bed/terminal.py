"""A command on a terminal of its own, relayed to other descriptors."""

import contextlib
import os
import select
import subprocess
import sys
import threading
from collections.abc import Sequence

from lanelab.driver.base.writing import write_all
from lanelab.driver.bed.node import LocalProcess, Process, Stdio, Terminal
from lanelab.driver.bed.remote.agent_start import popen_on_terminal, set_size

# A new session's terminal can be taken only by the process itself, after fork; in a process with threads that
# must not be Python code. This small program does it and becomes the command.
BECOME_FOREGROUND = "import fcntl,os,sys,termios;fcntl.ioctl(0,termios.TIOCSCTTY,0);os.execvp(sys.argv[1],sys.argv[1:])"


class TerminalProcess(Process):
    """A local process with a terminal; a thread carries bytes between it and the descriptors of `stdio`."""

    def __init__(self, argv: Sequence[str], environment: dict[str, str], stdio: Stdio, size: Terminal) -> None:
        self._closing = threading.Lock()
        stderr = (subprocess.DEVNULL if stdio.stderr is None else stdio.stderr) if stderr_apart(stdio) else None
        popen, self._master = popen_on_terminal(
            [sys.executable, "-I", "-S", "-c", BECOME_FOREGROUND, *argv],
            (size.rows, size.columns),
            stderr=stderr,
            env=environment,
        )
        os.set_blocking(self._master, False)
        self._process = LocalProcess(popen)
        self._source = os.dup(stdio.stdin) if stdio.stdin is not None else -1
        self._sink = os.dup(stdio.stdout) if stdio.stdout is not None else os.open(os.devnull, os.O_WRONLY)
        self._unread = b""  # what the command has yet to take in
        self._relay = threading.Thread(target=self._carry, name="terminal", daemon=True)
        self._relay.start()

    def ended(self) -> bool:
        return self._process.ended()

    def wait(self, timeout_s: float | None = None) -> int:
        status = self._process.wait(timeout_s)
        self._relay.join(1)
        return status

    def signal(self, number: int) -> None:
        self._process.signal(number)

    def resize(self, terminal: Terminal) -> None:
        with self._closing, contextlib.suppress(OSError):
            set_size(self._master, terminal.rows, terminal.columns)

    def _carry(self) -> None:
        """One thread for both ways; input that the command does not read yet must not hold up its output."""
        try:
            while self._move():
                pass
        except (OSError, ValueError):
            return
        finally:
            with self._closing:
                for fd in (self._master, self._sink, self._source):
                    if fd >= 0:
                        os.close(fd)
                self._master = self._source = -1

    def _move(self) -> bool:
        """Wait, then carry a piece; False when the terminal's last process has ended, for which it says EIO."""
        sources = [self._master, *([self._source] if self._source >= 0 and not self._unread else [])]
        targets = [self._master] if self._unread else []
        readable, writable, _ = select.select(sources, targets, [], 0.5 if self.ended() else None)
        if self._master in readable:
            try:
                data = os.read(self._master, 65536)
            except OSError:
                data = b""
            write_all(self._sink, data)
            return bool(data)
        if writable:
            with contextlib.suppress(BlockingIOError):
                self._unread = self._unread[os.write(self._master, self._unread) :]
        elif self._source in readable:
            self._unread = self._read_source()
        return bool(readable or writable)

    def _read_source(self) -> bytes:
        try:
            data = os.read(self._source, 4096)
        except BlockingIOError:  # another reader was faster
            return b""
        except OSError:
            data = b""
        if not data:
            os.close(self._source)
            self._source = -1
        return data or b"\x04"


def stderr_apart(stdio: Stdio) -> bool:
    """Return whether a command on a terminal keeps its stderr to itself: what is redirected to a file belongs there."""
    return stdio.stderr is None or not os.isatty(stdio.stderr)
