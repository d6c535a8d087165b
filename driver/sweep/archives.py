"""Files on their way from one machine to another: tar, compressed with zstandard. Whoever unpacks one says beforehand
which files it takes, so that nothing else can come out of it."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO

import zstandard

from model.errors import PackError
from model.writing import writing

LEVEL = 1  # a worker has other things to do; captures become a third of their size even so
CHUNK = 1 << 20


def pack(path: Path, files: Iterable[tuple[str, Path]]) -> tuple[int, str]:
    """Write these files, each under its name there. Size and sha256 of the archive."""
    with writing(f"pack files into {path}"):
        with (
            path.open("wb") as out,
            zstandard.ZstdCompressor(level=LEVEL).stream_writer(out, closefd=False) as compressed,
            tarfile.open(fileobj=compressed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
        ):
            for name, file in files:
                entry = tarfile.TarInfo(name)
                entry.size = file.stat().st_size
                with file.open("rb") as content:
                    archive.addfile(entry, content)
        return path.stat().st_size, digest_of(path)


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unpack(path: Path, wanted: Mapping[str, int], folder: Path) -> None:
    """Write just these files, by name with their sizes, into a folder. Raises PackError where the archive has another
    file, one that is not plain, one of another size, or not all of them. The names are the caller's: it has to see that
    none leads elsewhere."""
    left = dict(wanted)
    try:
        with (
            path.open("rb") as packed,
            zstandard.ZstdDecompressor().stream_reader(packed) as plain,
            tarfile.open(fileobj=plain, mode="r|") as archive,
        ):
            for entry in archive:
                _take(archive, entry, left, folder)
    except (tarfile.TarError, zstandard.ZstdError, ValueError, EOFError, UnicodeError) as error:
        raise PackError(f"the pack {path.name} cannot be read: {error}") from error
    if left:
        raise PackError(f"the pack {path.name} lacks {min(left)}")


def _take(archive: tarfile.TarFile, entry: tarfile.TarInfo, left: dict[str, int], folder: Path) -> None:
    size = left.pop(entry.name, None)
    if size is None or entry.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
        raise PackError(f"the pack has {entry.name[:100]!r}, which nobody asked for")
    if entry.size != size or entry.sparse is not None:
        raise PackError(f"in the pack, {entry.name} has {entry.size} bytes instead of {size}")
    content = archive.extractfile(entry)
    if content is None:
        raise PackError(f"the pack has no content of {entry.name}")
    with writing(f"unpack {entry.name}"):
        target = folder / entry.name
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as out:
            left_over = size - _copied(content, out)
    if left_over:
        raise PackError(f"the pack ends within {entry.name}")


def _copied(content: IO[bytes], out: IO[bytes]) -> int:
    """How many bytes there were. What cannot be read is not the disk's fault."""
    copied = 0
    while data := _read(content):
        out.write(data)
        copied += len(data)
    return copied


def _read(content: IO[bytes]) -> bytes:
    try:
        return content.read(CHUNK)
    except (tarfile.TarError, OSError) as error:
        raise PackError(f"the pack cannot be read: {error}") from error
