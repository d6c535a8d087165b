"""What stands in for Vagrant and libvirtd in the tests of virtual machines."""

import os
from pathlib import Path

import pytest

from lanelab.driver.bed.vagrant import libvirt, vagrant


def told(_: str) -> None:
    """What is told to the user does not matter."""


def program(folder: Path, script: str) -> None:
    (folder / "vagrant").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "vagrant").chmod(0o755)


class Virsh:
    """What is asked of libvirtd; `answers`: by the words."""

    def __init__(self, answers: dict[tuple[str, ...], str | None]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, ...]] = []

    def __call__(self, _uri: str, *words: str) -> str | None:
        self.asked.append(words)
        return self.answers.get(words, "")


def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build folder and a home of Vagrant's that are the test's own."""
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))
    for name in [name for name in os.environ if name.startswith("LANELAB_VM")]:
        monkeypatch.delenv(name)
    for name in ("VAGRANT_DOTFILE_PATH", "VAGRANT_DEFAULT_PROVIDER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VAGRANT_HOME", str(tmp_path / "vagrant.d"))
    monkeypatch.setattr(libvirt, "RUN", tmp_path / "run")
    return tmp_path / "build"


def first_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that comes first on PATH; a test puts its `vagrant` there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    given = vagrant.environment()
    monkeypatch.setattr(vagrant, "environment", lambda: {**given, "PATH": f"{folder}:{given['PATH']}"})
    return folder
