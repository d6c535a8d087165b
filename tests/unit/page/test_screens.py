"""From each page of a server there is a way to every screen, and a newcomer reads what to do."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanelab.driver.page.begin_view import Wish, begin_page
from lanelab.driver.page.library import Wanted, library
from lanelab.driver.page.screens import SCREENS
from tests.kit.made_run import Made, make_run
from tests.kit.pages import Visitor, served


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Visitor]:
    make_run(tmp_path / "runs" / "one", Made(rounds=2))
    with served(tmp_path / "runs") as visitor:
        visitor.enter(visitor.access.owner)
        yield visitor


def links(page: str) -> dict[str, str]:
    """Return the links above a page, each with whether the reader is there."""
    nav = page.partition("<nav")[2].partition("</nav>")[0]
    found = re.findall(r'<a href="([^"]*)"([^>]*)>', nav)
    return {href: (re.search(r'aria-current="(\w+)"', rest) or [""] * 2)[1] for href, rest in found}


@pytest.mark.parametrize(
    ("path", "up", "here", "current"),
    [
        ("/", "./", "", "page"),
        ("/begin/", "../", "begin/", "page"),
        ("/bench/", "../", "bench/", "page"),
        ("/labs/1-slow-start/", "../../", "labs/", "true"),
        ("/runs/one/", "../../", "", "true"),
        ("/runs/one/trials/1/", "../../../../", "", "true"),
    ],
)
def test_each_page_leads_to_every_screen_and_says_where_one_is(
    owner: Visitor, path: str, up: str, here: str, current: str
) -> None:
    shown = links(owner.ask(path).text)
    assert {f"{up}{screen}" for screen in SCREENS} <= shown.keys()
    assert {href for href, is_here in shown.items() if is_here} == {f"{up}{here}"}
    assert shown[f"{up}{here}"] == current


def test_a_refusal_leads_back_as_well(owner: Visitor) -> None:
    answer = owner.ask("/runs/none/")
    assert answer.status == 404
    assert "../../begin/" in links(answer.text)


def test_files_lead_to_no_screen_that_is_not_there() -> None:
    page = library({}, Wanted(), plain=True)
    assert links(page).keys() == {"./"}


def test_an_empty_library_says_what_to_do(tmp_path: Path) -> None:
    with served(tmp_path) as visitor:
        visitor.enter(visitor.access.owner)
        page = visitor.ask("/").text
        main = page.partition("<main")[2]
        assert "lanelab run quickstart" in main
        for href in re.findall(r'href="([^"]*)"', main):
            assert visitor.ask(f"/{href}").status == 200, href


def test_to_look_at_a_page_fetches_nothing(owner: Visitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))  # where no package is kept
    page = owner.ask("/begin/?experiment=real-sites").text
    assert "was not fetched yet" in page
    assert "lanelab site fetch" in page
    assert not (tmp_path / "build" / "packages").exists()


def test_a_newcomer_is_offered_the_quickstart_first() -> None:
    page = begin_page({"experiments/mine.yaml": "", "browsers": "", "quickstart": ""}, Wish())
    assert re.findall(r'<option value="([^"]*)"', page) == ["quickstart", "experiments/mine.yaml", "browsers"]
