"""lanelab serve as a process: killed, started again, with many runs, with a large one, and in Firefox."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

import lanelab
from lanelab.driver.base.programs.needs import program
from tests.kit.firefox_reader import FirefoxReader, firefox_reader
from tests.kit.made_run import Made, make_run
from tests.kit.pages import SCREENS
from tests.kit.reader import Reader
from tests.kit.reader import reader as opened_reader
from tests.kit.serving import serve_process
from tests.kit.wait import wait_until

from .test_page import going_on

DRAWN_WITHIN_S = 90  # pages are drawn when no other process wants the processor


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "runs"
    for name in ("sample", "other"):
        shutil.copytree(lanelab.sample_run().folder, folder / name)
    return folder


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with opened_reader() as reader:
        yield reader


def test_a_page_says_when_its_server_was_killed_and_an_earlier_link_lets_nobody_in(
    reader: Reader, folder: Path
) -> None:
    lost = "return !document.querySelector('#lost').hidden"
    with going_on(folder / "other"):
        with serve_process(folder) as first:
            reader.go(first.link)
            wait_until(lambda: reader.texts("h1") == ["Runs"], DRAWN_WITHIN_S)
            reader.go(f"{first.root}runs/other/")
            assert not reader.run(lost)
            first.process.kill()
            first.process.wait()
            wait_until(lambda: bool(reader.run(lost)), DRAWN_WITHIN_S)
            assert "still running" in reader.texts(".badge")[0], "what was there stays"
        with serve_process(folder, first.port) as second:
            reader.go(f"{first.root}runs/other/")
            assert reader.texts("h1") == ["Not here"], "the cookie of the server before means nothing"
            with pytest.raises(HTTPError, match="403"):
                urlopen(first.link)  # noqa: S310 - it is ours
            reader.go(second.link)
            wait_until(lambda: reader.texts("h1") == ["Runs"], DRAWN_WITHIN_S)


def test_five_hundred_runs_are_listed_filtered_and_compared(reader: Reader, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    make_run(folder / "run000", Made(rounds=2, with_requests=False))
    for number in range(1, 500):
        shutil.copytree(folder / "run000", folder / f"run{number:03}")
    with serve_process(folder) as served:
        reader.size(390)
        reader.go(served.link)
        wait_until(lambda: reader.texts("h1") == ["Runs"], DRAWN_WITHIN_S)
        assert "500 in all" in reader.texts("header")[0]
        assert len(reader.texts(".runs tbody tr")) == 500
        assert reader.run("return document.documentElement.scrollWidth") <= 390
        reader.go(f"{served.root}?words=run49")
        assert len(reader.texts(".runs tbody tr")) == 10
        for box in ("run490", "run499"):
            reader.run(f"document.querySelector('input[value={box}]').click()")
        reader.run("document.querySelector('form:not(.filter) button').click()")
        wait_until(
            lambda: reader.texts("h1") == ["run499 beside run490"],
            DRAWN_WITHIN_S,
            lambda: str((reader.texts("h1"), reader.run("return location.href"))),
        )


def test_a_run_of_five_thousand_trials_has_all_of_them(reader: Reader, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    make_run(folder / "large", Made(rounds=625, with_requests=False))
    with serve_process(folder) as served:
        reader.size(1280)
        reader.go(served.link)
        wait_until(lambda: reader.texts("h1") == ["Runs"], DRAWN_WITHIN_S)
        reader.go(f"{served.root}runs/large/")
        reader.complaints()
        number = int(re.sub(r"\D", "", reader.texts("#tiles a[href='trials/']")[0]))
        assert number >= 5000
        assert len(reader.texts("#latest tbody tr")) == 10
        reader.go(f"{served.root}runs/large/trials/?page=999")
        assert reader.texts("tbody tr td:first-child")[-1] == str(number)
        reader.go(f"{served.root}runs/large/trials/{number}/")
        assert reader.texts("h1") == [f"Trial {number}"]
        assert reader.complaints() == []


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Iterator[tuple[FirefoxReader, str]]:
    """A Firefox that has come in, and where it is."""
    if not program("firefox").path():
        pytest.skip("firefox is not installed here")
    with serve_process(folder) as served, firefox_reader(tmp_path_factory.mktemp("profile")) as reader:
        reader.go(served.link)
        title = "document.querySelector('h1')?.textContent ?? ''"  # there is none in the document before the page's
        wait_until(lambda: bool(reader.run(title) == "Runs"), DRAWN_WITHIN_S)
        yield reader, served.root


@pytest.mark.parametrize("page", SCREENS)
def test_firefox_shows_every_screen(firefox: tuple[FirefoxReader, str], page: str) -> None:
    reader, root = firefox
    reader.size(390)
    reader.go(f"{root}{page}")
    assert reader.run("document.querySelector('h1').textContent.length > 2")
    assert reader.run("getComputedStyle(document.querySelector('main')).maxWidth") == "1180px", "has its style"
    assert reader.run("document.documentElement.scrollWidth") <= 390
    assert reader.complaints() == []


def test_firefox_filters_the_list(firefox: tuple[FirefoxReader, str]) -> None:
    reader, root = firefox
    reader.go(root)
    reader.run("(document.querySelector('input[name=words]').value = 'oth', document.forms[0].submit(), 1)")
    wait_until(lambda: bool(reader.run("document.querySelectorAll('.runs tbody tr').length") == 1), DRAWN_WITHIN_S)
    assert reader.run("location.search").startswith("?words=oth")
