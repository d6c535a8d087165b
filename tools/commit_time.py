"""The time that built files have: the same bytes from the same commit."""

import os
import subprocess
from pathlib import Path


def time_of_commit(checkout: Path) -> int:
    """Return SOURCE_DATE_EPOCH, or when the commit was made, in s."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    argv = ["git", "-C", str(checkout), "log", "-1", "--format=%ct"]
    return int(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)
