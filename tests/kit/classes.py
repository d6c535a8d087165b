"""A class that does the small lab (made_lab.py) on the page, and runs of it that a test begins and ends."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lanelab.driver.base.clock import shifted, utc_now
from lanelab.driver.base.errors import StoreError
from lanelab.driver.lab import description
from lanelab.driver.lab.folder import LabFolder, fix
from lanelab.driver.page import lab_pages
from lanelab.driver.page.classroom import Classroom
from lanelab.driver.page.lab_queue import Wish
from tests.kit.made_lab import NAME, store_lab_run
from tests.kit.pages import Answer, Visitor
from tests.kit.wait import wait_until


@dataclass
class Began:
    """Runs that a test begins and ends."""

    runs: Path
    status: int | None = None
    wanted: list[tuple[Path, Path]] = field(default_factory=list)
    accepts: list[bool] = field(default_factory=list)
    busy: str = ""

    def __call__(self, experiment: Path, accepts_links: bool) -> "Began":
        self.wanted.append((experiment, self.runs / f"run-{len(self.wanted)}"))
        self.accepts.append(accepts_links)
        self.status = None
        return self

    def require_free(self) -> None:
        if self.busy:
            raise StoreError(self.busy)

    @property
    def folder(self) -> Path:
        return self.wanted[-1][1]

    def words(self) -> str:
        return "no bed\n"


def with_labs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the page's labs in another folder."""
    monkeypatch.setattr(description, "LABS", folder)
    for cached in (lab_pages._lab, lab_pages._text, lab_pages._lines):
        cached.cache_clear()


def watching(visitor: Visitor) -> Visitor:
    """Another browser that has come in to watch."""
    another = Visitor(visitor.port, visitor.access)
    another.enter(another.access.watcher)
    return another


def enrolled(visitor: Visitor, name: str) -> str:
    """Return the address of a student who has begun the lab."""
    answer = visitor.post(f"/labs/{NAME}/enrol", {"name": [name]})
    assert answer.status == 303, answer.text
    return f"/labs/{NAME}/{answer.headers['location']}"


def prediction(**answers: str) -> dict[str, list[str]]:
    """Return the fields of the form: what is not answered is empty."""
    return {name: [answers.get(name, "")] for name in ("load", "faster", "share", "product", "ping")}


def predicts(visitor: Visitor, address: str, **answers: str) -> Answer:
    return visitor.post(f"{address}predict", prediction(**answers))


def predicting(room: Classroom, name: str) -> tuple[LabFolder, Wish]:
    """A student who has predicted, and whose run may be wished for."""
    key = room.enrol(NAME, name, "en")
    student = room.student(NAME, key)
    assert student
    fix(student.folder, {"load": "900"})
    return student.folder, Wish(NAME, key)


def finished(began: Began) -> None:
    """Let the run that was begun last come to its end."""
    wait_until(lambda: began.wanted, 10)
    experiment, folder = began.wanted[-1]
    store_lab_run(folder, experiment.read_text(), created_utc=shifted(utc_now(), 1))
    began.status = 0
