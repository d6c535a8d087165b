"""pyshark, installed into build/peers when a test wants it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.paths import PROJECT, build_folder
from lanelab.driver.base.programs.building import single_build

LOCK = PROJECT / "requirements-packets.lock"


def run(script: Path | str, *args: str | Path, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """A Python file that imports them, or Python itself, as text."""
    code = ["-c", script] if isinstance(script, str) else [str(script)]
    argv = [sys.executable, *code, *map(str, args)]
    return subprocess.run(argv, env=_environment(), capture_output=True, text=True, check=False, timeout=timeout)


def _environment() -> dict[str, str]:
    def make(folder: Path, log: single_build.Log) -> None:
        single_build.pip_install(LOCK, folder, log)

    try:
        place = build_folder() / "peers" / "packets"
        folder = single_build.made_once(
            "installing pyshark", place, single_build.key_of(LOCK.read_bytes()), make, about_s=30
        )
    except BuildError as error:
        pytest.skip(f"pyshark cannot be had here: {error}")
    return {**os.environ, "PYTHONPATH": str(folder)}
