"""The way to user namespaces where AppArmor keeps them from programs without a profile (Ubuntu 23.10 and later).

The package lanelab-system brings a wrapper with a profile that grants them. What it starts keeps the profile, so a bed
that is started through it may be made.
"""

import contextlib
import os
import sys
from pathlib import Path

WRAPPER = Path("/usr/lib/lanelab/with-userns")
PROFILE = "lanelab-userns"
RESTRICTION = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
OURS = Path("/proc/self/attr/current")
TRIED = "LANELAB_WITH_USERNS"  # in the environment: this process was started through it


def wrapper() -> list[str]:
    """Return what to put before a command that makes user namespaces: nothing where that takes no wrapper."""
    return [str(WRAPPER)] if os.access(WRAPPER, os.X_OK) and _text(RESTRICTION) == "1" else []


def go_on_in_profile() -> None:
    """Start this command again through the wrapper, where it is needed and has not been tried."""
    if TRIED in os.environ or not (before := wrapper()) or _text(OURS).startswith(PROFILE):
        return
    with contextlib.suppress(OSError):  # beds then say what is in the way
        os.execve(before[0], [*before, sys.executable, *sys.orig_argv[1:]], {**os.environ, TRIED: "1"})  # noqa: S606


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
