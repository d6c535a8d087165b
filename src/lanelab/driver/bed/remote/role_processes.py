"""The processes of each role on a node (server, proxy, back end), and what they use.

A role is known by the folder in which its processes work: a server is started there, and its children stay.
"""

# An object of pathlib costs as much as the system call that it is for, of which there are thousands a second.
# ruff: noqa: PTH110, PTH115, PTH116, PTH123, PTH208

from __future__ import annotations

import os
from pathlib import Path
from typing import TypedDict

ZOMBIE = "Z"
# Positions in what follows the name in /proc/PID/stat.
STATE, TIMES, THREADS, STARTED = 0, slice(11, 15), 17, 19


class Use(TypedDict):
    """The use that the processes of a role make of processors."""

    cpu_s: float
    processes: int
    threads: int


class Roles:
    """Raises nothing: a process may end at any moment, and its numbers with it."""

    def __init__(self, folders: dict[str, str], proc: Path = Path("/proc")) -> None:
        self._proc = str(proc)
        self._roles = {folder: role for role, folder in folders.items()}
        self._of: dict[str, str] = {}  # pid -> role; "" of all others
        self._tick = 1 / os.sysconf("SC_CLK_TCK")

    def find(self) -> dict[str, list[str]]:
        """Return the processes of each role. Whose a process is, is looked up once: a listing costs little, links
        much."""
        by_role: dict[str, list[str]] = {role: [] for role in self._roles.values()}
        known, self._of = self._of, {}
        for pid in os.listdir(self._proc):
            if pid[0] in "123456789":
                role = known[pid] if pid in known else self._role(pid)
                self._of[pid] = role
                if role:
                    by_role[role].append(pid)
        return by_role

    def _role(self, pid: str) -> str:
        try:
            return self._roles.get(os.readlink(f"{self._proc}/{pid}/cwd"), "")
        except OSError:  # a process that has just ended, or one of the kernel's
            return ""

    def use(self, pids: list[str]) -> Use:
        """Return processor time since their start, with that of their children that have ended; and how many there
        are."""
        ticks = threads = processes = 0
        for pid in pids:
            words = self._stat(pid)
            if words:
                ticks += sum(map(int, words[TIMES]))
                if words[STATE] != ZOMBIE:
                    processes += 1
                    threads += int(words[THREADS])
        return {"cpu_s": round(ticks * self._tick, 4), "processes": processes, "threads": threads}

    def _stat(self, pid: str) -> list[str]:
        try:
            with open(f"{self._proc}/{pid}/stat", "rb") as file:
                return file.read().rpartition(b")")[2].decode().split()
        except OSError:
            return []

    def files(self, pids: list[str]) -> int | None:
        """Return how many files they have open. None: the kernel does not let us look."""
        count = 0
        for pid in pids:
            folder = f"{self._proc}/{pid}/fd"
            try:
                # Newer kernels say how many as the size of the folder.
                count += os.stat(folder).st_size or len(os.listdir(folder))
            except (FileNotFoundError, ProcessLookupError):
                continue
            except OSError:
                return None
        return count

    def memory(self, pids: list[str]) -> int | None:
        """Return bytes: what several share is counted once (PSS). None: the kernel does not let us look."""
        total = 0
        for pid in pids:
            try:
                with open(f"{self._proc}/{pid}/smaps_rollup", "rb") as file:
                    text = file.read()
            except (FileNotFoundError, ProcessLookupError):
                if os.path.exists(f"{self._proc}/self") and not os.path.exists(f"{self._proc}/self/smaps_rollup"):
                    return None
                continue
            except OSError:
                return None
            at = text.find(b"\nPss:")
            if at >= 0:  # a process that is about to end has no memory any more
                total += int(text[at + 5 :].split(None, 1)[0]) * 1024
        return total

    def cgroup_memory(self, pids: list[str], mounts: Path = Path("/sys/fs/cgroup")) -> int | None:
        """Return bytes of the control group in which the first of them is. None: it is ours too, or there is none."""
        if not pids:
            return None
        theirs, ours = (self._cgroup(pid) for pid in (pids[0], "self"))
        if not theirs or theirs == ours:
            return None
        controller, _, path = theirs.partition(":")
        folder, name = (mounts / "memory", "memory.usage_in_bytes") if controller else (mounts, "memory.current")
        try:
            return int((folder / path.strip("/") / name).read_text())
        except (OSError, ValueError):
            return None

    def _cgroup(self, pid: str) -> str:
        """Return the one that counts memory: "controller:path" of version 1, ":path" of version 2."""
        try:
            with open(f"{self._proc}/{pid}/cgroup") as file:
                lines = [line.rstrip("\n").split(":", 2)[1:] for line in file]
        except OSError:
            return ""
        for controllers, path in lines:
            if "memory" in controllers.split(","):
                return f"memory:{path}"
        return next((f":{path}" for controllers, path in lines if not controllers), "")
