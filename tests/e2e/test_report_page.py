"""The report as people read it, in a real Chromium: by keyboard and finger, on a telephone, in the dark, on paper."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from lanelab.analysis.results.report import write_report
from tests.kit.made_run import Made, make_run
from tests.kit.reader import Reader, pages_of, reader

MOST_PAGES = 4
LEAST_CONTRAST = 4.5  # WCAG 2.2, AA, of text of this size
OPEN_ALL = "for (const each of document.querySelectorAll('details')) each.open = true"
VISIBLE = "const at = document.querySelector(arguments[0]); return Boolean(at && at.checkVisibility())"
CONTRASTS = """
const luminance = (parts) => {
  const [r, g, b] = parts.map((part) => part / 255)
    .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = numbers(getComputedStyle(at).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
const found = {};
for (const name of arguments[0]) {
  const element = document.querySelector(name);
  if (!element) { found[name] = null; continue; }
  const style = getComputedStyle(element);
  const ink = numbers(element instanceof SVGElement ? style.fill : style.color);
  const [high, low] = [luminance(ink), luminance(behind(element))].sort((a, b) => b - a);
  found[name] = (high + 0.05) / (low + 0.05);
}
return found;
"""
TEXTS = (
    *("h1", ".said li", ".tiles dt", ".tiles dd", "#results td", "#results th", ".note", "figcaption", "figcaption b"),
    *("nav a", ".panel li", ".plot text", "summary", "#comparisons .good", "figure svg text", "select"),
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(make_run(tmp_path_factory.mktemp("runs") / "run", Made(rounds=10)))


@pytest.fixture(scope="module")
def browser() -> Iterator[Reader]:
    with reader() as made:
        yield made


def test_its_own_policy_forbids_nothing_that_it_needs(browser: Reader, report: Path) -> None:
    browser.open(report)
    assert browser.complaints() == []
    assert browser.run("return document.getElementById('tip') !== null")


def test_two_cells_are_chosen_by_keyboard(browser: Reader, report: Path) -> None:
    browser.open(report)
    before = browser.texts(".pair h3")
    assert before == ["dummy, 10mbit 100ms, http", "dummy, 10mbit 100ms, h2"]
    browser.run("document.querySelector('.chooser select').focus()")
    browser.press(Keys.ARROW_DOWN)
    assert browser.texts(".pair h3") == ["dummy, 10mbit 100ms, http keepalive", "dummy, 10mbit 100ms, h2"]
    browser.press(Keys.TAB, Keys.ARROW_UP)
    assert browser.texts(".pair h3") == ["dummy, 10mbit 100ms, http keepalive", "dummy, 10mbit 100ms, https"]
    ends = browser.run(
        "return [...document.querySelectorAll('.pair .load')]"
        ".map((load) => load.dataset.scale / Number(load.style.getPropertyValue('--zoom')))"
    )
    assert ends[0] == pytest.approx(ends[1]), "both are on one scale"


def test_what_came_out_of_the_two_is_told_after_the_guess(browser: Reader, report: Path) -> None:
    browser.open(report)
    assert not browser.run(VISIBLE, ".reveal li")
    browser.run("document.querySelector('.reveal summary').focus()")
    browser.press(Keys.ENTER)
    assert "dummy, 10mbit 100ms, h2: median" in " ".join(browser.texts(".reveal li"))


def test_results_may_be_hidden_until_they_are_guessed(browser: Reader, report: Path) -> None:
    browser.open(report, part="#predict")
    assert not any(browser.run(VISIBLE, name) for name in (".said", "#results", "#comparisons", "#figures"))
    assert browser.run(VISIBLE, "#waterfalls")
    browser.run("document.getElementById('predict').focus()")
    browser.press(Keys.ENTER)
    assert all(browser.run(VISIBLE, name) for name in (".said", "#results", "#comparisons", "#figures"))


def test_every_mark_can_be_read_by_keyboard(browser: Reader, report: Path) -> None:
    browser.open(report)
    browser.run("document.querySelector('.pair svg[tabindex]').focus()")
    browser.press(Keys.ARROW_DOWN)
    first = browser.texts("#tip")
    browser.press(Keys.ARROW_DOWN)
    second = browser.texts("#tip")
    assert first != second
    assert all("dummy.test/" in text and "priority" in text for text in (*first, *second))
    browser.press(Keys.ESCAPE)
    assert not browser.run(VISIBLE, "#tip")
    unreachable = browser.run(
        "return [...document.querySelectorAll('main svg title')].filter((title) => !title.closest('svg[tabindex]') &&"
        " !title.parentNode.closest('svg').parentNode.closest('svg[tabindex]')).length"
    )
    assert unreachable == 0


def test_a_mark_that_is_tapped_says_what_it_is(browser: Reader, report: Path) -> None:
    browser.open(report, width=400, height=800)
    browser.tap(".pair .panel g .hit")
    assert "dummy.test/" in browser.texts("#tip")[0]
    browser.tap("#results h2")
    assert not browser.run(VISIBLE, "#tip")


@pytest.mark.parametrize("width", [400, 1400])
def test_the_page_never_scrolls_sideways(browser: Reader, report: Path, width: int) -> None:
    browser.open(report, width=width, height=800)
    browser.run(OPEN_ALL)
    assert browser.run("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out(browser: Reader, report: Path, dark: bool) -> None:
    browser.open(report, dark=dark)
    browser.run(OPEN_ALL)
    found = browser.run(CONTRASTS, TEXTS)
    assert None not in found.values(), found
    assert {name: ratio for name, ratio in found.items() if ratio < LEAST_CONTRAST} == {}
    paper = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(20, 24, 28)") == dark


def test_it_is_printed_on_few_pages(browser: Reader, report: Path) -> None:
    browser.open(report)
    assert 1 <= pages_of(browser.printed()) <= MOST_PAGES


def test_without_its_script_it_is_all_there(browser: Reader, report: Path) -> None:
    browser.open(report, script=False)
    assert browser.run(VISIBLE, "#results")
    assert browser.run(VISIBLE, ".without a")
    assert not browser.run(VISIBLE, ".chooser")
