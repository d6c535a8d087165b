"""Apache's workers by what they do, read from the memory of the httpd that runs.

lanelab's mod_replay writes into the server's folder where that memory is. It is read through /proc/PID/mem of the
parent: nothing is asked of the server, which has no worker for us when all are busy.
"""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

FILE = "scoreboard"
KEYS = (
    *("pid", "address", "server_limit", "thread_limit", "most_workers", "processes_at", "process_bytes", "pid_at"),
    *("quiescing_at", "slots_at", "slot_bytes", "status_at", "statuses"),
)
# As Apache's scoreboard.h numbers them, in every 2.4.
DEAD, STARTING, READY, READ, WRITE, KEEPALIVE, IDLE_KILL = 0, 1, 2, 3, 4, 5, 10
STATUSES = 11
NOT_BUSY = (DEAD, STARTING, READY, IDLE_KILL)
MOST_BYTES = 256 << 20
_INT, _LIMITS = struct.Struct("=i"), struct.Struct("=ii")


class Unreadable(Exception):
    """What was read cannot be a scoreboard: no number of it is to be believed."""


class Scoreboard:
    """The scoreboard of one httpd. Raises Unreadable where something else is there than it says."""

    def __init__(self, folder: Path, proc: Path = Path("/proc")) -> None:
        """Look for the scoreboard of a server with this `folder`."""
        counts = _read_counts(folder / FILE)
        self.pid, self.most_workers, self._counts = counts["pid"], counts["most_workers"], counts
        self._bytes = counts["slots_at"] + counts["slot_bytes"] * counts["server_limit"] * counts["thread_limit"]
        if not 0 < self._bytes <= MOST_BYTES:
            raise Unreadable(f"it would have {self._bytes} bytes")
        try:
            self._memory = os.open(proc / str(self.pid) / "mem", os.O_RDONLY)
        except OSError as error:
            raise Unreadable(f"the memory of process {self.pid} cannot be opened: {error.strerror}") from error

    def read(self) -> dict[str, int] | None:
        """Return workers by what they do. None: httpd has ended."""
        try:
            data = os.pread(self._memory, self._bytes, self._counts["address"])
        except ProcessLookupError:
            return None
        except OSError as error:
            raise Unreadable(f"the memory of process {self.pid} cannot be read: {error.strerror}") from error
        if not data:  # so the kernel answers once a process has no memory any more
            return None
        return self._counted(data)

    def _counted(self, data: bytes) -> dict[str, int]:
        counts = self._counts
        if len(data) != self._bytes:
            raise Unreadable(f"it ends after {len(data)} bytes of {self._bytes}")
        limits = _LIMITS.unpack_from(data)
        if limits != (counts["server_limit"], counts["thread_limit"]):
            raise Unreadable(f"its limits are {limits[0]} and {limits[1]}, and not what its server says")
        statuses = data[counts["slots_at"] + counts["status_at"] :: counts["slot_bytes"]]
        if max(statuses) >= STATUSES:
            raise Unreadable(f"a worker is in state {max(statuses)}, which does not exist")
        return _by_state(self._of_live_processes(data, statuses))

    def _of_live_processes(self, data: bytes, statuses: bytes) -> bytes:
        """The rest is left over from processes that have ended, or are of such as take no more connections."""
        counts, threads, live = self._counts, self._counts["thread_limit"], []
        for process in range(counts["server_limit"]):
            at = counts["processes_at"] + process * counts["process_bytes"]
            (pid,) = _INT.unpack_from(data, at + counts["pid_at"])
            if pid < 0:
                raise Unreadable(f"a process has the number {pid}")
            if pid and not data[at + counts["quiescing_at"]]:
                live.append(statuses[process * threads : (process + 1) * threads])
        return b"".join(live)

    def close(self) -> None:
        os.close(self._memory)


def _read_counts(path: Path) -> dict[str, int]:
    try:
        counts = json.loads(path.read_bytes())
    except ValueError as error:
        raise Unreadable(f"{path} is no JSON") from error
    fault = counts.get("fault") if isinstance(counts, dict) else "no mapping"
    if fault:
        raise Unreadable(f"{path}: {fault}")
    wrong = [key for key in KEYS if type(counts.get(key)) is not int or counts[key] < 0]
    if wrong or set(counts) != set(KEYS):
        raise Unreadable(f"{path} does not say {', '.join(wrong) or 'what it should'}")
    if counts["statuses"] != STATUSES:
        raise Unreadable(f"this Apache has {counts['statuses']} states of workers, and {STATUSES} are known")
    _require_places(counts, path)
    return {key: counts[key] for key in KEYS}


def _require_places(counts: dict[str, int], path: Path) -> None:
    """Everything lies where it can lie."""
    sound = (
        counts["server_limit"] > 0 < counts["thread_limit"]
        and 0 < counts["most_workers"] <= counts["server_limit"] * counts["thread_limit"]
        and counts["status_at"] < counts["slot_bytes"]
        and max(counts["pid_at"] + _INT.size, counts["quiescing_at"] + 1) <= counts["process_bytes"]
        and counts["processes_at"] >= _LIMITS.size
        and counts["slots_at"] >= counts["processes_at"] + counts["process_bytes"] * counts["server_limit"]
    )
    if not sound:
        raise Unreadable(f"{path} contradicts itself")


def _by_state(statuses: bytes) -> dict[str, int]:
    count = statuses.count
    return {
        "busy": len(statuses) - sum(count(state) for state in NOT_BUSY),
        "idle": count(READY),
        "keepalive": count(KEEPALIVE),
        "reading": count(READ),
        "writing": count(WRITE),
    }
