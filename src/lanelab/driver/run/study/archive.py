"""The archive of an artifact: many files in one .tar.gz, with the same bytes for the same files, and unpacked so that
nothing in it can do harm. Whoever made it may be anybody.
"""

import contextlib
import gzip
import hashlib
import io
import re
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, cast

from lanelab.driver.base.errors import ArtifactError
from lanelab.driver.base.writing import writing

ROOT = "artifact"  # the only folder in it
SUMS = "SHA256SUMS"
MOST_FILES = 500_000
MOST_BYTES = 64 << 30  # unpacked
MOST_GROWTH, SMALL = 300, 64 << 20  # unpacked bytes for each packed one, once there are more than a few
MOST_HEADER = 1 << 20  # bytes of tar's own between two files
CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
LONGEST_NAME, LONGEST_PART = 400, 200
_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_DAMAGED = "Get the archive again from where it was published"
Content = bytes | Path


def write_archive(target: Path, files: Mapping[str, Content]) -> None:
    """Write the archive of `files`, which have their names below the root. A list of their digests comes first."""
    listed = "".join(f"{_digest(files[name])}  {name}\n" for name in sorted(files))
    part = target.with_name(f".{target.name}.part")
    try:
        with writing(f"write {target}"):
            target.parent.mkdir(parents=True, exist_ok=True)
            with (
                part.open("wb") as raw,
                gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
                tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
            ):
                _add(tar, SUMS, listed.encode())
                for name in sorted(files):
                    _add(tar, name, files[name])
            part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _add(tar: tarfile.TarFile, name: str, content: Content) -> None:
    """Add a file without anything that depends on who packs, where and when."""
    info = tarfile.TarInfo(f"{ROOT}/{name}")
    info.mode = 0o644
    if isinstance(content, bytes):
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
        return
    with content.open("rb") as file:
        info.size = content.stat().st_size
        tar.addfile(info, file)


def _digest(content: Content) -> str:
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    return file_digest(content)


def file_digest(path: Path) -> str:
    with writing(f"read {path}"), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- unpacking


def unpack(archive: Path, folder: Path) -> None:
    """Make `folder` of what the archive has, whole and checked, or not at all. ArtifactError where it is damaged, or
    would write elsewhere, or too much."""
    if not archive.is_file():
        raise ArtifactError(f"there is no archive {archive}", "Name the file that lanelab study artifact wrote")
    with writing(f"unpack {archive} into {folder}"):
        is_new = not folder.parent.exists()
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", suffix=".part", dir=folder.parent))
        try:
            digests = _unpack_into(archive, aside)
            _verify(archive, aside, digests)
            aside.chmod(0o755)
            aside.rename(folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
            if is_new and not any(folder.parent.iterdir()):
                folder.parent.rmdir()  # nothing is left of an archive that is refused


def _unpack_into(archive: Path, folder: Path) -> dict[str, str]:
    """Return the digest of every file, by its name."""
    most = min(MOST_BYTES, max(SMALL, MOST_GROWTH * archive.stat().st_size))
    digests: dict[str, str] = {}
    total = entries = 0
    with _damage(archive):
        for name, size, file in _entries(archive):
            entries += 1
            total += size
            if total > most or entries > MOST_FILES:
                what = f"{archive} would unpack to more than {most >> 20} MiB, or {MOST_FILES} files"
                raise ArtifactError(what, "No artifact is that large for its size: do not trust it")
            if file is None:
                continue
            if name in digests:
                raise ArtifactError(f"{archive}: {name} is in it twice", _DAMAGED)
            digests[name] = _write(archive, folder / name, size, file)
    return digests


@contextlib.contextmanager
def _damage(archive: Path) -> Iterator[None]:
    """Make an ArtifactError of what the libraries say of damage."""
    try:
        yield
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, ValueError, OverflowError, KeyError) as error:
        raise ArtifactError(f"{archive} is damaged or no artifact: {str(error)[:200]}", _DAMAGED) from error


