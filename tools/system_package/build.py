"""Builds the packages with dpkg-deb: the same sources give the same bytes."""

import os
import subprocess
import tempfile
from pathlib import Path

from tools.system_package.content import SCRIPTS, Package


def build(package: Package, folder: Path, time_s: int) -> Path:
    """Return the package's file. `time_s` is the time that its files have."""
    target = folder / package.file_name
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)
        for place, content in package.files.items():
            _write(Path(root + place), content, 0o750 if place in package.programs else 0o644)
        for name, text in {"control": _with_size(package), **package.scripts}.items():
            _write(Path(root, "DEBIAN", name), text.encode(), 0o755 if name in SCRIPTS else 0o644)
        # xz, which every dpkg of these systems reads, and one thread, as threads cut the data in other places.
        argv = ["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", root, str(target)]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(time_s)}
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env=environment)
    return target


def _with_size(package: Package) -> str:
    kib = sum(-(-len(content) // 1024) for content in package.files.values())
    return package.control.replace("Depends:", f"Installed-Size: {kib}\nDepends:", 1)


def _write(file: Path, content: bytes, mode: int) -> None:
    """Write a file of the package; the folders above it are for everybody, whatever this process's umask."""
    for folder in reversed(file.parents):
        if not folder.exists():
            folder.mkdir()
            folder.chmod(0o755)
    file.write_bytes(content)
    file.chmod(mode)
