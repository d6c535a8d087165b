"""Files out of packages, read into memory: nothing is unpacked to the disk, so no name in a package leads anywhere."""

import io
import lzma
import posixpath
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import IO

import zstandard

from lanelab.driver.base.errors import InputError

LARGEST_FILE = 64 << 20
MOST_BYTES = 512 << 20  # of a package's packed files
AR = b"!<arch>\n"
AR_HEAD = 60
MOST_LINKS = 8  # from one name to its file
BROKEN = (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, zstandard.ZstdError, EOFError, OSError,
          ValueError, NotImplementedError, RuntimeError)  # fmt: skip


def files_of(package: Path, kind: str, wanted: Collection[str]) -> dict[str, bytes]:
    """Return the wanted files that are there, by name. Links are followed inside the package."""
    try:
        if kind == "pypi":
            return _of_zip(package, wanted)
        if kind == "debian":
            return _of_tar(io.BytesIO(_data_of_deb(package)), wanted)
        with package.open("rb") as opened:
            return _of_tar(opened, wanted)
    except BROKEN as error:
        what = f"cannot read the package {package}: {error or 'it is broken'}"
        raise InputError(what, "Remove it: it is fetched again when it is needed") from error


def _of_tar(opened: IO[bytes], wanted: Collection[str]) -> dict[str, bytes]:
    files = {}
    with tarfile.open(fileobj=opened, mode="r:*") as archive:
        members = {posixpath.normpath(member.name): member for member in archive}
        named = {name: members.get(_resolved(name, members) or "") for name in wanted}
        there = {name: member for name, member in named.items() if member is not None and member.isreg()}
        for name, member in sorted(there.items(), key=lambda item: item[1].offset):
            content = archive.extractfile(member)
            if content is not None:
                files[name] = _limited(name, member.size, content)
    return files


def _resolved(name: str, members: Mapping[str, tarfile.TarInfo], links: int = 0) -> str | None:
    """Return the name of the file itself, where links lead to it. None: they lead out of the package, or nowhere."""
    done = ""
    parts = name.split("/")
    for place, part in enumerate(parts):
        done = f"{done}/{part}" if done else part
        member = members.get(done)
        if member is not None and (member.issym() or member.islnk()):
            target = member.linkname.lstrip("/")
            if member.issym() and not member.linkname.startswith("/"):
                target = posixpath.join(posixpath.dirname(done), target)
            target = posixpath.normpath(posixpath.join(target, *parts[place + 1 :]))
            if target.startswith("../") or links == MOST_LINKS:
                return None
            return _resolved(target, members, links + 1)
    return done


def _of_zip(package: Path, wanted: Collection[str]) -> dict[str, bytes]:
    files = {}
    with zipfile.ZipFile(package) as archive:
        for member in archive.infolist():
            if not member.is_dir() and member.filename in wanted:
                with archive.open(member) as content:
                    files[member.filename] = _limited(member.filename, member.file_size, content)
    return files


def _limited(name: str, size: int, content: IO[bytes]) -> bytes:
    if size > LARGEST_FILE:
        raise ValueError(f"{name} is larger than {LARGEST_FILE} bytes")
    data = content.read(LARGEST_FILE + 1)
    if len(data) != size:
        raise ValueError(f"{name} has {len(data)} bytes instead of {size}")
    return data


def _data_of_deb(package: Path) -> bytes:
    """Return the archive of files inside, unpacked."""
    for name, data in _ar(package.read_bytes()):
        if name == "data.tar.xz":
            return _bounded(lzma.LZMADecompressor().decompress(data, MOST_BYTES + 1))
        if name == "data.tar.gz":
            return _bounded(zlib.decompressobj(wbits=31).decompress(data, MOST_BYTES + 1))
        if name == "data.tar.zst":
            return _bounded(zstandard.ZstdDecompressor().stream_reader(data).read(MOST_BYTES + 1))
        if name == "data.tar":
            return data
    raise ValueError("it has no data.tar")


def _bounded(data: bytes) -> bytes:
    if len(data) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES} bytes")
    return data


def _ar(data: bytes) -> Iterator[tuple[str, bytes]]:
    if not data.startswith(AR):
        raise ValueError("it is no Debian package")
    place = len(AR)
    while place + AR_HEAD <= len(data):
        head = data[place : place + AR_HEAD]
        size = int(head[48:58])
        place += AR_HEAD
        if size < 0 or place + size > len(data):
            raise ValueError("it is cut off")
        yield head[:16].decode("latin-1").strip().rstrip("/"), data[place : place + size]
        place += size + size % 2
