"""What is drawn runs only where no other process wants the processor: a load on this machine may not wait for a page.
None comes back from there, and whatever such a thread starts, a thread or a program, is there with it: the kernel
resets other classes for who is started, this one not. So what others wait for has threads of its own, which are there
from the first moment: who reads a run holds a lock that its writer waits for, and a run that is begun measures."""

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier

THREADS = 2


def drawers() -> ThreadPoolExecutor:
    """Return threads for what may wait."""
    return ThreadPoolExecutor(THREADS, "drawer", initializer=_yield_processors)


def ordinary() -> ThreadPoolExecutor:
    """Return threads for what others wait for, of the class of who asks. A pool would begin them later, out of the
    thread that needs the first one."""
    pool, are_there = ThreadPoolExecutor(THREADS, "ordinary"), Barrier(THREADS + 1)
    for _ in range(THREADS):
        pool.submit(are_there.wait)
    are_there.wait()
    return pool


def _yield_processors() -> None:
    with suppress(AttributeError, OSError):  # other systems than Linux have no such class
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))  # of this thread
