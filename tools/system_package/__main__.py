"""Makes the packages, with dpkg-deb: the same sources give the same bytes."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.programs import install
from tools import system_package
from tools.system_package.content import ARCHITECTURES, SUFFIXES, Package, packages


def main() -> int:
    parser = argparse.ArgumentParser(description=system_package.__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--family", action="append", choices=sorted(SUFFIXES), help="default: this machine's, else all")
    parser.add_argument("--machine", action="append", choices=sorted(ARCHITECTURES), help="default: x86_64")
    parser.add_argument("--to", type=Path, default=PROJECT / "dist", help="the folder of the packages (default: dist)")
    options = parser.parse_args()
    here = [install.family()] if install.family() in SUFFIXES else sorted(SUFFIXES)
    options.to.mkdir(parents=True, exist_ok=True)
    for family in options.family or here:
        for machine in options.machine or ["x86_64"]:
            for package in packages(family, machine, source_time_s()):
                print(build(package, options.to, source_time_s()))
    return 0


def source_time_s() -> int:
    """Return the time that the packages' files have: SOURCE_DATE_EPOCH, or that of the last commit."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    argv = ["git", "-C", str(PROJECT), "log", "-1", "--format=%ct"]
    return int(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)


def build(package: Package, folder: Path, time_s: int) -> Path:
    """Make the package's file in the folder."""
    target = folder / package.file_name
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)
        for place, content in package.files.items():
            _write(Path(root + place), content, executable=place in package.programs)
        for name, text in {"control": _with_size(package), **package.scripts}.items():
            _write(Path(root, "DEBIAN", name), text.encode(), executable=name == "postinst")
        # xz, which every dpkg of these systems reads, and one thread, as threads cut the data in other places.
        argv = ["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", root, str(target)]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(time_s)}
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env=environment)
    return target


def _with_size(package: Package) -> str:
    kib = sum(-(-len(content) // 1024) for content in package.files.values())
    return package.control.replace("Depends:", f"Installed-Size: {kib}\nDepends:", 1)


def _write(file: Path, content: bytes, *, executable: bool) -> None:
    """Write a file of the package; the folders above it are for everybody, whatever this process's umask."""
    for folder in reversed(file.parents):
        if not folder.exists():
            folder.mkdir()
            folder.chmod(0o755)
    file.write_bytes(content)
    file.chmod(0o755 if executable else 0o644)


if __name__ == "__main__":
    sys.exit(main())
