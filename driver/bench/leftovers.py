"""Killing parts of a bed, and looking for what is left of it on this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path


WATCHED_FOLDERS = ("/tmp", "/run", "/dev/shm", "/var/run/netns")  # noqa: S108 - looked at, never written
GRACE_S = 3.0


@dataclass(frozen=True, slots=True)
class Part:
    """One process of a bed."""

    pid: int
    name: str


def parts_of(pid: int) -> list[Part]:
    """A process and its descendants, as this process sees them."""
    children: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
                names[int(entry.name)] = name
                children.setdefault(int(rest.split()[1]), []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        current = waiting.pop()
        if current in names:
            found.append(Part(current, names[current]))
            waiting += children.get(current, [])
    return found


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What there is of the kinds of things that beds are made of."""

    namespaces: frozenset[str]
    interfaces: frozenset[str]
    files: frozenset[str]

    @classmethod
    def now(cls) -> Surroundings:
        return cls(_namespaces(), _interfaces(), _files())

    def added(self) -> list[str]:
        """What there is now that was not there before."""
        new = Surroundings.now()
        return [
            *(f"namespace {name}" for name in sorted(new.namespaces - self.namespaces)),
            *(f"interface {name}" for name in sorted(new.interfaces - self.interfaces)),
            *(f"file {name}" for name in sorted(new.files - self.files)),
        ]


def _namespaces() -> frozenset[str]:
    """Every user and network namespace that a process of ours lives in."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            for kind in ("user", "net"):
                with contextlib.suppress(OSError):
                    found.add(str((entry / "ns" / kind).readlink()))
    return frozenset(found)


def _interfaces() -> frozenset[str]:
    return frozenset(path.name for path in Path("/sys/class/net").iterdir())


def _files() -> frozenset[str]:
    found: set[str] = set()
    for folder in WATCHED_FOLDERS:
        with contextlib.suppress(OSError):
            found |= {f"{folder}/{name}" for name in os.listdir(folder)}  # noqa: PTH208 - names are enough
    return frozenset(found)


def carriers_of(marker: str) -> list[Part]:
    """Processes that carry a bed's marker in their environment: its own, wherever they have got to."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if f"LANELAB_BED={marker}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(Part(int(entry.name), (entry / "comm").read_text().strip()))
    return found


def kill(part: Part) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(part.pid, signal.SIGKILL)


def left_of(marker: str, before: Surroundings) -> list[str]:
    """What is left of a bed a moment after its end: nothing, if all is well."""
    deadline = time.monotonic() + GRACE_S
    while True:
        left = [f"process {part.pid} {part.name}" for part in carriers_of(marker)] + before.added()
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.05)


