"""Files of the report appear whole or not at all."""

import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from lanelab.driver.base.errors import DiskFull, StoreError
from lanelab.driver.base.writing import is_full


def write_whole(target: Path, content: bytes) -> None:
    """Whole or not at all: someone may be looking at the last one."""
    write_together({target: content})


def write_together(files: Mapping[Path, bytes]) -> None:
    """All of them, or none: each is on the disk before the first one takes its place. Of several writers at once each
    has parts of its own, and the last one stays."""
    parts = {target: target.with_name(f".{secrets.token_hex(6)}.part") for target in files}
    folders: list[Path] = []
    target = next(iter(files))
    try:
        for target, content in files.items():
            folders += _make(target.parent)
            parts[target].write_bytes(content)
        for target, part in parts.items():
            part.replace(target)
    except OSError as error:
        _remove(list(parts.values()), folders)
        kind = DiskFull if is_full(error) else StoreError
        raise kind(
            f"cannot write {target}: {error.strerror}",
            "Free some space or check the permissions, or name another place for it",
        ) from error


def _make(folder: Path) -> list[Path]:
    """Make a folder, and return what was not there before, the outermost first."""
    lacking = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return lacking[::-1]


def _remove(parts: list[Path], folders: list[Path]) -> None:
    for part in parts:
        with suppress(OSError):  # the target's folder may be a file
            part.unlink(missing_ok=True)
    for folder in reversed(folders):
        with suppress(OSError):  # somebody else has written into it
            folder.rmdir()
