"""The page of lanelab serve in a real browser: its link, its keyboard, news of a run, narrow and wide screens."""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import lanelab
from lanelab.driver.page.access import Role
from tests.kit.axe import axe_script, violations
from tests.kit.changed_run import changing
from tests.kit.pages import SCREENS, Visitor, served
from tests.kit.reader import Reader
from tests.kit.reader import reader as opened_reader
from tests.kit.wait import wait_until


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


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    return axe_script(tmp_path_factory.mktemp("axe"))


@pytest.fixture
def languages(reader: Reader, owner: Visitor) -> Iterator[None]:
    """What is read in another language within a test is in English after it."""
    yield
    reader.go(owner.url("?lang=en"))


@pytest.mark.usefixtures("languages")
@pytest.mark.parametrize(("width", "language"), [(390, "de"), (1280, "en")])
@pytest.mark.parametrize("page", SCREENS)
def test_every_screen_fits_and_shuts_nobody_out(
    reader: Reader, owner: Visitor, axe: str, page: str, language: str, width: int
) -> None:
    reader.size(width)
    reader.go(owner.url(f"{page}{'&' if '?' in page else '?'}lang={language}"))
    assert reader.run("return document.documentElement.lang") == language
    assert reader.run("return document.documentElement.scrollWidth") <= width
    assert reader.run("return getComputedStyle(document.querySelector('main')).maxWidth") == "1180px", "has its style"
    for dark in (False, True):
        reader.colours(dark=dark)
        assert violations(reader, axe) == [], "dark" if dark else "light"
    assert [line for line in reader.complaints() if "404" not in line] == []


REACHED = """
const seen = (each) => each.checkVisibility() && !each.disabled && each.tabIndex >= 0;
const folded = (each) => each.closest("details:not([open])") && !each.matches("details:not([open]) > summary");
return [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex]")]
  .filter((each) => seen(each) && !folded(each)).length
"""


@pytest.mark.parametrize(
    "page", ["", "begin/?experiment=quickstart", "race/", "bench/", "labs/4-tls-round-trips/", "runs/sample/"]
)
def test_the_keyboard_alone_reaches_everything_and_shows_where_it_is(reader: Reader, owner: Visitor, page: str) -> None:
    reader.size(1280)
    reader.go(owner.url(page))
    wanted, places = reader.run(REACHED), []
    for _ in range(wanted + 3):
        reader.press("\ue004")  # Tab
        at = reader.run(
            "const one = document.activeElement; window.order ??= []; if (!order.includes(one)) order.push(one);"
            "return [order.indexOf(one), getComputedStyle(one).outlineStyle, one.tagName]"
        )
        if at[2] == "BODY":
            break
        places.append(at)
    assert {place for place, *_ in places} >= set(range(wanted))
    assert {outline for _, outline, _ in places} == {"solid"}


def test_a_run_that_goes_on_shuts_nobody_out(reader: Reader, owner: Visitor, folder: Path, axe: str) -> None:
    with going_on(folder / "other"):
        for width in (390, 1280):
            reader.size(width)
            reader.go(owner.url("runs/other/"))
            assert "still running" in reader.texts(".badge")[0]
            assert reader.run("return document.querySelector('#now button') !== null")
            assert reader.run("return document.documentElement.scrollWidth") <= width
            assert violations(reader, axe) == []


def test_who_watches_has_every_screen_and_no_button(owner: Visitor, axe: str) -> None:
    watcher = replace(owner, headers={}, role=Role.WATCH)
    with opened_reader() as reader:
        reader.go(watcher.link())
        wait_until(lambda: reader.texts("h1") == ["Runs"], 10)
        for page in ("", "runs/sample/", "race/", "bench/", "labs/", "begin/"):
            reader.go(watcher.url(page))
            assert violations(reader, axe) == []
            assert reader.run("return document.querySelectorAll('form[method=post]').length") == 0, page


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
        describe(folder / "other", "another description")
        wait_until(lambda: reader.texts("h1") == ["another description"], 15)
        assert reader.run("return document.querySelector('#claims details').open")
        assert reader.complaints() == []


