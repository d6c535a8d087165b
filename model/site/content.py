"""The files of a site: made by its recipe where it has one, and never used before they are what the manifest says."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from model.errors import BedError, InputError
from model.paths import build_folder
from model.site.manifest import MANIFEST, Manifest, SiteObject

CONTENT = "content"
GENERATOR_TIMEOUT_S = 300


def content_of(name: str, folder: Path, manifest: Manifest) -> Path:
    """The folder with HOST/path of every object, whole and as the manifest says."""
    if manifest.generate is None:
        content = folder / CONTENT
        verify(content, manifest.objects, f"Bring it back, or correct {folder / MANIFEST}")
        return content
    recipe = _recipe(folder, manifest.generate)
    content = build_folder() / "sites" / f"{name}-{recipe}"
    if not content.is_dir():
        _generate(name, folder, manifest, content)
    verify(content, manifest.objects, f"Remove the folder {content}; it is made again when it is needed")
    return content


def verify(content: Path, objects: Iterable[SiteObject], remedy: str) -> None:
    """Every object has its size and hash, and nothing else is there that a server could answer with."""
    left = _files_in(content)
    for each in {each.file: each for each in objects}.values():
        file = content / each.file
        if each.file not in left:
            raise InputError(f"the site's file {file} is missing", remedy)
        left.discard(each.file)
        size, digest = _size_and_hash(file)
        if size != each.size:
            raise InputError(f"the site's file {file} was changed: {size} bytes instead of {each.size}", remedy)
        if digest != each.sha256:
            raise InputError(f"the site's file {file} was changed: another sha256 than the manifest has", remedy)
    if left:
        raise InputError(f"the file {content / min(left)} is not in the site's manifest", remedy)


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


def _recipe(folder: Path, generator: str) -> str:
    """A name for what this recipe makes: another recipe gets another folder, and old runs keep theirs."""
    digest = hashlib.sha256()
    for file in (MANIFEST, generator):
        try:
            digest.update((folder / file).read_bytes() + b"\0")
        except OSError as error:
            raise InputError(f"cannot read {folder / file}: {error.strerror}", "Bring it back") from error
    return digest.hexdigest()[:12]


def _generate(name: str, folder: Path, manifest: Manifest, content: Path) -> None:
    """Under a lock, aside, verified, then renamed: whoever sees the folder sees all of it."""
    sites = content.parent
    try:
        sites.mkdir(parents=True, exist_ok=True)
        with (sites / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if content.is_dir():
                return
            for leftover in sites.glob(f".{name}-*.making"):
                shutil.rmtree(leftover)
            aside = Path(tempfile.mkdtemp(prefix=f".{name}-", suffix=".making", dir=sites))
            try:
                _run_generator(folder / str(manifest.generate), aside)
                verify(aside, manifest.objects, f"Correct {folder / str(manifest.generate)} or {folder / MANIFEST}")
                aside.chmod(0o755)  # mkdtemp gives it to its owner alone
                aside.rename(content)
            finally:
                shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        what = f"cannot make the site {name} in {sites}: {error.strerror or error}"
        raise BedError(what, "Free some space, or set LANELAB_BUILD to a folder that can be written") from error


def _run_generator(generator: Path, folder: Path) -> None:
    """A process of its own, isolated: what it makes must not depend on who calls it."""
    argv = [sys.executable, "-I", str(generator), str(folder)]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=GENERATOR_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise InputError(f"{generator} did not end within {GENERATOR_TIMEOUT_S} s", "Make it faster") from error
    if done.returncode:
        output = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise InputError(f"{generator} failed with status {done.returncode}: {output}", f"Run it: {' '.join(argv)}")
