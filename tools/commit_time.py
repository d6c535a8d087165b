"""The time that built files have: the same bytes from the same commit."""

import os
from pathlib import Path

from tools.git import git


def time_of_commit(checkout: Path) -> int:
    """Return SOURCE_DATE_EPOCH, or when the commit was made, in s."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    return int(git(checkout, "log", "-1", "--format=%ct"))
