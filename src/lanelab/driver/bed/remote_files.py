"""The files that run on other machines and other kernels: all of driver/bed/remote/, and what that imports."""

from pathlib import Path

from lanelab.driver.base.paths import PACKAGE, SOURCES

REMOTE = PACKAGE / "driver" / "bed" / "remote"
PACKAGES = (
    "lanelab/__init__.py",
    "lanelab/driver/__init__.py",
    "lanelab/driver/base/__init__.py",
    "lanelab/driver/base/errors.py",
    "lanelab/driver/base/system_path.py",
    "lanelab/driver/bed/__init__.py",
)


def remote_files() -> dict[str, Path]:
    """Return the name of each file below a folder on `sys.path` over there, and where the file is here."""
    modules = {f"lanelab/driver/bed/remote/{path.name}": path for path in sorted(REMOTE.glob("*.py"))}
    return {**{name: SOURCES / name for name in PACKAGES}, **modules}
