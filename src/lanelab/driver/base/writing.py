"""Errors of the disk in words."""

import contextlib
import errno
import os
import select
import sqlite3
from collections.abc import Iterator

from lanelab.driver.base.errors import StoreError


@contextlib.contextmanager
def writing(what: str) -> Iterator[None]:
    """Turn errors of the disk and of databases into StoreErrors: what is stored stays as it is."""
    try:
        yield
    except (OSError, sqlite3.OperationalError, sqlite3.DatabaseError) as error:
        full = getattr(error, "errno", 0) in (errno.ENOSPC, errno.EDQUOT) or "full" in str(error)
        if full:
            remedy = "Free some space and go on with --resume; everything that was stored before is intact"
            raise StoreError(f"the disk is full: cannot {what}", remedy) from error
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise StoreError(f"cannot {what}: {why}", "Check the folder and its permissions") from error


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
