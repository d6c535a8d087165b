"""The examples of docs/python.md: each runs as it stands, and has types."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lanelab
from lanelab.driver.base.paths import PROJECT, SOURCES, build_folder
from lanelab.driver.base.version import VERSION
from tests.kit.skipping import needs_checkout

PAGE = PROJECT / "docs" / "python.md"
BLOCK = re.compile(r"(?:<!-- needs (?P<need>.*?) -->\n)?```python\n(?P<code>.*?)```", re.DOTALL)
EXAMPLES = [(match["need"] or "", match["code"]) for match in BLOCK.finditer(PAGE.read_text())]


@pytest.mark.parametrize("code", [code for need, code in EXAMPLES if need != "a bed"])
def test_examples_run_as_they_stand(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "dissected" in code and not shutil.which("tshark"):
        pytest.skip("tshark is not installed")
    monkeypatch.chdir(PROJECT)
    exec(compile(code, str(PAGE), "exec"), {"__name__": "example"})  # noqa: S102 - of our own page


@needs_checkout  # whose settings mypy reads
def test_examples_have_types(tmp_path: Path) -> None:
    files = []
    for number, (_, code) in enumerate(EXAMPLES):
        files.append(tmp_path / f"example_{number}.py")
        files[-1].write_text(code)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(PROJECT / "pyproject.toml")]
    cache = ["--cache-dir", str(build_folder() / "mypy_cache")]
    done = subprocess.run(
        [*command, *cache, *map(str, files)], cwd=SOURCES, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert f"no issues found in {len(files)} source files" in done.stdout


def test_the_page_has_every_name() -> None:
    text = PAGE.read_text()
    absent = [name for name in lanelab.__all__ if name not in text]
    assert absent == []


def test_the_library_says_its_version() -> None:
    assert lanelab.__version__ == VERSION
