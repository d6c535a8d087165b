"""What every importer gives, and what it is given."""

import datetime
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.archive.dates import utc_text
from lanelab.driver.site.archive.limits import LIMITS, REFERENCE, Limits
from lanelab.driver.site.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Source:
    """The file or folder that is imported."""

    path: Path
    host: str  # of a plain folder, which names none
    limits: Limits = LIMITS


@dataclass(frozen=True, slots=True)
class Imported:
    exchanges: tuple[Exchange, ...]
    left_out: tuple[str, ...] = ()  # words
    entry: str | None = None  # address of the page, where the recording names it
    title: str | None = None
    unanswered: tuple[str, ...] = ()  # host and path
    doubtful: tuple[str, ...] = ()  # words on what is used although it may not be what was recorded
    loads: Mapping[str, frozenset[str]] = field(default_factory=dict)  # of a page's address: what its load asked for
    of_one_load: bool = False  # whether it is what one load of its page asked for, and says what was late


@dataclass(frozen=True, slots=True)
class Importer:
    """One kind of recording."""

    name: str
    title: str  # for people: "a HAR file"
    matches: Callable[[Path], bool]  # by what is there, not by its name
    read: Callable[[Source], Imported]


def read_file(path: Path, limits: Limits = LIMITS, *, most: int | None = None) -> bytes:
    """Return a whole file, of at most so many bytes."""
    most = most or limits.file_bytes
    try:
        with path.open("rb") as opened:
            data = opened.read(most + 1)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}", "Check its path and permissions") from error
    if len(data) > most:
        raise InputError(f"{path} is larger than {most:,} bytes", REFERENCE)
    return data


def start_of(path: Path, length: int = 8_192) -> bytes:
    """Its first bytes; empty where there are none."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as opened:
            return opened.read(length)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}", "Check its path and permissions") from error


def changed_utc(path: Path) -> str:
    """Return when the file was last changed: the date of what has no other."""
    instant = datetime.datetime.fromtimestamp(int(path.stat().st_mtime), datetime.UTC)
    return utc_text(instant)


def require_plain(path: Path) -> None:
    """An existing file or folder: opening anything else could wait for ever."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}", "Check its path") from error
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise InputError(f"{path} is neither a file nor a folder", "Name an archive or a folder")
