"""Where programs are on this machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def search_path() -> str:
    """PATH with the folders of `ip` and `tc`, which an ordinary user's PATH lacks."""
    own = os.environ.get("PATH", "").split(":")
    return ":".join([*own, *(folder for folder in SYSTEM_PATH.split(":") if folder not in own)])


def find(name: str) -> Path | None:
    """Where a program is, or None. A name that starts with a slash is a file or folder that has to exist."""
    if name.startswith("/"):
        return Path(name) if Path(name).exists() else None
    path = shutil.which(name, path=search_path())
    return Path(path) if path else None
