"""Who writes to a run folder: the process that holds its lock. It is asked to stop as its terminal would ask it.

The number of a process may have gone to another one by the time that it is sent a signal. So the process is held by a
handle first, then it is made sure of, and then the handle is used.
"""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

from lanelab.driver.base.errors import StoreError
from lanelab.driver.run.folder.store import LOCK

PROC = Path("/proc")
IN_ORDER = (signal.SIGINT, signal.SIGTERM)  # either ends a run in order; a shell starts some programs deaf to the first


def interrupt_writer(folder: Path) -> None:
    """Send whoever writes to this run what Ctrl-C sends: the first one lets the trial that is under way finish, the
    second one does not. Raises StoreError where nobody on this machine writes to it, or somebody who is not ours."""
    why = _nobody(folder)
    for number in _likely(folder):
        try:
            if _is_interrupted(folder, number):
                return
        except StoreError as error:  # another one may be the writer
            why = error
    raise why


def _is_interrupted(folder: Path, number: int) -> bool:
    """Send the signal to this process where it is who writes. Return whether it is."""
    with _held(number) as handle, _asking(folder):
        if _is_holder(folder, number):
            signal.pidfd_send_signal(handle, _heard(number))
            return True
    return False


def _likely(folder: Path) -> list[int]:
    """Return the processes that have a lock of a file with this inode, as the kernel lists them. Other disks have files
    with the same one, and not all file systems call their device here as they do elsewhere."""
    with _asking(folder):
        inode = (folder / LOCK).stat().st_ino
        lines = [line.split() for line in (PROC / "locks").read_text().splitlines()]
    return [number for words in lines if (number := _locker(words, inode)) is not None]


def _locker(words: list[str], inode: int) -> int | None:
    """Return the process of a lock that who writes to this file would have."""
    is_one = words[1:2] == ["FLOCK"] and "WRITE" in words and any(word.endswith(f":{inode}") for word in words)
    return int(words[words.index("WRITE") + 1]) if is_one else None


@contextlib.contextmanager
def _held(number: int) -> Iterator[int]:
    """Yield a handle of that process."""
    try:
        handle = os.pidfd_open(number)
    except OSError as error:
        what = f"process {number}, which writes to the run, cannot be reached: {error.strerror}"
        raise StoreError(what, "Stop it where it was started") from error
    try:
        yield handle
    finally:
        os.close(handle)


def _is_holder(folder: Path, number: int) -> bool:
    """Return whether the process has this very file open, and the lock by it."""
    lock, process = (folder / LOCK).stat(), PROC / str(number)
    for entry in (process / "fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            there = entry.stat()
            if (there.st_dev, there.st_ino) == (lock.st_dev, lock.st_ino):
                held = (process / "fdinfo" / entry.name).read_text().splitlines()
                if any(_locker(line.split()[1:], lock.st_ino) is not None for line in held):
                    return True
    return False


def _heard(number: int) -> signal.Signals:
    """Return the signal that the process would end the run in order for. One that it does not catch would kill it."""
    status = (PROC / str(number) / "status").read_text()
    caught = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigCgt:"))
    for each in IN_ORDER:
        if caught >> (each - 1) & 1:
            return each
    raise StoreError(f"process {number}, which writes to the run, listens to no signal", "Stop it where it was started")


@contextlib.contextmanager
def _asking(folder: Path) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, ProcessLookupError):
        raise _nobody(folder) from None
    except PermissionError:
        what = f"the run in {folder} is written by a process of another user"
        raise StoreError(what, "Stop it where it was started") from None


def _nobody(folder: Path) -> StoreError:
    return StoreError(f"nobody on this machine writes to the run in {folder}", "It has ended, or runs elsewhere")
