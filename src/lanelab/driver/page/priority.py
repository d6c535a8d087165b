"""What is drawn runs only where no other process wants the processor: a load on this machine may not wait for a page.
But whoever reads a run holds a lock that its writer waits for, and is done with it at once: that has threads of its
own, since none comes back from where only idle processors run it. What such a thread starts, a thread or a program, is
like any other."""

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

THREADS = 2


def drawers() -> ThreadPoolExecutor:
    """Return threads for what may wait."""
    return ThreadPoolExecutor(THREADS, "drawer", initializer=_yield_processors)


def readers() -> ThreadPoolExecutor:
    """Return threads for what others wait for."""
    return ThreadPoolExecutor(THREADS, "reader")


def _yield_processors() -> None:
    with suppress(AttributeError, OSError):  # other systems than Linux have no such class
        os.sched_setscheduler(0, os.SCHED_IDLE | os.SCHED_RESET_ON_FORK, os.sched_param(0))  # of this thread
