"""Where lanelab writes: inside its own build folder, and nowhere else without being asked."""

import contextlib
import datetime
import errno
import fcntl
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

from lanelab.driver.base import configuration
from lanelab.driver.base.errors import BedError

PROJECT, SOURCES, PACKAGE = configuration.PROJECT, configuration.SOURCES, configuration.PACKAGE
CHECKOUT = configuration.CHECKOUT
BEDS_KEPT = 20


def build_folder() -> Path:
    """Return the folder for everything that can be made again."""
    return configuration.current().build


def sites_folder() -> Path:
    """Return the archive of sites where new ones go: the checkout's, or the user's own."""
    return configuration.current().sites


def site_archives() -> tuple[Path, ...]:
    """Return where sites are looked for, in this order."""
    shipped = configuration.current().shipped_sites
    users = sites_folder()
    if shipped is None:
        return (users,)
    return (users, shipped) if users.is_dir() else (shipped,)


@contextlib.contextmanager
def bed_folder() -> Iterator[Path]:
    """A new folder for a bed's logs. Those of the last beds are kept; older ones go, unless their bed still runs."""
    beds = build_folder() / "beds"
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    folder = beds / f"{stamp}-{threading.get_native_id()}"  # several threads may each make one at the same moment
    try:
        folder.mkdir(parents=True)
        lock = os.open(folder / "in-use", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
    except OSError as error:
        remedy = (
            "Free some space" if error.errno == errno.ENOSPC else "Set LANELAB_BUILD to a folder that can be written"
        )
        raise BedError(f"cannot write the bed's logs to {folder}: {error.strerror}", remedy) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _forget_old(beds)
        yield folder
    finally:
        os.close(lock)


def _forget_old(beds: Path) -> None:
    for folder in sorted(beds.iterdir())[:-BEDS_KEPT]:
        with contextlib.suppress(OSError):
            lock = os.open(folder / "in-use", os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(lock)
