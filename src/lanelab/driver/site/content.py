"""Sites whose manifest lists the objects: the files lie in `content/`, or a program makes them."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import build_folder
from lanelab.driver.site.manifest import MANIFEST, Manifest, file_of
from lanelab.driver.site.site import SiteObject, StoredObject

CONTENT = "content"
CACHE = "sites"  # below the build folder
GENERATOR_TIMEOUT_S = 300


def make(folder: Path, manifest: Manifest) -> Iterator[StoredObject]:
    """Yield the objects with their bodies, exactly as the manifest says."""
    if manifest.generate is None:
        content = folder / CONTENT
        verify(content, manifest.objects, f"Bring it back, or correct {folder / MANIFEST}")
        yield from _read(content, manifest.objects)
        return
    # Named as what the cache sweeps away when it makes the site again.
    cache = build_folder() / CACHE
    cache.mkdir(parents=True, exist_ok=True)
    workshop = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", suffix=".making", dir=cache))
    try:
        generator = folder / manifest.generate
        _run_generator(generator, workshop)
        verify(workshop, manifest.objects, f"Correct {generator} or {folder / MANIFEST}")
        yield from _read(workshop, manifest.objects)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def verify(content: Path, objects: Iterable[SiteObject], remedy: str) -> None:
    """Every object has its size and hash, and nothing else is there that a server could answer with."""
    left = _files_in(content)
    for each in {file_of(each): each for each in objects}.values():
        file = content / file_of(each)
        if file_of(each) not in left:
            raise InputError(f"the site's file {file} is missing", remedy)
        left.discard(file_of(each))
        size, digest = _size_and_hash(file)
        if size != each.size:
            raise InputError(f"the site's file {file} was changed: {size} bytes instead of {each.size}", remedy)
        if digest != each.sha256:
            raise InputError(f"the site's file {file} was changed: another sha256 than the manifest has", remedy)
    if left:
        raise InputError(f"the file {content / min(left)} is not in the site's manifest", remedy)


def _read(content: Path, objects: Iterable[SiteObject]) -> Iterator[StoredObject]:
    for each in objects:
        yield StoredObject(each, (content / file_of(each)).read_bytes())


def _files_in(content: Path) -> set[str]:
    """Regular files only: a link could lead anywhere."""
    files = set()
    for folder, _, names in os.walk(content):
        for name in names:
            file = Path(folder, name)
            if file.is_file() and not file.is_symlink():
                files.add(str(file.relative_to(content)))
    return files


def _size_and_hash(file: Path) -> tuple[int, str]:
    try:
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
            return opened.tell(), digest
    except OSError as error:
        raise InputError(f"cannot read the site's file {file}: {error.strerror}", "Check its permissions") from error


def _run_generator(generator: Path, folder: Path) -> None:
    """Run the generator in its own isolated process: what it makes must not depend on its caller."""
    argv = [sys.executable, "-I", str(generator), str(folder)]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=GENERATOR_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise InputError(f"{generator} did not end within {GENERATOR_TIMEOUT_S} s", "Make it faster") from error
    if done.returncode:
        output = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise InputError(f"{generator} failed with status {done.returncode}: {output}", f"Run it: {' '.join(argv)}")
