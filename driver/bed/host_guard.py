"""What a bed changes on a machine outside its own namespaces, and that it is as before when the bed has ended.

A bed's part on a machine lives in namespaces that the kernel removes with its last process. What cannot live there are
the offloads of the interface that its cable hangs on: they are written down before they are changed, and three watch
over them. The keeper restores them when the node ends; the guard, a process apart, when the keeper is killed; the next
bed when both were. (After a crash of the machine they are as its boot sets them, and the note in /run is gone.)

Runs on machines that ssh reaches, with any Python from 3.9 on and its standard library.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterable
from pathlib import Path
from types import FrameType

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NOTES = Path("/run/lanelab-hosts")
# Whatever makes packets longer than the wire carries them, on either side, or leaves their checksums to be filled in.
QUIET = ("tx-checksumming", "tcp-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload",
         "large-receive-offload", "rx-gro-hw")  # fmt: skip
LENGTHENING = QUIET[1:]

Features = dict[str, str]


class InUse(OSError):
    """Another bed has that interface."""


class Interfaces:
    """The interfaces of this machine that a bed uses: its alone until `restore`."""

    def __init__(self, devices: Iterable[str]) -> None:
        self.devices = list(devices)
        self.locks: list[int] = []

    def take(self) -> None:
        """What an earlier bed could not put back is put back; then they are noted down and made quiet."""
        NOTES.mkdir(mode=0o700, exist_ok=True)
        for device in self.devices:
            lock = _lock(device)
            if lock is None:
                raise InUse("another bed uses " + device)
            self.locks.append(lock)
        for device in self.devices:
            restore(device)
            note = _note(device)
            part = note.with_suffix(".part")
            part.write_text(json.dumps(features(device)))
            part.replace(note)
            quieten(device)

    def restore(self) -> None:
        """As before. Doing it twice does no harm."""
        for device in self.devices:
            restore(device)


def _note(device: str) -> Path:
    return NOTES / (device + ".json")


def _lock(device: str) -> int | None:
    """None where somebody else has it."""
    fd = os.open(NOTES / (device + ".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return None
    return fd


def in_use() -> list[str]:
    """The interfaces that beds use now."""
    found = []
    for path in sorted(NOTES.glob("*.lock")) if os.access(NOTES, os.R_OK) else []:
        fd = _lock(path.stem)
        if fd is None:
            found.append(path.stem)
        else:
            os.close(fd)
    return found


def features(device: str) -> Features:
    """on or off, of what can be changed."""
    found = {}
    for line in _ethtool("-k", device).splitlines():
        name, _, value = line.strip().partition(": ")
        words = value.split()
        if words and words[0] in ("on", "off") and "[fixed]" not in words:
            found[name] = words[0]
    return found


def quieten(device: str) -> None:
    """Packets on this interface are as on the wire."""
    settable = features(device)
    for name in QUIET:
        if settable.get(name) == "on":
            _ethtool("-K", device, name, "off", check=False)
    after = features(device)
    still = [name for name in LENGTHENING if after.get(name) == "on"]
    if still:
        raise OSError("cannot turn " + ", ".join(still) + " of " + device + " off")


def restore(device: str) -> None:
    """What the note says, if there is one; then the note goes."""
    note = _note(device)
    try:
        wanted = json.loads(note.read_text())
    except (OSError, ValueError):
        return
    for _ in range(2):  # turning one on may turn others on
        now = features(device)
        differing = [name for name in wanted if now.get(name, wanted[name]) != wanted[name]]
        changed = [word for name in differing for word in (name, wanted[name])]
        if not changed:
            break
        _ethtool("-K", device, *changed, check=False)
    note.unlink()


def _ethtool(*words: str, check: bool = True) -> str:
    done = subprocess.run(
        ["ethtool", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"PATH": SYSTEM_PATH},
        check=False,
    )
    said = done.stdout.decode(errors="replace")
    if check and done.returncode != 0:
        raise OSError("'ethtool " + " ".join(words) + "' said: " + " ".join(said.split()))
    return said


def remove_cables(network: int, names: Iterable[str]) -> None:
    """Take a node's cables out of its namespace. That may outlive its processes by minutes, for the sake of TCP
    connections that have not heard that they are over, and with it what its cables ask of our interfaces."""
    for name in names:
        subprocess.run(
            ["nsenter", "--net=/proc/self/fd/" + str(network), "ip", "link", "delete", "dev", name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": SYSTEM_PATH},
            pass_fds=[network],
            check=False,
        )


class Guard:
    """A process that outlives us, and puts everything back when we have ended, however."""

    def __init__(self, interfaces: Interfaces) -> None:
        watched, self._line = socket.socketpair()
        child = os.fork()
        if child == 0:
            self._line.close()
            _be_guard(watched, interfaces)
        watched.close()
        os.waitpid(child, 0)

    def fileno(self) -> int:
        """It waits until nobody holds this any more."""
        return self._line.fileno()

    def take_over(self, network: int, names: Iterable[str]) -> None:
        """Tell it of a node's cables."""
        socket.send_fds(self._line, [" ".join(names).encode()], [network])


def _be_guard(watched: socket.socket, interfaces: Interfaces) -> None:
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.chdir("/")
        _keep_only({watched.fileno(), *interfaces.locks})

        def end(_number: int, _frame: FrameType | None) -> None:
            interfaces.restore()
            os._exit(0)

        for number in (signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, end)
        names, networks, _, _ = socket.recv_fds(watched, 1000, 1)
        if names:
            watched.recv(1)
            remove_cables(networks[0], names.decode().split())
        interfaces.restore()
    finally:
        os._exit(0)


def _keep_only(wanted: Iterable[int]) -> None:
    """Every other descriptor is somebody else's, who would wait for us."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    kept = set(wanted)
    for fd in range(3, 4096):
        if fd not in kept:
            try:
                os.close(fd)
            except OSError:
                continue
