"""A command on a terminal of its own, relayed to other descriptors."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterable, Sequence

from driver.bed.node import LocalProcess, Process, Stdio, Terminal

# A new session's terminal can be taken only by the process itself, after fork; in a process with threads that
# must not be Python code. This small program does it and becomes the command.
BECOME_FOREGROUND = "import fcntl,os,sys,termios;fcntl.ioctl(0,termios.TIOCSCTTY,0);os.execvp(sys.argv[1],sys.argv[1:])"


def set_size(fd: int, size: Terminal) -> None:
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", size.rows, size.columns, 0, 0))


class TerminalProcess(Process):
    """A local process with a terminal; a thread carries bytes between it and the descriptors of `stdio`."""

    def __init__(
        self, argv: Sequence[str], environment: dict[str, str], inherited: Iterable[int], stdio: Stdio, size: Terminal
    ) -> None:
        self._closing = threading.Lock()
        self._master, slave = pty.openpty()
        set_size(self._master, size)
        try:
            popen = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", BECOME_FOREGROUND, *argv],
                stdin=slave,
                stdout=slave,
                stderr=slave,
                env=environment,
                pass_fds=tuple(inherited),
                start_new_session=True,
            )
        except BaseException:
            os.close(self._master)
            raise
        finally:
            os.close(slave)
        self._process = LocalProcess(popen)
        self._source = os.dup(stdio.stdin) if stdio.stdin is not None else -1
        self._sink = os.dup(stdio.stdout) if stdio.stdout is not None else os.open(os.devnull, os.O_WRONLY)
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
            set_size(self._master, terminal)

    def _carry(self) -> None:
        watched = [self._master] + ([self._source] if self._source >= 0 else [])
        try:
            while self._master in watched:
                for fd in select.select(watched, [], [], 0.5 if self.ended() else None)[0] or [-1]:
                    if fd == -1 or not self._move(fd):
                        watched.remove(self._master if fd == -1 else fd)
        except (OSError, ValueError):
            return
        finally:
            with self._closing:
                for fd in (self._master, self._sink, self._source):
                    if fd >= 0:
                        os.close(fd)
                self._master = -1

    def _move(self, fd: int) -> bool:
        """Carry one piece; False at its end. A terminal whose last process has ended says EIO."""
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b""
        target = self._sink if fd == self._master else self._master
        if not data and fd == self._source:
            data = b"\x04"
            write_all(target, data)
            return False
        write_all(target, data)
        return bool(data)


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
