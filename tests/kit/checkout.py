"""A checkout that has what the launcher looks at, with lock files that need nothing from the network."""

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.kit.machine import ROOT

# Stands for the command line: says what the launcher gave it.
COMMAND = """
import json, os, sys
from pathlib import Path
print(json.dumps({"argv": sys.argv[1:], "cwd": os.getcwd(), "build": os.environ["LANELAB_BUILD"],
    "prefix": sys.prefix, "here": str(Path(__file__).parents[4]), "pythonpath": os.environ.get("PYTHONPATH")}))
"""
TOOLS = (
    "sh",
    "readlink",
    "sha256sum",
    "cut",
    "cat",
    "mkdir",
    "rm",
    "mv",
    "tail",
    "grep",
    "sleep",
    "awk",
    "uname",
    "id",
    "sed",
)


def make_checkout(folder: Path) -> Path:
    """What a checkout has that the launcher looks at."""
    package = folder / "src" / "lanelab"
    (package / "driver" / "cli").mkdir(parents=True)
    for each in (package, package / "driver", package / "driver" / "cli"):
        (each / "__init__.py").touch()
    (package / "driver" / "cli" / "__main__.py").write_text(COMMAND)
    (folder / "playbooks" / "vars").mkdir(parents=True)
    shutil.copy(ROOT / "playbooks" / "vars" / "packages.yml", folder / "playbooks" / "vars")
    shutil.copy(ROOT / "lanelab", folder)
    (folder / "requirements.lock").write_text("# nothing\n")
    (folder / "requirements-dev.lock").write_text("# nothing\n")
    return folder


PYTHON = Path(sys.executable).resolve()  # that runs this test: the first one on PATH may be another


@functools.cache
def quick_python() -> Path:
    """A Python whose new environments are copies of one that was made once: making one takes seconds."""
    folder = Path(_scratch().name)
    subprocess.run([PYTHON, "-I", "-m", "venv", "--", folder / "env"], check=True)
    program = folder / "python"
    program.write_text(
        f'#!/bin/sh\n[ "$1 $2 $3 $4 $5" = "-I -m venv --without-pip --" ] || exec "{PYTHON}" "$@"\n'
        f'exec "{shutil.which("cp")}" -a -- "{folder}/env" "$6"\n'
    )
    program.chmod(0o755)
    return program


@functools.cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    # Without the word that tests look for which ask whether a bed has left files.
    return tempfile.TemporaryDirectory(prefix="quick-python-of-tests-")


def environment(**changes: str) -> dict[str, str]:
    ours = {key: value for key, value in os.environ.items() if not key.startswith("LANELAB_")}
    return {
        **ours,
        "LANELAB_PYTHON": str(PYTHON),
        "PIP_NO_INDEX": "1",
        "PIP_NO_COMPILE": "1",
        **changes,
    }


def run(argv: Sequence[str | Path], env: dict[str, str] | None = None, **how: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv, env=env or environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **how
    )


def answer(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert result.returncode == 0, result.stderr
    said: dict[str, Any] = json.loads(result.stdout)
    return said


def tools(folder: Path, **programs: str) -> Path:
    """A folder for PATH with what the launcher calls and no Python, and with shell scripts of our own."""
    folder.mkdir()
    for name in TOOLS:
        where = shutil.which(name)
        assert where, name
        (folder / name).symlink_to(where)
    for name, script in programs.items():
        program = folder / name.replace("_", "-")
        program.unlink(missing_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    return folder
