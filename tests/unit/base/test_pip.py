"""pip is there for an environment without it, as uv and pipx make them."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.programs import pip as module
from lanelab.driver.base.programs.pip import pip


def test_the_environments_own_is_used() -> None:
    assert pip() == [sys.executable, "-I", "-m", "pip"]


def test_without_one_it_is_the_wheel_that_python_brings(monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else find_spec(name))
    argv = [sys.executable, "-I", "-S", *pip()[2:], "--version"]  # -S: nothing of the environment can be meant
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("pip ")
    assert ".whl" in done.stdout


def test_with_neither_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(module, "_places", lambda: [tmp_path])
    with pytest.raises(BuildError, match="Install pip there, or the package python3-venv"):
        pip()
