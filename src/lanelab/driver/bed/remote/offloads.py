"""The offloads of the interfaces that a bed's cables hang on: noted down, turned off, and put back.

Whoever changes one holds its lock, and has written down before how it was. A note goes only when the interface is as it
says; until then the next bed tries again.

Runs on machines that ssh reaches, with any Python from 3.9 on and its standard library.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from lanelab.driver.base.system_path import SYSTEM_PATH

NOTES = Path("/run/lanelab-hosts")
DEVICES = Path("/sys/class/net")
# Whatever makes packets longer than the wire carries them, on either side, or leaves their checksums to be filled in.
QUIET = ("tx-checksumming", "tcp-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload",
         "large-receive-offload", "rx-gro-hw")  # fmt: skip
LENGTHENING = QUIET[1:]
LOOKED_AT_FOR_S = 1.0  # far longer than anybody takes who only looks whether a lock is free
PASSES = 4

Features = dict[str, str]


class InUse(OSError):
    """Another bed has that interface."""


class Interfaces:
    """The interfaces of this machine that a bed uses, with what lies below them: its alone until it ends."""

    def __init__(self, devices: Iterable[str]) -> None:
        self._devices = list(dict.fromkeys(each for device in devices for each in wires(device)))
        self._locks: dict[str, int] = {}

    @property
    def locks(self) -> list[int]:
        """Descriptors: while anybody has them open, the interfaces are ours."""
        return list(self._locks.values())

    def take(self) -> None:
        """Note them down and make them quiet, after putting back what an earlier bed could not. Where that fails again,
        the earlier note stays, as it says how things were. Raises InUse."""
        NOTES.mkdir(mode=0o700, exist_ok=True)
        for device in self._devices:
            self._locks[device] = _lock(device)
        put_back(self._devices)
        for device in self._devices:  # all of them first: quiet below is quiet above
            if _noted(device) is None:
                part = _note(device).with_suffix(".part")
                part.write_text(json.dumps(features(device)))
                part.replace(_note(device))
        for device in self._devices:
            quieten(device)

    def restore(self) -> list[str]:
        """Restore the offloads as before, as far as they are ours, and return what could not be restored. Doing it
        twice does no harm."""
        return put_back(self._locks)


def wires(device: str) -> list[str]:
    """Return that interface and what lies below it, lowest first: a VLAN's interface, a bond's ports. Packets get there
    what length they have, and whoever else uses one of them is on the same wire."""
    below = [each.name[len("lower_") :] for each in sorted((DEVICES / device).glob("lower_*"))]
    return [*dict.fromkeys(each for lower in below for each in wires(lower)), device]


def _note(device: str) -> Path:
    return NOTES / (device + ".json")


def _noted(device: str) -> Features | None:
    try:
        noted: Features = json.loads(_note(device).read_text())
    except (OSError, ValueError):
        return None
    return noted


def _lock(device: str) -> int:
    fd = os.open(NOTES / (device + ".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    until = time.monotonic() + LOOKED_AT_FOR_S
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > until:
                os.close(fd)
                raise InUse("another bed uses " + device) from None
            time.sleep(0.02)
        else:
            return fd


def in_use() -> list[str]:
    """Return the interfaces that beds use now."""
    return [path.stem for path in _present("*.lock") if _is_locked(path)]


def left() -> list[str]:
    """Return the interfaces whose offloads a bed that is over could not put back."""
    return [path.stem for path in _present("*.json") if not _is_locked(path.with_suffix(".lock"))]


def _present(pattern: str) -> list[Path]:
    return sorted(NOTES.glob(pattern)) if os.access(NOTES, os.R_OK) else []


def _is_locked(path: Path) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)  # several may look at once
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def features(device: str) -> Features:
    """Return on or off, of what can be changed."""
    states = {}
    for line in _ethtool("-k", device).splitlines():
        name, _, value = line.strip().partition(": ")
        words = value.split()
        if words and words[0] in ("on", "off") and "[fixed]" not in words:
            states[name] = words[0]
    return states


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


def put_back(devices: Iterable[str]) -> list[str]:
    """Restore what the notes say, and remove them. Returns what still differs, or why that is not known. Trouble with
    one interface keeps no other from being put back, and its note stays."""
    noted = {device: note for device in devices if (note := _noted(device)) is not None}
    troubles: dict[str, str] = {}
    for number in range(PASSES):  # turning one on may turn others on, or wait for what lies above or below
        troubles = {device: _approach(device, noted[device], one_by_one=number > 0) for device in noted}
        if not any(troubles.values()):
            break
    for device in noted:
        if not troubles[device]:
            _note(device).unlink()
    return [trouble for trouble in troubles.values() if trouble]


def _approach(device: str, wanted: Features, *, one_by_one: bool) -> str:
    """Set what differs; what that was."""
    try:
        now = features(device)
        differing = [name for name in wanted if now.get(name, wanted[name]) != wanted[name]]
        for names in [[name] for name in differing] if one_by_one else [differing] * bool(differing):
            _ethtool("-K", device, *(word for name in names for word in (name, wanted[name])), check=False)
    except OSError as error:
        return str(error)
    return "cannot put " + ", ".join(differing) + " of " + device + " back" if differing else ""


def _ethtool(*words: str, check: bool = True) -> str:
    done = subprocess.run(
        ["ethtool", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"PATH": SYSTEM_PATH},
        check=False,
    )
    complaint = done.stdout.decode(errors="replace")
    if check and done.returncode != 0:
        raise OSError("'ethtool " + " ".join(words) + "' said: " + " ".join(complaint.split()))
    return complaint
