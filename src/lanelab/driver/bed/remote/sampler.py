"""What a machine does while a trial loads: reads the kernel's counters before and after, and a few of them meanwhile.

Every number is a count since some start, or None where this kernel does not have it: who compares two readings knows
what happened between them. As a program it serves a machine that is reached through an agent: it reads lines from its
standard input. `begin` begins; `end` writes what there is, as JSON, and ends.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import TypedDict

EVERY_S = 0.1
MOST_SAMPLES = 600  # of one trial; a longer one has them further apart
STATES_EVERY = 2  # samples: it looks whether one of our processes was stopped
STOPPED = "T"  # by a signal; "t" is a tracer's, as UML's kernel is of its programs
PRESSURES = ("cpu", "io", "memory")
IDLE = (3, 4)  # positions of idle and iowait in the first line of /proc/stat
STEAL, COUNTED = 7, 8  # guest times follow, which user time includes


class Processors(TypedDict):
    """Seconds of processor time of the whole machine."""

    total_s: float | None
    idle_s: float | None
    steal_s: float | None


class ProcessUse(TypedDict):
    """The processor time of one of our processes, of its children, and what it waited for a processor."""

    pid: int
    names: list[str]  # its own, its parent's, and so on
    cpu_s: float
    children_s: float
    wait_s: float | None


class Reading(Processors):
    """A look at everything."""

    at_s: float
    load: float | None
    pressure: dict[str, dict[str, int] | None]
    throttling: dict[str, float] | None
    thermal: int | None
    frequency: float | None
    processes: list[ProcessUse]


class Report(TypedDict):
    """The readings before and after a load, and what was seen meanwhile."""

    before: Reading
    after: Reading
    samples: list[dict[str, float | None]]
    stopped: list[tuple[float, str]]
    sampling_s: float
    processors: int | None


class Reader:
    """Reads one machine. `proc` and `sys` are /proc and /sys, `owner` the process below whose parent our processes
    are."""

    def __init__(self, proc: Path = Path("/proc"), system: Path = Path("/sys"), owner: int | None = None) -> None:
        self._proc, self._sys = proc, system
        self._tick = 1 / os.sysconf("SC_CLK_TCK")
        # As this /proc counts: it may be that of another process namespace.
        self._pid = int(str((proc / "self").readlink()))
        self._root = self._parent(owner or self._pid) or owner or self._pid
        self._cgroups = self._cgroup_folders()

    def _text(self, name: str) -> str | None:
        try:
            return (self._proc / name).read_text(errors="replace")
        except OSError:
            return None

    def started_by(self) -> int:
        """Return the process that started this one."""
        return self._parent(self._pid)

    def _parent(self, pid: int) -> int:
        text = self._text(f"{pid}/stat")
        return int(text.rpartition(")")[2].split()[1]) if text else 0

    # --- the machine

    def processors(self) -> Processors:
        """Return seconds of processor time of the whole machine."""
        text = self._text("stat") or ""
        words = text.partition("\n")[0].split()
        if not words or words[0] != "cpu" or len(words) <= COUNTED:
            return {"total_s": None, "idle_s": None, "steal_s": None}
        ticks = [int(word) for word in words[1 : COUNTED + 1]]
        return {
            "total_s": sum(ticks) * self._tick,
            "idle_s": sum(ticks[position] for position in IDLE) * self._tick,
            "steal_s": ticks[STEAL] * self._tick,
        }

    def pressure(self, resource: str) -> dict[str, int] | None:
        """Return microseconds in which some or all work waited for it. None: this kernel does not count that."""
        text = self._text(f"pressure/{resource}")
        totals = {}
        for line in (text or "").splitlines():
            kind, _, values = line.partition(" ")
            totals[kind] = int(values.rpartition("total=")[2])
        return totals or None

    def load(self) -> float | None:
        text = self._text("loadavg")
        return float(text.split()[0]) if text else None

    def throttling(self) -> dict[str, float] | None:
        """Return how often and how long limits of control groups stopped us: of our own group and of all above it.
        None: no group here can be limited."""
        totals = None
        for folder in self._cgroups:
            try:
                lines = (folder / "cpu.stat").read_text().splitlines()
            except OSError:
                continue
            values = dict(line.split()[:2] for line in lines)
            if "nr_throttled" in values:
                totals = totals or {"times": 0, "seconds": 0.0}
                totals["times"] += int(values["nr_throttled"])
                microseconds = values.get("throttled_usec")  # version 1 of control groups has nanoseconds instead
                totals["seconds"] += int(microseconds or 0) / 1e6 + int(values.get("throttled_time", 0)) / 1e9
        return totals

    def _cgroup_folders(self) -> list[Path]:
        """Return the folders of our control groups and all above, in either version."""
        folders = []
        mounts = self._sys / "fs" / "cgroup"
        for line in (self._text("self/cgroup") or "").splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers and "cpu" not in controllers.split(","):
                continue
            for top in (mounts / "cpu",) if controllers else (mounts, mounts / "unified"):
                group = top / path.strip("/")
                folders += [folder for folder in (group, *group.parents) if folder.is_relative_to(top)]
        return list(dict.fromkeys(folders))

    def thermal(self) -> int | None:
        """Return how often the processors slowed down because they were hot."""
        counts = list(self._sys.glob("devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count"))
        return sum(int(path.read_text()) for path in counts) if counts else None

    def frequency(self) -> float | None:
        """Return the processors' clock, as a share of the highest they have; the mean of all."""
        shares = []
        for folder in self._sys.glob("devices/system/cpu/cpu[0-9]*/cpufreq"):
            try:
                now, most = (int((folder / name).read_text()) for name in ("scaling_cur_freq", "cpuinfo_max_freq"))
            except (OSError, ValueError):
                continue
            shares.append(now / most)
        return sum(shares) / len(shares) if shares else None

    # --- processes

    def processes(self) -> list[ProcessUse]:
        """Return our processes: all below the parent of the owner."""
        table: dict[int, tuple[int, str, list[str]]] = {}
        for name in os.listdir(self._proc):  # noqa: PTH208 - thousands of names, and no more
            text = self._text(f"{name}/stat") if name.isdigit() else None
            if text:
                before, _, after = text.rpartition(")")
                words = after.split()
                table[int(name)] = int(words[1]), before.partition("(")[2], words
        return [self._process(pid, names, table[pid][2]) for pid in table if (names := self._lineage(pid, table))]

    def _lineage(self, pid: int, table: dict[int, tuple[int, str, list[str]]]) -> list[str]:
        """Return names of a process, its parent, and so on. None of them: it is not ours."""
        names = []
        while pid != self._root and pid in table:
            parent, name, _ = table[pid]
            names.append(name)
            pid = parent
        return names if pid == self._root else []

    def _process(self, pid: int, names: list[str], words: list[str]) -> ProcessUse:
        ticks, children = ((int(words[at]) + int(words[at + 1])) * self._tick for at in (11, 13))
        return {"pid": pid, "names": names, "cpu_s": ticks, "children_s": children, "wait_s": self._waited(pid)}

    def stopped(self, pids: set[int]) -> list[str]:
        """Return names of those of these processes, and of their children, that are stopped. New children join them."""
        names = set()
        for pid in list(pids):
            text = self._text(f"{pid}/stat")
            if text is None:
                pids.discard(pid)
                continue
            before, _, after = text.rpartition(")")
            if after[1:2] == STOPPED:
                names.add(before.partition("(")[2])
            pids.update(map(int, (self._text(f"{pid}/task/{pid}/children") or "").split()))
        return sorted(names)

    def _waited(self, pid: int) -> float | None:
        """Seconds in which threads of this process were ready to run and had no processor."""
        try:
            threads = os.listdir(self._proc / str(pid) / "task")  # noqa: PTH208
        except OSError:
            return None
        waits = [self._text(f"{pid}/task/{thread}/schedstat") for thread in threads]
        known = [int(text.split()[1]) for text in waits if text]
        return sum(known) / 1e9 if known else None

    def reading(self) -> Reading:
        """Return all that is read at a sample."""
        return {
            "at_s": time.monotonic(),
            **self.processors(),
            "load": self.load(),
            "pressure": {resource: self.pressure(resource) for resource in PRESSURES},
            "throttling": self.throttling(),
            "thermal": self.thermal(),
            "frequency": self.frequency(),
            "processes": self.processes(),
        }

    def sample(self) -> dict[str, float | None]:
        """Return the little that is read again and again."""
        processors, pressure = self.processors(), self.pressure("cpu")
        return {
            "at_s": time.monotonic(),
            "total_s": processors["total_s"],
            "idle_s": processors["idle_s"],
            "waited_s": pressure["some"] / 1e6 if pressure else None,
        }


