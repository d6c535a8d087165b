"""What several files of this folder start from: a place where runs are begun, and a class that does a small lab."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanelab.driver.api import run_apart
from lanelab.driver.page import lab_queue
from lanelab.driver.page.access import Role
from lanelab.driver.page.lab_pages import LabRooms
from tests.kit.begun_runs import CODE, SMALL
from tests.kit.classes import Began, watching, with_labs
from tests.kit.made_lab import make_lab
from tests.kit.pages import Visitor, served
from tests.kit.played_run import played_program

# --- runs are begun


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with runs, and a program in the place of ours; what it has begun ends with the test."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "small.yaml").write_text(SMALL)
    (tmp_path / "code.yaml").write_text(CODE)
    (tmp_path / "wrong.yaml").write_text(SMALL.replace("20ms", "20parsec"))
    (tmp_path / "inventory.yaml").write_text("all: {hosts: {}}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_apart, "PROGRAM", played_program(tmp_path))
    monkeypatch.setattr(run_apart, "build_folder", lambda: tmp_path / "build")
    monkeypatch.setattr(run_apart, "other_beds_here", lambda: 0)
    begun: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(*words: object, **options: object) -> subprocess.Popen[bytes]:
        begun.append(popen(*words, **options))  # type: ignore[call-overload]
        return begun[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    yield tmp_path
    for process in begun:
        process.kill()
        process.wait()


@pytest.fixture
def owner(place: Path) -> Iterator[Visitor]:
    with served(place / "runs") as visitor:
        visitor.enter(visitor.access.owner)
        yield visitor


# --- a class


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the runs of a class, whose one lab is small."""
    make_lab(tmp_path / "labs")
    with_labs(tmp_path / "labs", monkeypatch)
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


@pytest.fixture
def began(runs: Path, monkeypatch: pytest.MonkeyPatch) -> Began:
    began = Began(runs)
    monkeypatch.setattr(LabRooms, "_begin", lambda _, experiment, accepts: began(experiment, accepts))
    monkeypatch.setattr(LabRooms, "_require_free", lambda _: began.require_free())
    monkeypatch.setattr(lab_queue, "LOOKS_EVERY_S", 0.01)
    return began


@pytest.fixture
def teacher(began: Began) -> Iterator[Visitor]:
    with served(began.runs) as visitor:
        visitor.enter(visitor.access.owner)
        yield visitor


@pytest.fixture
def watcher(teacher: Visitor) -> Visitor:
    visitor = watching(teacher)
    assert visitor.role is Role.WATCH
    return visitor
