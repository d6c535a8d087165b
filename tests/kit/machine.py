"""Trying things on a machine that is not quite this one: a mount namespace whose files can be hidden or replaced."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]


def namespaces_work() -> bool:
    """Whether we may make user and mount namespaces here."""
    try:
        return subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0
    except (FileNotFoundError, PermissionError):
        return False


needs_namespaces = pytest.mark.skipif(not namespaces_work(), reason="no user namespaces here (unshare --user fails)")


def on_changed_machine(script: str, *args: str | Path) -> list[str]:
    """The command that runs a shell script where it may mount; its arguments are $1, $2, …"""
    return [*UNSHARE, "sh", "-euc", script, "sh", *map(str, args)]
