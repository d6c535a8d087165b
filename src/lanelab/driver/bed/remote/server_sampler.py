"""What happens on the server node during a load, once a second. A program of its own, in the node.

Its argument is JSON: folders of the roles, ports, the network of the link. When it is ready it writes a line of JSON:
what there was before the load. `begin` on its standard input begins; then each sample is a line. `end` takes a last
look at itself and ends. A sample that comes late is left out, and a reading that costs much is taken less often: what
was not read has no number.
"""

from __future__ import annotations

import json
import math
import os
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

from lanelab.driver.bed.remote import connections, node_counters
from lanelab.driver.bed.remote.node_counters import Counts
from lanelab.driver.bed.remote.role_processes import Roles, Use
from lanelab.driver.bed.remote.scoreboard import FILE, Scoreboard, Unreadable

EVERY_S = 1.0
BEFORE = -1  # the second of what there was before the load
LATE_S = 0.25  # a sample that is later than this is missing
BUDGET_S = 0.01  # processor time of one kind of reading per second, on average


class Settings(TypedDict):
    """The argument of this program."""

    folders: dict[str, str]  # of the roles
    ports: list[int]
    ports_behind: list[int]
    network: str  # of the link


class RoleUse(Use):
    """The whole use of a role. None: not read now, or the kernel does not tell."""

    files: int | None
    memory: int | None
    cgroup: int | None


class Sample(Counts):
    """The node in one second."""

    second: int
    at_s: float
    connections: dict[str, int] | None
    workers: dict[str, int] | None
    roles: dict[str, RoleUse]
    took_s: float


class Seldom:
    """A reading that is taken as often as its cost allows."""

    def __init__(self, read: Callable[[], Any]) -> None:
        self._read = read
        self._next = BEFORE

    def at(self, second: int) -> Any:  # noqa: ANN401 - whatever is read
        """Return the value now; None: not now."""
        if second < self._next:
            return None
        began = time.thread_time()
        value = self._read()
        if second >= 0:
            self._next = second + max(1, math.ceil((time.thread_time() - began) / BUDGET_S))
        return value


class Reader:
    """Reads one node."""

    def __init__(self, settings: Settings, proc: Path = Path("/proc"), *, diagnosis: bool | None = None) -> None:
        folders = settings["folders"]
        self._roles = Roles(folders, proc)
        self._pids: dict[str, list[str]] = {}
        self._counters = node_counters.Counters(settings["network"], proc)
        self.absent: dict[str, str] = {}
        self._diagnosis = connections.has_diagnosis() if diagnosis is None else diagnosis
        ports, behind, proc_of = frozenset(settings["ports"]), frozenset(settings["ports_behind"]), proc
        counts = bool(ports or behind)  # over QUIC there is nothing to count
        self._connections = Seldom(
            lambda: connections.counted(ports, proc_of, behind=behind, diagnosis=self._diagnosis) if counts else None
        )
        self._costly = {
            (role, what): Seldom(lambda role=role, read=read: read(self._pids[role]))  # type: ignore[misc]
            for role in folders
            for what, read in (("files", self._roles.files), ("memory", self._roles.memory))
        }
        self._scoreboard = self._find_scoreboard(folders, proc)

    def _find_scoreboard(self, folders: dict[str, str], proc: Path) -> Scoreboard | None:
        """Find the scoreboard of the program that users reach: the proxy, else the web server."""
        for role in ("proxy", "server"):
            folder = Path(folders.get(role, ""))
            if role in folders and (folder / FILE).exists():
                try:
                    return Scoreboard(folder, proc)
                except Unreadable as error:
                    self.absent["workers"] = str(error)
                return None
            if role in folders:
                return None
        return None

    @property
    def most_workers(self) -> int | None:
        return self._scoreboard.most_workers if self._scoreboard else None

    def sample(self, second: int) -> Sample:
        at_s = time.monotonic()
        self._pids = self._roles.find()
        return {
            "second": second,
            "at_s": at_s,
            **self._counters.read(),
            "connections": self._connected(second),
            "workers": self._workers(),
            "roles": {role: self._role(role, second) for role in self._pids},
            "took_s": time.monotonic() - at_s,
        }

    def _role(self, role: str, second: int) -> RoleUse:
        pids = self._pids[role]
        files, memory = (self._costly[role, what].at(second) for what in ("files", "memory"))
        use = self._roles.use(pids)
        return {**use, "files": files, "memory": memory, "cgroup": self._roles.cgroup_memory(pids)}

    def _connected(self, second: int) -> dict[str, int] | None:
        try:
            counts: dict[str, int] | None = self._connections.at(second)
        except OSError as error:
            self.absent["connections"] = f"the kernel does not tell of them: {error}"
            return None
        return counts

    def _workers(self) -> dict[str, int] | None:
        if self._scoreboard is None or "workers" in self.absent:
            return None
        try:
            return self._scoreboard.read()
        except Unreadable as error:
            self.absent["workers"] = str(error)
            return None


class Clock:
    """When samples are due, and which of them were missed."""

    def __init__(self, began_s: float) -> None:
        self._began_s = began_s
        self.next = 0
        self.missed = 0

    def wait_s(self, now_s: float) -> float:
        return max(self._began_s + self.next * EVERY_S - now_s, 0.0)

    def take(self, now_s: float) -> int | None:
        """Return the second that a sample taken now is of. None: it is too late for it, and for all before the next."""
        late_s = now_s - self._began_s - self.next * EVERY_S
        second = self.next
        if late_s <= LATE_S:
            self.next += 1
            return second
        passed = int(late_s / EVERY_S) + 1
        self.next += passed
        self.missed += passed
        return None


def serve(reader: Reader, out: Callable[[object], None]) -> None:
    out({"before": reader.sample(BEFORE), "most_workers": reader.most_workers, "absent": reader.absent})
    if _next_word(None) != "begin":
        return
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    clock = Clock(began_s)
    out({"began_s": began_s})
    while not _next_word(clock.wait_s(time.monotonic())):
        second = clock.take(time.monotonic())
        if second is not None:
            out(reader.sample(second))
    cpu_s = time.process_time() - began_cpu_s
    ended = {"ended_s": time.monotonic(), "cpu_s": cpu_s, "missed": clock.missed + max(_due(clock, began_s), 0)}
    out({**ended, "absent": reader.absent})


def _due(clock: Clock, began_s: float) -> int:
    """Seconds that have passed and were not looked at, at the end."""
    return int((time.monotonic() - began_s - LATE_S) / EVERY_S) + 1 - clock.next


def _next_word(within_s: float | None) -> str:
    """Return a word of the bed process; "" where none came in time. "end" also where that process has gone."""
    ready, _, _ = select.select([0], [], [], within_s)
    return (os.read(0, 64).decode().strip() or "end") if ready else ""


def main() -> None:
    def out(line: object) -> None:
        print(json.dumps(line, separators=(",", ":")), flush=True)

    serve(Reader(json.loads(sys.argv[1])), out)
