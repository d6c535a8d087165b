"""A process that measures runs the code of whoever started it: the digest that a run keeps is of that."""

import subprocess
import sys
from pathlib import Path

import pytest

from lanelab.driver.base.paths import SOURCES
from lanelab.driver.run.channel import client
from lanelab.driver.run.sweep import children


@pytest.mark.parametrize("start", [client.START, children.START])
def test_another_lanelab_in_the_environment_is_not_taken(tmp_path: Path, start: str) -> None:
    (tmp_path / "lanelab").mkdir()
    (tmp_path / "lanelab" / "__init__.py").touch()
    before, _, _ = start.rpartition("from lanelab")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {before}print(lanelab.__file__, sys.path[-1])"
    argv = [sys.executable, "-I", "-c", program, str(SOURCES)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(SOURCES / "lanelab" / "__init__.py"), str(SOURCES)]
