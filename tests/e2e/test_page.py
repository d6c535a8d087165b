"""The page of lanelab serve in a real browser: its link, its keyboard, news of a run, narrow and wide screens."""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import lanelab
from tests.kit.changed_run import changing
from tests.kit.pages import Visitor, served
from tests.kit.reader import Reader
from tests.kit.reader import reader as opened_reader
from tests.kit.wait import wait_until

PAGES = ("", "runs/sample/", "runs/sample/report/", "runs/sample/trials/", "runs/sample/trials/3/",
         "compare/?run=sample&run=other&cell=2&cell=5")  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page") / "runs"
    for name in ("sample", "other"):
        shutil.copytree(lanelab.sample_run().folder, folder / name)
    return folder


@pytest.fixture(scope="module")
def owner(folder: Path) -> Iterator[Visitor]:
    with served(folder) as visitor:
        yield visitor


@pytest.fixture(scope="module")
def reader(owner: Visitor) -> Iterator[Reader]:
    with opened_reader() as reader:
        reader.go(owner.link())
        wait_until(lambda: reader.texts("h1") == ["Runs"], 10)
        yield reader


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("page", PAGES)
def test_every_page_fits_its_screen_and_the_browser_has_nothing_to_say(
    reader: Reader, owner: Visitor, page: str, width: int
) -> None:
    reader.size(width)
    reader.go(owner.url(page))
    assert reader.run("return document.documentElement.scrollWidth") <= width
    assert reader.run("return getComputedStyle(document.querySelector('main')).maxWidth") == "1180px", "has its style"
    assert reader.complaints() == []


def test_two_are_ticked_and_compared(reader: Reader, owner: Visitor) -> None:
    reader.size(1280)
    reader.go(owner.url())
    for box in ("sample", "other"):
        reader.run(f"document.querySelector('input[value={box}]').click()")
    reader.run("document.querySelector('form:not(.filter) button').click()")
    wait_until(lambda: "beside" in reader.texts("h1")[0], 10)
    assert len(reader.texts("#loads .load")) == 2


@contextmanager
def going_on(folder: Path) -> Iterator[None]:
    """Hold the lock that whoever writes to a run has."""
    with (folder / "in-use").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with changing(folder) as database:
            database.execute("UPDATE meta SET value = 'running' WHERE key = 'state'")
        yield
        with changing(folder) as database:
            database.execute("UPDATE meta SET value = 'finished' WHERE key = 'state'")


def test_a_page_follows_its_run_and_keeps_what_is_open(reader: Reader, owner: Visitor, folder: Path) -> None:
    with going_on(folder / "other"):
        reader.go(owner.url("runs/other/"))
        assert "still running" in reader.texts(".badge")[0]
        reader.run("document.querySelector('#claims details').open = true")
        with changing(folder / "other") as database:
            database.execute("UPDATE meta SET value = 'another description' WHERE key = 'description'")
        wait_until(lambda: reader.texts("h1") == ["another description"], 15)
        assert reader.run("return document.querySelector('#claims details').open")
        assert reader.complaints() == []
