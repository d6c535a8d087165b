"""lanelab setup: each program with its size and time, what is there already, and what cannot be built."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from lanelab.driver.api import own_programs
from lanelab.driver.base.errors import BuildError
from lanelab.driver.cli.main import lanelab
from lanelab.driver.run.built_programs import BUILT_BY


@pytest.fixture(autouse=True)
def _three_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "program"
    file.write_bytes(b"x" * 2_000_000)

    def refuse() -> Path:
        raise BuildError("the third cannot be built", "Install what it needs")

    monkeypatch.setattr(own_programs, "BUILT_BY", {"first": lambda: file, "second": lambda: file, "third": refuse})
    monkeypatch.setattr(own_programs, "is_built", lambda name: name == "first")


def test_one_that_fails_keeps_no_other_from_being_built() -> None:
    result = CliRunner().invoke(lanelab, ["setup"])
    assert result.exit_code == 1
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0][:1] + lines[0][-2:] == ["first", "was", "there"]
    assert lines[1][:3] == ["second", "2", "MB"]
    assert "s" in lines[1]
    assert lines[2] == ["third", "not", "built"]
    assert "the third cannot be built. Install what it needs" in result.stderr


def test_those_named_are_built_and_no_others() -> None:
    result = CliRunner().invoke(lanelab, ["setup", "second"])
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["second"]


def test_an_unknown_name_is_refused_before_anything_is_built() -> None:
    result = CliRunner().invoke(lanelab, ["setup", "first", "fourth"])
    assert result.exit_code != 0
    assert result.stdout == ""
    assert "Programs are first, second, third" in str(result.exception)


def test_all_programs_are_known() -> None:
    assert {"gateway", "mod_replay", "mod_spdy", "lanelab-k6", "spdy-load", "tomcat-10.1"} <= set(BUILT_BY)
