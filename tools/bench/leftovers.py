"""Killing parts of a bed, and looking for what is left of it on this machine."""

import contextlib
import os
import re
import signal
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

WATCHED_FOLDERS = ("/tmp", "/run", "/dev/shm", "/var/run/netns")  # noqa: S108 - looked at, never written
# Not what virtual machines, the installation of packages and readers of runs have there: they may come at any time.
TELLTALE = re.compile(r"lanelab(?!-libvirtd|-install\.lock|-read-)|\buml|vm_file")
DEVICES = re.compile(r"(to[-_](client|server|router)|mgmt|queue_|direct0)")
GRACE_S = 60.0  # a busy kernel takes its time; nothing waits so long where all is gone


@dataclass(frozen=True, slots=True)
class Part:
    """One process of a bed."""

    pid: int
    name: str


def parts_of(pid: int) -> list[Part]:
    """Return a process and its descendants, as this process sees them."""
    children: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
                names[int(entry.name)] = name
                children.setdefault(int(rest.split()[1]), []).append(int(entry.name))
    parts, waiting = [], [pid]
    while waiting:
        current = waiting.pop()
        if current in names:
            parts.append(Part(current, names[current]))
            waiting += children.get(current, [])
    return parts


class Watch:
    """Watches what a bed consists of while it lives, and what of it is left. Others may have beds at the same time:
    only what belongs to the watched one counts. So its namespaces are held open: the kernel gives the numbers of those
    that are gone to the next ones, which may be another bed's."""

    def __init__(self) -> None:
        self._namespaces: dict[str, int] = {}  # the descriptor that holds each one open
        self._ours = _namespaces_of(os.getpid())
        weakref.finalize(self, _close, self._namespaces)
        self._before = _traces()

    def see(self, pid: int) -> list[Part]:
        """Remember the namespaces of a process and its descendants, which are returned."""
        parts = parts_of(pid)
        for part in parts:
            for name in _namespaces_of(part.pid) - self._ours - self._namespaces.keys():
                self._hold(part.pid, name)
        return parts

    def _hold(self, pid: int, name: str) -> None:
        with contextlib.suppress(OSError):  # the process has ended
            held = os.open(f"/proc/{pid}/ns/{name.partition(':')[0]}", os.O_RDONLY | os.O_CLOEXEC)
            self._namespaces[str(Path(f"/proc/self/fd/{held}").readlink())] = held

    def left(self, marker: str, within_s: float = GRACE_S) -> list[str]:
        """Return what is there a moment after the bed's end: nothing, if all is well."""
        deadline = time.monotonic() + within_s
        while True:
            remains = self._left_now(marker)
            if not remains or time.monotonic() > deadline:
                return remains
            time.sleep(0.05)

    def _left_now(self, marker: str) -> list[str]:
        carriers = {part.pid: part.name for part in carriers_of(marker)}
        inhabited = {
            f"namespace {name}, of process {entry.name}"
            for entry in Path("/proc").iterdir()
            if entry.name.isdigit()
            for name in _namespaces_of(int(entry.name)) & self._namespaces.keys()
        }
        new = _traces() - self._before
        return [*(f"process {pid} {name}" for pid, name in carriers.items()), *sorted(inhabited), *sorted(new)]


def _close(namespaces: Mapping[str, int]) -> None:
    for held in namespaces.values():
        os.close(held)


def _namespaces_of(pid: int) -> set[str]:
    namespaces = set()
    for kind in ("user", "net", "mnt", "pid"):
        with contextlib.suppress(OSError):
            namespaces.add(str(Path(f"/proc/{pid}/ns/{kind}").readlink()))
    return namespaces


def _traces() -> set[str]:
    """Return interfaces of this machine and files in its common folders that look like a bed's."""
    names = [path.name for path in Path("/sys/class/net").iterdir()]
    interfaces = {f"interface {name}" for name in names if DEVICES.match(name)}
    files: set[str] = set()
    for folder in WATCHED_FOLDERS:
        with contextlib.suppress(OSError):
            files |= {f"file {folder}/{name}" for name in os.listdir(folder) if TELLTALE.search(name)}  # noqa: PTH208
    return interfaces | files


def carriers_of(marker: str) -> list[Part]:
    """Processes that carry a bed's marker in their environment: its own, wherever they have got to."""
    carriers = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if f"LANELAB_BED={marker}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    carriers.append(Part(int(entry.name), (entry / "comm").read_text().strip()))
    return carriers


def kill(part: Part) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(part.pid, signal.SIGKILL)
