"""Jupyter's kernel and marimo, installed into build/peers when a test wants them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.paths import PROJECT, SOURCES, build_folder
from lanelab.driver.base.programs.building import single_build

LOCK = PROJECT / "requirements-notebooks.lock"
# Runs a notebook in percent format in a kernel, in the folder that is named. It prints what cells have shown, by kind.
EXECUTE = """
import collections, json, sys
import jupytext, nbclient
notebook = jupytext.read(sys.argv[1], fmt="py:percent")
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
kinds = collections.Counter()
for cell in notebook.cells:
    for output in cell.get("outputs", ()):
        kinds.update(output.get("data", {"stdout": 1}).keys())
print(json.dumps(kinds))
"""


def run_python(*words: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python with these packages and lanelab, in a folder of its own."""
    environment = _environment(folder)
    argv = [sys.executable, *map(str, words)]
    return subprocess.run(argv, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=600)


def _environment(folder: Path) -> dict[str, str]:
    try:
        packages = single_build.made_once(
            "installing what runs notebooks",
            build_folder() / "peers" / "notebooks",
            single_build.key_of(LOCK.read_bytes()),
            lambda place, log: single_build.pip_install(LOCK, place, log),
            about_s=40,
        )
    except BuildError as error:
        pytest.skip(f"what runs notebooks cannot be had here: {error}")
    # The kernel is this very Python; its description is written where Jupyter looks first.
    own = {"JUPYTER_PREFER_ENV_PATH": "0", "JUPYTER_DATA_DIR": str(folder / "jupyter"), "HOME": str(folder)}
    environment = {**os.environ, **own, "PYTHONPATH": f"{SOURCES}{os.pathsep}{packages}"}
    install = [sys.executable, "-m", "ipykernel", "install", "--user", "--name", "python3"]
    subprocess.run(install, env=environment, check=True, capture_output=True)
    return environment
