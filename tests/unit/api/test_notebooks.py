"""The notebooks of docs/notebooks: as scripts, in Jupyter's kernel, and in marimo. None of these needs a bed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lanelab.driver.base.paths import PROJECT, SOURCES
from tests.kit.notebooks import EXECUTE, run_python

NOTEBOOKS = PROJECT / "docs" / "notebooks"
WITHOUT_BED = ("grid", "paper_figure", "packets", "vitals")


def test_every_notebook_is_named_on_their_page() -> None:
    text = (NOTEBOOKS / "README.md").read_text()
    assert all(f"({file.name})" in text for file in NOTEBOOKS.glob("*.py"))
    assert {file.stem for file in NOTEBOOKS.glob("*.py")} == {*WITHOUT_BED, "small_experiment", "marimo_run"}


@pytest.mark.parametrize("name", WITHOUT_BED)
def test_a_notebook_runs_as_a_script(name: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    argv = [sys.executable, str(NOTEBOOKS / f"{name}.py")]
    done = subprocess.run(argv, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.long
@pytest.mark.parametrize("name", WITHOUT_BED)
def test_a_notebook_runs_in_jupyter_and_shows_results(name: str, tmp_path: Path) -> None:
    done = run_python("-c", EXECUTE, NOTEBOOKS / f"{name}.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    kinds = json.loads(done.stdout)
    assert kinds["text/html"] >= 1
    if name != "packets":
        assert kinds["image/svg+xml"] >= 1


@pytest.mark.long
def test_the_marimo_notebook_runs(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    export = ("export", "html", NOTEBOOKS / "marimo_run.py", "--output", out, "--no-include-code")
    done = run_python("-m", "marimo", "--quiet", *export, folder=tmp_path)  # fails where a cell fails
    assert done.returncode == 0, done.stdout + done.stderr
    assert "iframe" in out.read_text()
