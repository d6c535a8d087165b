"""The files that run on other machines and other kernels: all of driver/bed/remote/, and what that imports."""

from __future__ import annotations

from pathlib import Path

from model.paths import PROJECT

REMOTE = PROJECT / "driver" / "bed" / "remote"
PACKAGES = (
    "model/__init__.py",
    "model/errors.py",
    "model/system_path.py",
    "driver/__init__.py",
    "driver/bed/__init__.py",
)


def remote_files() -> dict[str, Path]:
    """Name of each file below a folder on `sys.path` over there, and where the file is here."""
    modules = {f"driver/bed/remote/{path.name}": path for path in sorted(REMOTE.glob("*.py"))}
    return {**{name: PROJECT / name for name in PACKAGES}, **modules}
