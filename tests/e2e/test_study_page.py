"""The report of a study as people read it, in a real Chromium: points and trials, without script, on a telephone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from lanelab.analysis.results.study.page import write_study_report
from tests.kit.made_run import Made
from tests.kit.made_study import make_study_run
from tests.kit.reader import Reader, pages_of, reader

VISIBLE = "const at = document.querySelector(arguments[0]); return Boolean(at && at.checkVisibility())"
PANEL = "#figure-1 .picked"
MOST_PAGES = 6
TAPS = 10
OPEN_ALL = "for (const each of document.querySelectorAll('details')) each.open = true"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Made(rounds=6, beds=3)
    return write_study_report(make_study_run(tmp_path_factory.mktemp("study") / "run", made=lambda _: made))


@pytest.fixture(scope="module")
def browser() -> Iterator[Reader]:
    with reader() as made:
        yield made


def test_a_tapped_point_shows_its_trials_and_its_waterfall(browser: Reader, report: Path) -> None:
    browser.open(report)
    assert not browser.run(VISIBLE, PANEL)
    tap_until(browser, "#figure-1 figure svg a[href='#figure-1-cell-4'] path", f"{PANEL} .trials", visible=True)
    assert browser.run(VISIBLE, f"{PANEL} .load svg")
    text = browser.texts(PANEL)[0]
    assert "dummy, 10mbit 20ms, h2" in text
    assert text.count("\tok") == 6
    assert browser.complaints() == []
    tap_until(browser, f"{PANEL} button", PANEL, visible=False)


def tap_until(browser: Reader, tapped: str, shown: str, *, visible: bool) -> None:
    """On a busy machine a finger may stay so long that the browser takes it for something else than a tap."""
    for _ in range(TAPS):
        browser.tap(tapped)
        if browser.run(VISIBLE, shown) == visible:
            return
        browser.run("return new Promise((done) => setTimeout(done, 500))")  # or it comes a little later
        if browser.run(VISIBLE, shown) == visible:
            return
    raise AssertionError(f"{TAPS} taps on {tapped} left {shown} {'hidden' if visible else 'visible'}")


def test_a_point_is_chosen_by_keyboard(browser: Reader, report: Path) -> None:
    browser.open(report)
    browser.run("document.querySelector('#figure-2 figure svg[tabindex]').focus()")
    browser.press(Keys.ARROW_DOWN, Keys.ENTER)
    assert browser.run(VISIBLE, "#figure-2 .picked .trials")


def test_a_link_to_a_folded_cell_opens_all_that_it_is_in(browser: Reader, report: Path) -> None:
    browser.open(report, part="#figure-2-cell-3")
    browser.run("return new Promise((done) => setTimeout(done, 0))")  # the page hears of it in a later turn
    assert browser.run(VISIBLE, "#figure-2-cell-3 .load svg")


def test_without_its_script_it_is_all_there(browser: Reader, report: Path) -> None:
    browser.open(report, script=False)
    assert browser.run(VISIBLE, "#verdicts table")
    browser.run(OPEN_ALL)
    assert browser.run(VISIBLE, "#figure-1-cell-4 .load svg")
    assert browser.run(VISIBLE, "#figure-1-cell-4 .trials")


@pytest.mark.parametrize("width", [400, 1400])
def test_the_page_never_scrolls_sideways(browser: Reader, report: Path, width: int) -> None:
    browser.open(report, width=width, height=800)
    browser.run(OPEN_ALL)
    browser.run("return new Promise((done) => setTimeout(done, 0))")
    assert browser.run("return document.documentElement.scrollWidth") <= width


def test_it_is_printed_on_few_pages(browser: Reader, report: Path) -> None:
    browser.open(report)
    assert 1 <= pages_of(browser.printed()) <= MOST_PAGES
