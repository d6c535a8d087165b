"""What is drawn runs off the processors of beds, where there are others, and everywhere only where no other process
wants the processor: a load on this machine may not wait for a page.
None comes back from there, and whatever such a thread starts, a thread or a program, is there with it: the kernel
resets other classes for who is started, this one not. So what others wait for has threads of its own, which are there
from the first moment: who reads a run holds a lock that its writer waits for, and a run that is begun measures."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from threading import Barrier

from lanelab.driver.run.sweep.processors import processors_of_beds_here

THREADS = 2
LOOKS_EVERY_S = 5.0  # where beds are


def processors_to_draw(ours: frozenset[int], of_beds: frozenset[int]) -> frozenset[int]:
    """Return the processors where pages are drawn: those that no bed uses, or all where beds use all of them."""
    return ours - of_beds or ours


@dataclass(slots=True)
class Aside:
    """Keeps threads that draw off the processors of beds, which come and go."""

    _looked_at: float = float("-inf")
    _processors: frozenset[int] = frozenset()

    def step(self) -> None:
        """Move the thread that asks."""
        with suppress(AttributeError, OSError):  # other systems than Linux have no such thing
            if time.monotonic() - self._looked_at >= LOOKS_EVERY_S:
                ours = frozenset(os.sched_getaffinity(os.getpid()))
                self._processors = processors_to_draw(ours, processors_of_beds_here())
                self._looked_at = time.monotonic()
            os.sched_setaffinity(0, self._processors)  # of this thread


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
