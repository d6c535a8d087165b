"""Files on their way from one machine to another: tar, compressed with zstandard, in pieces. Whoever unpacks one says
beforehand which files it takes, so that nothing else can come out of it.

At the controller pieces are written to a file as they come, checked, and unpacked into folders that a store takes.
"""

import base64
import contextlib
import hashlib
import io
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO

import zstandard

from lanelab.driver.base.errors import PackError
from lanelab.driver.base.writing import writing
from lanelab.driver.run.folder.copies import TrialCopy
from lanelab.driver.run.folder.digests import file_digest
from lanelab.driver.run.sweep.messages import SMALL_BYTES, Pack

LEVEL = 1  # a worker has other things to do; captures become a third of their size even so
CHUNK = 1 << 20
CHECKSUM_BYTES = 32  # before each piece: sha256
TRIES = 3  # of a piece that is damaged on its way, and of a whole pack


class PackFile:
    """The part of a pack that is here. A piece that is damaged is left out, so that `have` asks for it again."""

    def __init__(self, path: Path, pack: Pack) -> None:
        self.pack, self.path = pack, path
        self.have = 0
        self._damaged = self._begun_anew = 0
        self._digest = hashlib.sha256()
        self._file: IO[bytes] = io.BytesIO()
        if not pack.data or pack.bytes > SMALL_BYTES:
            with writing("make room for a delivery"):
                path.parent.mkdir(parents=True, exist_ok=True)
                self._file = path.open("w+b")

    def add_text(self, text: str) -> None:
        """Add all of a small pack, as it came with its delivery. What comes damaged is left out."""
        with contextlib.suppress(ValueError):
            data = base64.b64decode(text, validate=True)
            if len(data) == self.pack.bytes:
                self.add(hashlib.sha256(data).digest() + data)

    def add(self, piece: bytes) -> None:
        """Add a piece, as `piece_of` made it, that begins at `have`. Raises PackError where pieces, or the whole, come
        damaged time and again."""
        checksum, data = piece[:CHECKSUM_BYTES], piece[CHECKSUM_BYTES:]
        fits = 0 < len(data) <= self.pack.bytes - self.have
        if not fits or hashlib.sha256(data).digest() != checksum:
            self._damaged += 1
            if self._damaged >= TRIES:
                raise PackError(f"a piece of {self.pack.name} came damaged {TRIES} times", "Check the network")
            return
        self._damaged = 0
        with writing("write a delivery"):
            self._file.write(data)
        self._digest.update(data)
        self.have += len(data)
        if self.have == self.pack.bytes:
            self._check()

    def _check(self) -> None:
        with writing("write a delivery"):
            self._file.flush()
        if self._digest.hexdigest() == self.pack.sha256:
            return
        self._begun_anew += 1
        if self._begun_anew >= TRIES:
            raise PackError(f"{self.pack.name} came damaged {TRIES} times", "Check the worker's disk and the network")
        self.have, self._digest = 0, hashlib.sha256()
        with writing("write a delivery"):
            self._file.seek(0)
            self._file.truncate()

    def unpack(self, trials: Iterable[TrialCopy], content: Path) -> None:
        """Unpack a folder for each trial, named by its number there, with just the artifacts that the trials name."""
        if self.have != self.pack.bytes:
            raise PackError(f"{self.pack.name} is not whole: {self.have} of {self.pack.bytes} bytes")
        trials = list(trials)
        for trial in trials:
            with writing("make room for a delivery"):
                (content / f"{trial.trial:06d}").mkdir(parents=True)
        with writing("read a delivery"):
            self._file.seek(0)
        _unpack(self._file, self.path.name, wanted_of(trials), content)

    def close(self) -> None:
        """Remove it."""
        with writing("remove a pack"):
            self._file.close()
            self.path.unlink(missing_ok=True)


def wanted_of(trials: Iterable[TrialCopy]) -> dict[str, int]:
    """Return names within a pack and sizes. Raises PackError for a name that leads elsewhere."""
    wanted = {}
    for trial in trials:
        for each in trial.artifacts:
            if each.name in ("", ".", "..") or set("/\0") & set(each.name):
                raise PackError(f"trial {trial.trial} names an artifact {each.name[:60]!r}, which is no name of a file")
            wanted[f"{trial.trial:06d}/{each.name}"] = each.bytes
    return wanted


def piece_of(path: Path, offset: int, length: int) -> bytes:
    """Return a part of a file as it travels: behind a checksum of its own."""
    data = part_of(path, offset, length)
    return hashlib.sha256(data).digest() + data


def part_of(path: Path, offset: int, length: int) -> bytes:
    with writing(f"read {path.name}"), path.open("rb") as file:
        file.seek(offset)
        return file.read(length)


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
        return path.stat().st_size, file_digest(path)


def unpack(path: Path, wanted: Mapping[str, int], folder: Path) -> None:
    """Write just these files, by name with their sizes, into a folder. Raises PackError where the archive has another
    file, one that is not plain, one of another size, or not all of them. The names are the caller's: it has to see that
    none leads elsewhere."""
    with writing(f"unpack {path.name}"):
        for parent in {(folder / name).parent for name in wanted}:
            parent.mkdir(parents=True, exist_ok=True)
    with path.open("rb") as packed:
        _unpack(packed, path.name, wanted, folder)


def _unpack(packed: IO[bytes], name: str, wanted: Mapping[str, int], folder: Path) -> None:
    left = dict(wanted)
    try:
        with (
            zstandard.ZstdDecompressor().stream_reader(packed, closefd=False) as plain,
            tarfile.open(fileobj=plain, mode="r|") as archive,
        ):
            for entry in archive:
                _take(archive, entry, left, folder)
    except (tarfile.TarError, zstandard.ZstdError, ValueError, EOFError, UnicodeError) as error:
        raise PackError(f"the pack {name} cannot be read: {error}") from error
    if left:
        raise PackError(f"the pack {name} lacks {min(left)}")


def _take(archive: tarfile.TarFile, entry: tarfile.TarInfo, left: dict[str, int], folder: Path) -> None:
    size = left.pop(entry.name, None)
    if size is None or entry.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
        raise PackError(f"the pack has {entry.name[:100]!r}, which nobody asked for")
    if entry.size != size or entry.sparse is not None:
        raise PackError(f"in the pack, {entry.name} has {entry.size} bytes instead of {size}")
    content = archive.extractfile(entry)
    if content is None:
        raise PackError(f"the pack has no content of {entry.name}")
    with writing(f"unpack {entry.name}"), (folder / entry.name).open("xb") as out:
        left_over = size - _copied(content, out)
    if left_over:
        raise PackError(f"the pack ends within {entry.name}")


def _copied(content: IO[bytes], out: IO[bytes]) -> int:
    """Return how many bytes there were. What cannot be read is not the disk's fault."""
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
