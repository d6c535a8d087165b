"""Errors of the disk: which of them say that it is full."""

import errno
import sqlite3
from pathlib import Path

import pytest

from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.driver.base.errors import DiskFull, StoreError
from lanelab.driver.base.writing import writing


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        sqlite3.OperationalError("database or disk is full"),
    ],
)
def test_a_full_disk_is_known(error: Exception) -> None:
    with pytest.raises(DiskFull, match=r"the disk is full: cannot keep it\. Free some space"), writing("keep it"):
        raise error


@pytest.mark.parametrize(
    "error",
    [OSError(errno.EACCES, "Permission denied", "/home/fuller/runs"), sqlite3.OperationalError("database is locked")],
)
def test_no_other_error_is_taken_for_it(error: Exception) -> None:
    with pytest.raises(StoreError, match="cannot keep it: ") as raised, writing("keep it"):
        raise error
    assert not isinstance(raised.value, DiskFull)


def test_files_that_are_written_whole_say_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_path: Path, _content: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(DiskFull, match="cannot write"):
        write_whole(tmp_path / "new" / "page.html", b"words")
    assert list(tmp_path.iterdir()) == []