def test_the_keyboard_goes_through_the_same_requests_of_both(reader: Reader, owner: Visitor) -> None:
    reader.size(1280)
    reader.go(owner.url("compare/?run=sample&cell=4&run=sample&cell=5"))
    marked = "return [...document.querySelectorAll('#loads .together > title')].map((each) => each.textContent)"
    reader.press("j", "j")
    addresses = [words.split(";")[0] for words in reader.run(marked)]
    assert len(addresses) == 2
    assert addresses[0] == addresses[1]
    assert addresses[0].endswith(".css")
    assert [line.count("ms") > 0 for line in reader.texts("#request p")] == [True, True]
    reader.press("k")
    assert not reader.run(marked)[0].split(";")[0].endswith(".css")
    reader.run("document.querySelector('#loads svg[aria-label$=\"requests by time\"]').focus()")
    reader.press("\ue015")
    assert reader.run(marked)[0].split(";")[0] == addresses[0], "arrow down"


def test_pictures_are_laid_over_each_other_by_a_slider_that_stays_in_view(reader: Reader, owner: Visitor) -> None:
    reader.size(1280, 500)
    reader.go(owner.url("compare/?run=sample&cell=4&run=sample&cell=5"))
    reader.run("document.querySelector('.stack').scrollIntoView({behavior: 'instant', block: 'end'})")
    top, bottom = reader.run(
        "const box = document.querySelector('#overlay .opacity').getBoundingClientRect(); return [box.top, box.bottom]"
    )
    assert 0 <= top < bottom <= 500
    opacity = "return getComputedStyle(document.querySelector('.stack .over')).opacity"
    assert reader.run(opacity) == "0.5"
    reader.run("document.querySelector('#overlay .opacity').focus()")
    reader.press("\ue010")  # End
    assert reader.run(opacity) == "1"
    shown = "return [...document.querySelectorAll('.stack img:not([hidden])')].map((each) => each.dataset.at)"
    last = reader.run(shown)
    reader.run("document.querySelector('#overlay .moment').focus()")
    reader.press("\ue011")  # Home
    assert len(last) == 2
    assert all(int(first) < int(end) for first, end in zip(reader.run(shown), last, strict=True))
    reader.size(1280)


def test_without_a_script_both_films_are_beside_each_other(reader: Reader, owner: Visitor) -> None:
    reader.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        reader.go(owner.url("compare/?run=sample&cell=4&run=sample&cell=5"))
        visible = "return [...document.querySelectorAll(arguments[0])].map((each) => each.checkVisibility())"
        assert reader.run(visible, "#overlay") == [False]
        assert reader.run(visible, "#keys") == [False]
        assert reader.run(visible, "#filmstrips .film") == [True, True]
    finally:
        reader.call("Emulation.setScriptExecutionDisabled", value=False)


def test_two_tabs_follow_one_run_and_a_reload_in_mid_run_shows_where_it_is(
    reader: Reader, owner: Visitor, folder: Path
) -> None:
    with going_on(folder / "other"):
        reader.go(owner.url("runs/other/"))
        with reader.another_tab():
            reader.go(owner.url("runs/other/"))
            describe(folder / "other", "seen in both")
            wait_until(lambda: reader.texts("h1") == ["seen in both"], 15)
        wait_until(lambda: reader.texts("h1") == ["seen in both"], 15)
        describe(folder / "other", "after a reload")
        reader.run("location.reload()")
        wait_until(lambda: reader.texts("h1") == ["after a reload"], 15)
        assert "still running" in reader.texts(".badge")[0]
        describe(folder / "other", "and on")
        wait_until(lambda: reader.texts("h1") == ["and on"], 15)


def describe(run: Path, words: str) -> None:
    with changing(run) as database:
        database.execute("UPDATE meta SET value = ? WHERE key = 'description'", (words,))
