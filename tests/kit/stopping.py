"""Stops programs of a test's bed for a while, beside a load: they get no processor, and nobody is told."""

import contextlib
import os
import signal
import threading
import time
from pathlib import Path

from tests.kit.bench import Bench

PROC = Path("/proc")
UNDER_WAY = """
came() { read -r bytes </sys/class/net/eth0/statistics/rx_bytes; }
came; until=$((bytes + 100000))
for n in $(seq 200); do came; [ $bytes -gt $until ] && break; sleep 0.05; done
"""


def stop_beside(bench: Bench, name: str, pause_s: float, *, times: int = 1, argument: str = "") -> None:
    """Programs of the bed whose name begins like this, with `argument` among their arguments; of the router the process
    that is its kernel. Once the load is under way they stand still for `pause_s`, so often, and run as long in
    between."""
    found = programs(bench, name, argument)
    assert found, name

    def stop() -> None:
        bench.run("client", UNDER_WAY)
        for _ in range(times):
            _signal(found, signal.SIGSTOP)
            time.sleep(pause_s)  # the stop
            _signal(found, signal.SIGCONT)
            time.sleep(pause_s)  # and the run between two

    threading.Thread(target=stop, name="stop").start()


def programs(bench: Bench, name: str, argument: str = "") -> list[int]:
    """Of the processes that a process like them started, only that one: a kernel's own programs."""
    marker = f"LANELAB_BED={bench.bed_name}".encode()
    named = {pid for pid in _all() if _read(pid, "comm").startswith(name.encode())}
    found = [pid for pid in named if argument.encode() in _read(pid, "cmdline") and _is_of(pid, marker)]
    return [pid for pid in found if name != "linux.uml" or _parent(pid) not in named]


def _is_of(pid: int, marker: bytes) -> bool:
    """Whether it or one above it was started for the bed."""
    while pid > 1:
        if marker in _read(pid, "environ").split(b"\0"):
            return True
        pid = _parent(pid)
    return False


def _all() -> list[int]:
    return [int(path.name) for path in PROC.iterdir() if path.name.isdigit()]


def _parent(pid: int) -> int:
    words = _read(pid, "stat").rpartition(b")")[2].split()
    return int(words[1]) if words else 0


def _read(pid: int, name: str) -> bytes:
    try:
        return (PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
