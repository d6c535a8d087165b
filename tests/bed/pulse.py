"""Checks of what is told of a router that answers late; test_pulse.py runs them."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from lanelab.driver.bed.node import Command, Stdio
from lanelab.driver.record.evidence.capture import RouterStall
from tests.kit.inside import InsideBed, main

MOST_US = 20_000
BUSY, OTHERS = "while True: pass", 12


def processes(bed: InsideBed) -> list[int]:
    """Of the router: its kernel, and below it its programs."""
    (kernel,) = [pid for pid in _children(os.getpid()) if Path(f"/proc/{pid}/comm").read_text().startswith("linux.uml")]
    assert bed.substrate.router.kind == "uml"
    return [kernel, *_children(kernel)]


def _children(pid: int) -> list[int]:
    return [int(word) for path in Path(f"/proc/{pid}/task").glob("*/children") for word in path.read_text().split()]


@contextlib.contextmanager
def starved(pids: list[int]) -> Iterator[None]:
    """They share one processor with programs that are always ready to run, each in a scheduling group of its own."""
    cpu = min(os.sched_getaffinity(0))
    for pid in pids:
        os.sched_setaffinity(pid, {cpu})
    with contextlib.ExitStack() as stack:
        for _ in range(OTHERS):
            other = subprocess.Popen([sys.executable, "-I", "-c", BUSY], start_new_session=True)
            stack.enter_context(other)
            stack.callback(other.kill)
            os.sched_setaffinity(other.pid, {cpu})
        yield


def watched(bed: InsideBed, seconds: float) -> tuple[RouterStall, ...]:
    pulse = bed.substrate.router.pulse()
    assert pulse is not None
    pulse.begin()
    time.sleep(seconds)  # a load: that long the router is watched
    return pulse.end()


def a_router_that_waits_for_a_processor_does_not_stand_still(bed: InsideBed) -> None:
    """Its kernel or one of its programs, wherever in its waits the load ends."""
    program = bed.node("router").spawn(Command(["sh", "-c", "while :; do :; done"]), Stdio())
    try:
        with starved(processes(bed)):
            stalls = [stall for _ in range(20) for stall in watched(bed, 0.1)]
    finally:
        program.signal(signal.SIGKILL)
        program.wait(10)
    assert sum(each.to_us - each.from_us for each in stalls) > 5 * MOST_US, "it was not starved"
    assert sum(each.stood_us for each in stalls) < MOST_US, stalls


def a_router_that_is_stopped_stands_still(bed: InsideBed) -> None:
    """Also where the load ends meanwhile."""
    kernel = processes(bed)[0]
    going_on = threading.Timer(0.3, os.kill, (kernel, signal.SIGCONT))
    pulse = bed.substrate.router.pulse()
    assert pulse is not None
    pulse.begin()
    time.sleep(0.1)  # a load that runs,
    os.kill(kernel, signal.SIGSTOP)
    going_on.start()
    time.sleep(0.1)  # and ends while the router stands
    stalls = pulse.end()
    going_on.join()
    assert sum(each.stood_us for each in stalls) > 200_000, stalls


CHECKS = (
    a_router_that_is_stopped_stands_still,
    a_router_that_waits_for_a_processor_does_not_stand_still,
)

if __name__ == "__main__":
    main(*CHECKS)
