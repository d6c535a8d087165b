"""Builds the wheel from a copy of what git tracks: nothing that lies about in the checkout gets in, and two builds of
one commit are the same bytes."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.programs.building.documentation import documentation
from lanelab.driver.base.version import VERSION
from tools.commit_time import time_of_commit
from tools.git import git
from tools.wheel.build_hook import BUILT_FROM, built_from_git
from tools.wheel.shipped import MAN_PAGES, PAGES
from tools.wheel.version import version_of

VERSION_FILE = "src/lanelab/driver/base/version.py"
VERSION_LINES = {"pyproject.toml": 'version = "{}"', VERSION_FILE: 'VERSION = "{}"', "CITATION.cff": "version: {}"}


def build_wheel(checkout: Path, out: Path, *, with_pages: bool) -> Path:
    """Return the wheel; making the pages of the documentation takes a minute. Raises BuildError."""
    out.mkdir(parents=True, exist_ok=True)
    with tracked_copy(checkout) as copy:
        if with_pages:
            shutil.copytree(documentation(copy / "docs"), copy / PAGES)
        _write_version(copy, version_of(checkout, VERSION))
        (copy / BUILT_FROM).write_text(built_from_git(checkout))
        _write_man_pages(copy)
        output = copy.parent / "output"
        argv = [sys.executable, "-I", "-m", "hatchling", "build", "--target", "wheel", "--directory", str(output)]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(time_of_commit(checkout))}
        _run(argv, copy, environment, "hatchling built no wheel")
        (wheel,) = output.glob("*.whl")
        return Path(shutil.move(wheel, out / wheel.name))


def _run(argv: list[str], folder: Path, environment: dict[str, str], failure: str) -> None:
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(failure, "The end of what it says is above", output=done.stderr[-2000:])


def _write_man_pages(copy: Path) -> None:
    """Let a process do it whose lanelab is the copy: its commands, and its version."""
    argv = [sys.executable, "-P", "-B", "-m", "tools.man", str(copy / MAN_PAGES)]
    environment = {**os.environ, "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}"}
    _run(argv, copy, environment, "the man pages could not be written")


def _write_version(copy: Path, version: str) -> None:
    """Write it where the copy declares the one that a checkout calls itself."""
    for name, line in VERSION_LINES.items():
        text = (copy / name).read_text()
        declared = line.format(VERSION)
        if text.count(f"\n{declared}\n") != 1:
            raise BuildError(f"{name} has no line {declared}", f"Write one version into {', '.join(VERSION_LINES)}")
        (copy / name).write_text(text.replace(f"\n{declared}\n", f"\n{line.format(version)}\n"))


@contextlib.contextmanager
def tracked_copy(checkout: Path) -> Iterator[Path]:
    """A copy of the files that git tracks, as they are now; the folder that it is in goes with it."""
    with tempfile.TemporaryDirectory(prefix="lanelab-wheel-") as folder:
        copy = Path(folder) / "lanelab"
        for name in git(checkout, "ls-files", "-z").split("\0"):
            source, place = checkout / name, copy / name
            if name and source.is_file() and not source.is_symlink():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, place)
        yield copy
