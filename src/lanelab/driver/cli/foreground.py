"""Waiting for a command in the bed as if it ran here: terminal, signals, exit status."""

import contextlib
import os
import queue
import signal
import sys
import termios
import threading
import tty
from collections.abc import Callable, Iterator
from types import FrameType

from lanelab.driver.api.hand_bed import Process, Terminal
from lanelab.driver.base.errors import LanelabError

Start = Callable[[Terminal | None], Process]


def wait_in_foreground(start: Start, *, terminal: bool = True) -> int:
    """Start a command and wait for it. On a terminal it gets one of its own. Ctrl-C goes to the command; a second one
    ends the bed. The status is as a shell counts it."""
    on_terminal = terminal and sys.stdin.isatty() and sys.stdout.isatty()
    # Raw before the command can say anything: a terminal that is not would change its words.
    with _raw_terminal() if on_terminal else _nothing():
        process = start(_size() if on_terminal else None)
        with _signals_to(process, on_terminal=on_terminal):
            status = process.wait()
    return status if status >= 0 else 128 - status


def _size() -> Terminal:
    columns, rows = os.get_terminal_size()
    return Terminal(rows, columns)


@contextlib.contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextlib.contextmanager
def _raw_terminal() -> Iterator[None]:
    """Keys go to the command as they are, Ctrl-C too: its own terminal makes signals of them."""
    before = termios.tcgetattr(0)
    stopping = signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # or we stop here when in the background
    try:
        tty.setraw(0)
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        signal.signal(signal.SIGTTOU, stopping)


@contextlib.contextmanager
def _signals_to(process: Process, *, on_terminal: bool) -> Iterator[None]:
    """Pass signals on, in a thread: a handler must not wait, and the channel may."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    interrupts = 0

    def arrived(number: int, _frame: FrameType | None) -> None:
        nonlocal interrupts
        if number == signal.SIGINT:
            interrupts += 1
            if interrupts > 1:
                raise KeyboardInterrupt
        elif number in (signal.SIGTERM, signal.SIGHUP):
            sys.exit(128 + number)
        waiting.put(number)

    def pass_on() -> None:
        while (number := waiting.get()) != 0:
            with contextlib.suppress(LanelabError, OSError):
                if number == signal.SIGWINCH:
                    process.resize(_size())
                else:
                    process.signal(number)

    numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, *([signal.SIGWINCH] if on_terminal else [])]
    # What we were started without, as by nohup or as a script's background job, stays ignored.
    watched = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, arrived) for number in watched}
    threading.Thread(target=pass_on, name="signals", daemon=True).start()
    try:
        yield
    finally:
        waiting.put(0)
        for number, handler in before.items():
            signal.signal(number, handler)
