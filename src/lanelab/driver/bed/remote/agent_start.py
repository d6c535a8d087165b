"""How the agent starts a process, on pipes or on a terminal of its own. Standard library only, like the agent."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Sequence
from typing import Any, NamedTuple


class Started(NamedTuple):
    """A process, and our ends of its streams: non-blocking where we write; (stream, descriptor) where we read."""

    pid: int
    input_fd: int
    outputs: list[tuple[int, int]]


def start_on_pipes(argv: list[str], environment: dict[str, str], folder: str | None, *, with_input: bool) -> Started:
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE if with_input else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment,
        cwd=folder,
    )
    input_fd = -1
    if process.stdin:
        input_fd = os.dup(process.stdin.fileno())
        os.set_blocking(input_fd, False)
        process.stdin.close()
    return Started(_detached(process), input_fd, _pipes(process))


def start_on_terminal(
    argv: list[str], environment: dict[str, str], folder: str | None, size: tuple[int, int], *, stderr_apart: bool
) -> Started:
    process, ours = popen_on_terminal(
        argv,
        size,
        stderr=subprocess.PIPE if stderr_apart else None,
        preexec_fn=take_terminal,
        env=environment,
        cwd=folder,
    )
    input_fd = os.dup(ours)
    os.set_blocking(input_fd, False)
    return Started(_detached(process), input_fd, [(1, ours), *_pipes(process)])


def popen_on_terminal(
    argv: Sequence[str],
    size: tuple[int, int],
    *,
    stderr: int | None,
    **options: Any,  # noqa: ANN401 - of Popen
) -> tuple[subprocess.Popen[bytes], int]:
    """Start a command on a new terminal; the process and our end of the terminal. `stderr`: None is the terminal. The
    command, or what becomes it, must call `take_terminal`."""
    ours, theirs = pty.openpty()
    try:
        set_size(ours, *size)
        process = subprocess.Popen(
            argv,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs if stderr is None else stderr,
            start_new_session=True,
            **options,
        )
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    return process, ours


def take_terminal() -> None:
    """Make stdin the terminal of this session. Between fork and exec only where the parent has one thread."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def set_size(terminal: int, rows: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _detached(process: subprocess.Popen[bytes]) -> int:
    """The agent reaps by itself: as a kernel's first process it gets orphans too."""
    process.returncode = 0
    return process.pid


def _pipes(process: subprocess.Popen[bytes]) -> list[tuple[int, int]]:
    """Copies that live on when `process` is forgotten."""
    pipes = []
    for stream, pipe in ((1, process.stdout), (2, process.stderr)):
        if pipe:
            pipes.append((stream, os.dup(pipe.fileno())))
            pipe.close()
    return pipes
