"""Where AppArmor keeps user namespaces from lanelab, it goes on through the wrapper of lanelab-system, once."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from lanelab.driver.base import userns


@pytest.fixture
def restricted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the wrapper of a machine that restricts user namespaces."""
    for name, text in {"RESTRICTION": "1\n", "OURS": "unconfined\n", "WRAPPER": '#!/bin/sh\nexec "$@"\n'}.items():
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(userns, name, tmp_path / name)
    (tmp_path / "WRAPPER").chmod(0o755)
    monkeypatch.delenv(userns.TRIED, raising=False)
    return tmp_path / "WRAPPER"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """Return the commands that take the place of this process."""
    commands: list[Sequence[str]] = []

    def execve(program: str, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        assert environment[userns.TRIED]
        assert program == argv[0]
        commands.append(argv)

    monkeypatch.setattr(os, "execve", execve)
    monkeypatch.setattr("sys.orig_argv", ["python", "-I", "-m", "lanelab.driver.cli", "doctor"])
    monkeypatch.setattr("sys.executable", "/env/python")
    return commands


def test_the_command_goes_on_through_the_wrapper(restricted: Path, started: list[Sequence[str]]) -> None:
    userns.go_on_in_profile()
    assert started == [[str(restricted), "/env/python", "-I", "-m", "lanelab.driver.cli", "doctor"]]
    assert userns.wrapper() == [str(restricted)]


def test_it_is_tried_once(restricted: Path, started: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(userns.TRIED, "1")
    userns.go_on_in_profile()
    monkeypatch.delenv(userns.TRIED)
    (restricted.parent / "OURS").write_text("lanelab-userns (unconfined)\n")
    userns.go_on_in_profile()
    assert started == []


@pytest.mark.parametrize("change", ["no restriction", "no kernel that has it", "no wrapper"])
def test_elsewhere_nothing_is_started(restricted: Path, started: list[Sequence[str]], change: str) -> None:
    restriction = restricted.parent / "RESTRICTION"
    if change == "no restriction":
        restriction.write_text("0\n")
    elif change == "no wrapper":
        restricted.unlink()
    else:
        restriction.unlink()
    userns.go_on_in_profile()
    assert (started, userns.wrapper()) == ([], [])
