"""How `lanelab test` calls pytest."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError
from tests.kit.machine import ROOT
from tools import test as testing

Write = Callable[[str, str], None]


def without_workers(part: testing.Part) -> testing.Part:
    """Those of `-n` take seconds to start, each time."""
    return replace(part, options=("-n", "0", *part.options[part.options.index("-m") :]) if "-m" in part.options else ())


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tests" / "unit").mkdir(parents=True)
    (tmp_path / "tests" / "bed").mkdir()
    quick = "addopts = '-p no:hypothesispytest'\n"  # which takes half of pytest's start
    (tmp_path / "pyproject.toml").write_text(f"[tool.pytest.ini_options]\nmarkers = ['measures: links']\n{quick}")
    (tmp_path / "tests" / "unit" / "test_one.py").write_text(
        "import pytest\n\n\ndef test_good():\n    pass\n\n\n"
        "def test_skipped():\n    pytest.skip('because of the moon')\n"
    )
    monkeypatch.setattr(testing, "PROJECT", tmp_path)
    parts = {name: without_workers(getattr(testing, name)) for name in ("COMPUTING", "WAITING", "MEASURING")}
    for name, part in parts.items():
        monkeypatch.setattr(testing, name, part)
    monkeypatch.setattr(testing, "PARTS", tuple(parts.values()))
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))
    return tmp_path


@pytest.fixture
def write(project: Path) -> Write:
    def write_file(name: str, text: str) -> None:
        (project / "tests" / name).write_text(text)

    return write_file


BAD = "def test_bad():\n    assert 1 == 2\n"


@pytest.mark.usefixtures("project")
def test_kinds_become_folders_and_the_rest_is_pytests() -> None:
    assert testing.pytest_arguments(["unit", "-k", "bed"]) == ["tests/unit", "-k", "bed"]
    assert testing.pytest_arguments(["-x", "unit"]) == ["-x", "unit"]
    assert testing.pytest_arguments([]) == []


@pytest.mark.usefixtures("project")
def test_says_which_kinds_there_are() -> None:
    with pytest.raises(InputError, match=r"there are no bed tests\. Choose from: unit"):
        testing.pytest_arguments(["bed"])


def test_slow_files_come_first_and_are_all_there() -> None:
    folder = ROOT / "tests"
    assert [name for name in testing.SLOW_FILES if not (folder / name).is_file()] == []
    files = sorted(folder.rglob("test_*.py"))
    slow = [str(file.relative_to(folder)) for file in sorted(files, key=testing.in_order)][: len(testing.SLOW_FILES)]
    assert slow == list(testing.SLOW_FILES)


def test_names_what_is_skipped_and_ends_with_pytests_line(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert testing.run_tests(["unit", "-k", "good or skipped"]) == 0
    output = capfd.readouterr().out
    assert "because of the moon" in output
    assert "1 passed, 1 skipped" in output.splitlines()[-1]
    assert not (project / ".pytest_cache").exists()


def test_every_part_counts(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    """In the background, beside it, and after both."""
    measuring = "import pytest\n\n\n@pytest.mark.measures\n" + BAD
    files = {"unit/test_bad.py": BAD, "bed/test_bad.py": BAD, "bed/test_measuring.py": measuring}
    good = "def test_good():\n    pass\n"
    names = ["unit, golden, wire", "e2e, bed", "what measures links"]
    for failing, name in zip(files, names, strict=True):
        for file, text in files.items():
            write(file, text if file == failing else good)
        assert testing.run_tests([]) == 1
        output = capfd.readouterr().out
        assert "1 == 2" in output
        assert "because of the moon" in output
        expected = [f"lanelab: {each}: {'FAILED (status 1)' if each == name else 'passed'}" for each in names]
        assert output.splitlines()[-3:] == expected


def test_a_test_that_fails_once_is_named_as_unsteady(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    write(
        "bed/test_unsteady.py",
        "from pathlib import Path\n\n\ndef test_second_time():\n    been = Path(__file__).with_name('been')\n"
        "    before = been.exists()\n    been.touch()\n    assert before\n\n\ndef test_good():\n    pass\n",
    )
    assert testing.run_tests([]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[-2] == "lanelab: e2e, bed: passed, 1 test only alone"
    unsteady = "tests/bed/test_unsteady.py::test_second_time"
    assert f"lanelab: unsteady: {unsteady} failed beside other tests and passed alone" in lines


def test_a_file_that_cannot_be_read_fails(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    write("unit/test_broken.py", "this is not Python\n")
    assert testing.run_tests([]) != 0
    assert "FAILED" in capfd.readouterr().out