def _entries(archive: Path) -> Iterator[tuple[str, int, IO[bytes] | None]]:
    """(name below the root, size, content) of each; of a folder, as tar itself puts them in, there is no content."""
    with _unzipped(archive) as plain:
        limited = _Limited(plain)
        with tarfile.open(fileobj=limited, mode="r|") as tar:  # type: ignore[call-overload]
            while True:
                limited.allowance = MOST_HEADER
                info = tar.next()
                if info is None:
                    return
                name = _name(archive, info)
                if info.isdir():
                    yield name, 0, None
                    continue
                limited.allowance = info.size + MOST_HEADER
                file = tar.extractfile(info)
                if file is None:
                    raise ArtifactError(f"{archive}: {name} is no file", _DAMAGED)
                yield name, info.size, file


def _unzipped(archive: Path) -> IO[bytes]:
    """Return the tar, whether it is packed or not."""
    with archive.open("rb") as file:
        is_packed = file.read(len(_GZIP)) == _GZIP
    return cast("IO[bytes]", gzip.open(archive)) if is_packed else archive.open("rb")


class _Limited:
    """Reads on, but no further than it is allowed: a header of tar could claim to be as large as memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.allowance = MOST_HEADER

    def read(self, size: int) -> bytes:
        self.allowance -= size
        if self.allowance < 0:
            raise ValueError("a header of it is too large")
        return self._file.read(size)


def _name(archive: Path, info: tarfile.TarInfo) -> str:
    shown = repr(info.name[:LONGEST_PART])
    if info.type not in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE) or info.sparse is not None:
        raise ArtifactError(f"{archive}: {shown} is no plain file", "An artifact has no links or devices")
    root, _, name = info.name.partition("/")
    if root != ROOT or not (is_safe(name) or (info.isdir() and not name)):
        what = f"{archive}: {shown} is no name within the artifact"
        raise ArtifactError(what, "It could be written anywhere: do not trust this archive")
    if info.size < 0:
        raise ArtifactError(f"{archive}: {shown} has no size", _DAMAGED)
    return name


def is_safe(name: str) -> bool:
    """Return whether the name stays in the folder that it is put into."""
    parts = name.split("/")
    return len(name) <= LONGEST_NAME and all(_PART.fullmatch(part) and len(part) <= LONGEST_PART for part in parts)


def _write(archive: Path, path: Path, size: int, file: IO[bytes]) -> str:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        out = path.open("xb")
    except (FileExistsError, NotADirectoryError) as error:
        raise ArtifactError(f"{archive}: {path.name} is a file and a folder at once", _DAMAGED) from error
    digest, left = hashlib.sha256(), size
    with out:
        while left:
            data = file.read(min(CHUNK, left))
            if not data:
                raise ArtifactError(f"{archive}: {path.name} is cut short", _DAMAGED)
            left -= len(data)
            digest.update(data)
            out.write(data)
    return digest.hexdigest()


def _verify(archive: Path, folder: Path, digests: Mapping[str, str]) -> None:
    if SUMS not in digests:
        raise ArtifactError(f"{archive} has no {SUMS}", "Name the file that lanelab study artifact wrote")
    listed = _sums(archive, folder / SUMS)
    files = {name: digest for name, digest in digests.items() if name != SUMS}
    if missing := sorted(listed.keys() - files.keys()):
        raise ArtifactError(f"{archive}: {missing[0]} is missing, and {SUMS} lists it", _DAMAGED)
    if unknown := sorted(files.keys() - listed.keys()):
        raise ArtifactError(f"{archive}: {unknown[0]} is not in {SUMS}", _DAMAGED)
    if changed := sorted(name for name in files if files[name] != listed[name]):
        raise ArtifactError(f"{archive}: {changed[0]} is not what {SUMS} says: it was changed", _DAMAGED)


def _sums(archive: Path, path: Path) -> dict[str, str]:
    listed = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ArtifactError(f"{archive}: {SUMS} is no text", _DAMAGED) from error
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        if not match or match[2] in listed:
            raise ArtifactError(f"{archive}: {SUMS}, line {number}: no digest and name", _DAMAGED)
        listed[match[2]] = match[1]
    return listed