class Sampler:
    """Readings before and after, samples meanwhile."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._stop = threading.Event()
        self._samples: list[dict[str, float | None]] = []
        self._stopped: list[tuple[float, str]] = []  # seconds that one look stands for, and who was stopped
        self._used_s = 0.0  # processor time of the thread
        self._thread = threading.Thread(target=self._watch, name="sampler", daemon=True)

    def begin(self) -> None:
        self._before = self._reader.reading()
        self._thread.start()

    def end(self) -> Report:
        """Return what was read. The last sample is of now."""
        after = self._reader.reading()
        self.close()
        self._samples.append(self._reader.sample())
        return {
            "before": self._before,
            "after": after,
            "samples": self._samples,
            "stopped": self._stopped,
            "sampling_s": self._used_s,
            "processors": os.cpu_count(),
        }

    def close(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        every, looks = EVERY_S, 0
        pids = {process["pid"] for process in self._before["processes"]}
        while True:
            self._samples.append(self._reader.sample())
            if looks % STATES_EVERY == 0:
                self._stopped += [(every * STATES_EVERY, name) for name in self._reader.stopped(pids)]
            looks += 1
            if len(self._samples) > MOST_SAMPLES:
                self._samples, every = self._samples[::2], every * 2
            self._used_s = time.thread_time()
            if self._stop.wait(every):
                return


def main() -> None:
    """Over the agent: it is our parent."""
    reader = Reader()
    sampler = Sampler(Reader(owner=reader.started_by()))
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        if line.strip() == "begin":
            sampler.begin()
        else:
            print(json.dumps(sampler.end()), flush=True)
            return


if __name__ == "__main__":
    main()
