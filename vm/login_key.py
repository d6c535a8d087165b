"""The key that Vagrant logs in to the machines with.

Vagrant's own is public knowledge: whoever reaches a machine would be its root. This one is made once for each user and
stays what it is, so that a new box locks nobody out of machines that were made from an older one, whichever checkout
they are of. It is in no box; the Vagrantfile names it.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from driver.host.find_program import search_path
from model.errors import VmError

NAME = "lanelab-login-key"


def vagrant_home() -> Path:
    """Where Vagrant keeps what is the user's, and no checkout's."""
    return Path(os.environ.get("VAGRANT_HOME") or Path.home() / ".vagrant.d")


def public_key() -> str:
    """Its public half; the key is made where there is none."""
    private = vagrant_home() / NAME
    if not private.exists():
        _make(private)
    return _keygen("-y", "-f", str(private)).strip()


def _make(private: Path) -> None:
    """Whole or not at all, and never in place of another: machines may know that one."""
    private.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=private.parent) as folder:
        new = Path(folder) / NAME
        _keygen("-q", "-t", "ed25519", "-N", "", "-C", "lanelab", "-f", str(new))
        try:
            os.link(new, private)
        except FileExistsError:
            return  # another lanelab was faster


def _keygen(*words: str) -> str:
    try:
        done = subprocess.run(
            ["ssh-keygen", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            env={**os.environ, "PATH": search_path()},
        )  # fmt: skip
    except FileNotFoundError as error:
        raise VmError("cannot make the machines' login key: there is no ssh-keygen", "Install it") from error
    if done.returncode != 0:
        raise VmError(f"the machines' login key is of no use: {done.stderr.strip()}", f"Look at {vagrant_home()}")
    return done.stdout
