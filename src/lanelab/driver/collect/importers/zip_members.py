"""Members of a zip file, read within limits. Nothing is ever unpacked to disk, so names lead nowhere."""

import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.archive.limits import LIMITS, REFERENCE, Limits

MAGIC = b"PK\x03\x04"
# What ends a zip file, where in it the size of the list of contents is, and what stands before it in one of more than
# 65,535 members, or of 4 GB.
_END, _END_SIZE, _SIZE_AT = b"PK\x05\x06", 22, 12
_LOCATOR, _LOCATOR_SIZE = b"PK\x06\x07", 20
# What Python raises where a zip file is damaged, encrypted, or of a kind that it does not know.
_ERRORS = (
    zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError, OverflowError,
    struct.error, OSError, LookupError,
)  # fmt: skip
_LINK = 0o120000
Value = TypeVar("Value")


class ZipReader:
    """Each member once, and together no more than the limits say."""

    def __init__(self, path: Path, limits: Limits) -> None:
        if path.stat().st_size > limits.file_bytes:
            raise InputError(f"{path} is larger than {limits.file_bytes:,} bytes", REFERENCE)
        if not has_short_list(path, limits):
            raise InputError(f"{path} has too long a list of contents, or none", REFERENCE)
        self.path, self.limits = path, limits
        self._total = 0
        self._zip = self._guarded("its list of contents", lambda: zipfile.ZipFile(path))
        self.members = {each.filename: each for each in self._zip.infolist()}
        limits.require_answers(len(self.members), str(path), "files")

    def read(self, name: str) -> bytes:
        """Raises InputError where it cannot be read. A link is no file."""
        member = self.members[name]
        if (member.external_attr >> 16) & 0o170000 == _LINK:
            raise InputError(f"{self.path} has a link in it: {name!r}", "Get a copy that has files only")

        def expand() -> bytes:
            with self._zip.open(member) as opened:
                # One byte more than allowed tells that there is more; what the member says of its size is not trusted.
                return opened.read(self.limits.record_bytes + 1)

        data = self._guarded(repr(name), expand)
        self.limits.require_record(len(data), f"{name!r} in {self.path}")
        self._total += len(data)
        self.limits.require_total(self._total, str(self.path))
        return data

    def local_extra(self, name: str) -> bytes:
        """Return the extra field before the member's content, which may differ from the one in the list of contents."""
        member = self.members[name]

        def load() -> bytes:
            with self.path.open("rb") as opened:
                opened.seek(member.header_offset)
                head = opened.read(30)
                if head[:4] != MAGIC:
                    raise zipfile.BadZipFile("no member there")
                name_length, extra_length = struct.unpack("<HH", head[26:30])
                opened.seek(name_length, 1)
                return opened.read(extra_length)

        return self._guarded(repr(name), load)

    def close(self) -> None:
        self._zip.close()

    def _guarded(self, what: str, act: Callable[[], Value]) -> Value:
        try:
            return act()
        except _ERRORS as error:
            raise InputError(f"cannot read {what} in {self.path}: {error}", "Get a whole copy of it") from error


def has_short_list(path: Path, limits: Limits) -> bool:
    """Return whether it is a zip file whose list of contents is short: Python reads all of it."""
    with path.open("rb") as opened:
        opened.seek(-min(path.stat().st_size, _END_SIZE + 0xFFFF + _LOCATOR_SIZE), 2)
        tail = opened.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_SIZE or tail[max(0, at - _LOCATOR_SIZE) : at].startswith(_LOCATOR):
        return False
    return int.from_bytes(tail[at + _SIZE_AT : at + _SIZE_AT + 4], "little") <= limits.directory_bytes


def member_names(path: Path, limits: Limits = LIMITS) -> list[str]:
    """Return the names of a zip file; none where it is not one."""
    if not has_short_list(path, limits):
        return []
    try:
        with zipfile.ZipFile(path) as opened:
            return opened.namelist()
    except _ERRORS:
        return []
