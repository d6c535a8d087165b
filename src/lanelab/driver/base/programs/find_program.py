"""Where programs are on this machine."""

import os
import shutil
from pathlib import Path

from lanelab.driver.base.system_path import SYSTEM_PATH


def search_path() -> str:
    """Return PATH with the folders of `ip` and `tc`, which an ordinary user's PATH lacks."""
    folders = os.environ.get("PATH", "").split(":")
    return ":".join([*folders, *(folder for folder in SYSTEM_PATH.split(":") if folder not in folders)])


def find(name: str) -> Path | None:
    """Return where a program is that may be executed, or None. A name with a slash is looked for at that place only."""
    path = shutil.which(name, path=search_path())
    return Path(path) if path else None
