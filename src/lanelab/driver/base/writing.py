"""Errors of the disk in words."""

import contextlib
import errno
import os
import select
import sqlite3
from collections.abc import Iterator

from lanelab.driver.base.errors import DiskFull, StoreError


@contextlib.contextmanager
def writing(what: str) -> Iterator[None]:
    """Turn errors of the disk and of databases into StoreErrors: what is stored stays as it is."""
    try:
        yield
    except (OSError, sqlite3.OperationalError, sqlite3.DatabaseError) as error:
        if is_full(error):
            remedy = "Free some space and go on with --resume; everything that was stored before is intact"
            raise DiskFull(f"the disk is full: cannot {what}", remedy) from error
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise StoreError(f"cannot {what}: {why}", "Check the folder and its permissions") from error


def is_full(error: OSError | sqlite3.Error) -> bool:
    """Return whether it says that the disk is full. The words of an OSError have a path, with any name in it."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return "full" in str(error)


def write_all(fd: int, data: bytes) -> None:
    """Write all of it, also where the descriptor's other users have made it non-blocking."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            room = select.poll()
            room.register(fd, select.POLLOUT)
            room.poll()
