"""What Ctrl-C and SIGTERM mean to a command that runs trials. What they end is the session's own business."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from lanelab.driver.api import StopRequest
from lanelab.driver.base.errors import Interrupted, RunInterrupted


@contextmanager
def stopping() -> Iterator[StopRequest]:
    """The first signal lets the trial that is under way finish; the second one does not, nor does the first where there
    is nothing to finish."""
    stop, interrupted = StopRequest(), False

    def handle(_number: int, _frame: FrameType | None) -> None:
        nonlocal interrupted
        if stop.asked or not stop.under_way:
            interrupted = True
            for each in watched:  # ending takes a moment, in which another Ctrl-C would only do harm
                signal.signal(each, signal.SIG_IGN)
            raise KeyboardInterrupt
        stop.ask()

    numbers = [signal.SIGINT, signal.SIGTERM]
    watched = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, handle) for number in watched}
    try:
        yield stop
    except RunInterrupted as error:  # click would hide its words
        raise Interrupted(error.what, error.remedy) from error
    finally:
        for number, handler in before.items():
            if not interrupted:
                signal.signal(number, handler)
