"""How `lanelab test` calls pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

from devtools import test as testing
from model.errors import InputError


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tests" / "unit").mkdir(parents=True)
    (tmp_path / "tests" / "bed").mkdir()
    (tmp_path / "tests" / "unit" / "test_one.py").write_text(
        "import pytest\n\n\ndef test_good():\n    pass\n\n\n"
        "def test_skipped():\n    pytest.skip('because of the moon')\n"
    )
    (tmp_path / "tests" / "unit" / "test_two.py").write_text("def test_bad():\n    assert 1 == 2\n")
    monkeypatch.setattr(testing, "PROJECT", tmp_path)
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))
    return tmp_path


@pytest.mark.usefixtures("project")
def test_kinds_become_folders_and_the_rest_is_pytests() -> None:
    assert testing.pytest_arguments(["unit", "-k", "bed"]) == ["tests/unit", "-k", "bed"]
    assert testing.pytest_arguments(["-x", "unit"]) == ["-x", "unit"]
    assert testing.pytest_arguments([]) == []


@pytest.mark.usefixtures("project")
def test_says_which_kinds_there_are() -> None:
    with pytest.raises(InputError, match=r"there are no bed tests\. Choose from: unit"):
        testing.pytest_arguments(["bed"])


def test_runs_them_names_what_is_skipped_and_ends_with_pytests_line(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert testing.run_tests(["unit", "-k", "good or skipped"]) == 0
    said = capfd.readouterr().out
    assert "because of the moon" in said
    assert "1 passed, 1 skipped, 1 deselected" in said.splitlines()[-1]
    assert testing.run_tests([]) == 1
    assert not (project / ".pytest_cache").exists()


def test_all_of_them_run_in_two_halves_that_both_count(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "tests" / "bed" / "test_bed.py").write_text("def test_other():\n    pass\n")
    assert testing.run_tests([]) == 1
    said = capfd.readouterr().out
    assert "1 == 2" in said
    assert "because of the moon" in said
    assert said.splitlines()[-2:] == ["lanelab: unit, golden, wire: FAILED (status 1)", "lanelab: e2e, bed: passed"]
    (project / "tests" / "unit" / "test_two.py").unlink()
    (project / "tests" / "bed" / "test_bed.py").write_text("def test_other():\n    assert 1 == 2\n")
    assert testing.run_tests([]) == 1
    said = capfd.readouterr().out
    assert said.splitlines()[-2:] == ["lanelab: unit, golden, wire: passed", "lanelab: e2e, bed: FAILED (status 1)"]
