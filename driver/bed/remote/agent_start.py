"""How the agent starts a process, on pipes or on a terminal of its own. Standard library only, like the agent."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from typing import NamedTuple


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
    ours, theirs = pty.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))

        def become_foreground() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        process = subprocess.Popen(
            argv,
            stdin=theirs,
            stdout=theirs,
            stderr=subprocess.PIPE if stderr_apart else theirs,
            start_new_session=True,
            preexec_fn=become_foreground,  # noqa: PLW1509 - this process has one thread
            env=environment,
            cwd=folder,
        )
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    input_fd = os.dup(ours)
    os.set_blocking(input_fd, False)
    return Started(_detached(process), input_fd, [(1, ours), *_pipes(process)])


def _detached(process: subprocess.Popen[bytes]) -> int:
    """The agent reaps by itself: as a kernel's first process it gets orphans too."""
    process.returncode = 0
    return process.pid


def _pipes(process: subprocess.Popen[bytes]) -> list[tuple[int, int]]:
    """Copies that live on when `process` is forgotten."""
    found = []
    for stream, pipe in ((1, process.stdout), (2, process.stderr)):
        if pipe:
            found.append((stream, os.dup(pipe.fileno())))
            pipe.close()
    return found
