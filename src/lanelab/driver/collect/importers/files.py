"""Files of a folder that somebody else made: regular ones, below it, and not too many."""

import os
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.archive.limits import Limits
from lanelab.driver.site.archive.read_warc import shown


def files_below(folder: Path, limits: Limits) -> tuple[list[Path], list[str]]:
    """Return files in order of their names, and words on what was passed over: links, which could lead anywhere, and
    hidden files, which are rarely a part of a site."""
    files: list[Path] = []
    left_out: list[str] = []

    def failed(error: OSError) -> None:
        raise InputError(f"cannot read {error.filename}: {error.strerror}", "Check its permissions") from error

    for at, folders, names in os.walk(folder, onerror=failed):
        folders.sort()
        for name in [*folders]:
            file = Path(at, name)
            if name.startswith(".") or file.is_symlink():
                folders.remove(name)
                left_out.append(f"{_name(file, folder)}/: a {'link' if file.is_symlink() else 'hidden folder'}")
        for name in sorted(names):
            file = Path(at, name)
            if why := _why_not(file):
                left_out.append(f"{_name(file, folder)}: {why}")
            else:
                files.append(file)
        limits.require_answers(len(files) + len(left_out), str(folder), "files")
    return files, left_out


def inside(folder: Path, name: str) -> Path | None:
    """The regular file of that name below the folder; None where it would be elsewhere, or is none."""
    if not name or "\0" in name:
        return None
    file = folder / name
    try:
        real = file.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
    if not real.is_relative_to(folder.resolve()) or not real.is_file() or real != folder.resolve() / name:
        return None
    return real


def _why_not(file: Path) -> str | None:
    if file.is_symlink():
        return "a link"
    if file.name.startswith("."):
        return "a hidden file"
    return None if file.is_file() else "no regular file"


def _name(file: Path, folder: Path) -> str:
    return shown(str(file.relative_to(folder)))
