"""A page that is opened before its trial is prepared: it is the one that was expected, or none."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.browsers.browser import Surroundings
from lanelab.driver.arm.browsers.browser_pool import MOST_PAGES, KeptBrowsers, Running
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.arm.browsers.fields import BrowserSettings
from lanelab.driver.bed.node import Node
from tests.kit.wait import wait_until

PROCESS, CONTEXT = Arm.parse("a", {}), Arm.parse("a", {"start": "fresh-context"})
HERE, THERE = Surroundings({"here": "10.10.2.2"}), Surroundings({"there": "10.10.2.2"})


class Life:
    """The process of a browser that never ends by itself."""

    killed = False

    def ended(self) -> bool:
        return False

    def kill(self) -> None:
        self.killed = True


class Opened:
    """A page, and what became of it."""

    def __init__(self, browsers: "Browsers", running: Running, number: int) -> None:
        self.browsers = browsers
        self.running, self.number, self.closed = running, number, False
        self.begun_anew, self.hangs = 0, False

    def begin_anew(self) -> None:
        self.begun_anew += 1
        if self.hangs:
            raise BrowserError("it does not answer")

    def release(self) -> None:
        self.browsers._let_go(self.running, self.number)

    def close(self) -> None:
        self.closed = True
        if self.running.shows == self.number:
            self.running.shows = None


class Browsers(KeptBrowsers[Running, Any]):
    """Opens pages as real ones do, without a browser."""

    polite_end_s = 1.0

    def __init__(self, folder: Path) -> None:
        super().__init__(cast("Node", SimpleNamespace(run=lambda _argv: None)), folder)
        self.opened: list[Opened] = []
        self.fails = 0

    def _open(self, arm: BrowserSettings, around: Surroundings, url: str) -> Any:  # noqa: ARG002
        if self.fails:
            self.fails -= 1
            raise BrowserError("it did not start")

        def launch() -> Running:
            return Running(Life(), "profile")

        running = self._kept(tuple(around.hosts), launch) if arm.start == "fresh-context" else launch()
        page = Opened(self, running, len(self.opened))
        running.shows = page.number
        self.opened.append(page)
        return page

    def _open_ahead(self, arm: BrowserSettings, around: Surroundings) -> Any:
        shows = self._that_shows(tuple(around.hosts)) if arm.start == "fresh-context" else None
        return None if shows else self._open(arm, around, "")

    def _leftover(self, running: Running) -> tuple[str, ...]:
        return (running.profile,)

    def wait_for(self, count: int) -> None:
        wait_until(lambda: len(self.opened) == count, what=lambda: f"{len(self.opened)} pages are open")


@pytest.fixture
def browsers(tmp_path: Path) -> Iterator[Browsers]:
    made = Browsers(tmp_path)
    yield made
    made.close()


def numbers(browsers: Browsers) -> list[bool]:
    return [each.closed for each in browsers.opened]


@pytest.mark.parametrize("arm", [PROCESS, CONTEXT])
def test_the_page_that_was_expected_is_the_one_that_is_opened(browsers: Browsers, arm: Arm) -> None:
    browsers.expect(arm, HERE)
    browsers.wait_for(1)
    assert browsers.open(arm, HERE) is browsers.opened[0]
    assert numbers(browsers) == [False]


@pytest.mark.parametrize(("arm", "around"), [(PROCESS, THERE), (CONTEXT, HERE)])
def test_another_page_is_closed_and_never_loaded(browsers: Browsers, arm: Arm, around: Surroundings) -> None:
    browsers.expect(PROCESS, HERE)
    browsers.wait_for(1)
    assert browsers.open(arm, around) is browsers.opened[1]
    assert numbers(browsers) == [True, False]


def test_one_that_could_not_be_opened_ahead_is_opened_when_it_is_needed(browsers: Browsers) -> None:
    browsers.fails = 1
    browsers.expect(PROCESS, HERE)
    assert browsers.open(PROCESS, HERE) is browsers.opened[0]
    assert browsers.fails == 0


def test_what_came_before_a_page_is_wanted_is_none_of_its_load(browsers: Browsers) -> None:
    browsers.expect(CONTEXT, HERE)
    browsers.wait_for(1)
    assert browsers.opened[0].begun_anew == 0
    browsers.open(CONTEXT, HERE)
    browsers.open(PROCESS, HERE)
    assert [page.begun_anew for page in browsers.opened] == [1, 0]


def test_another_page_takes_the_place_of_one_that_does_not_answer_any_more(browsers: Browsers) -> None:
    browsers.expect(PROCESS, HERE)
    browsers.wait_for(1)
    browsers.opened[0].hangs = True
    assert browsers.open(PROCESS, HERE) is browsers.opened[1]
    assert numbers(browsers) == [True, False]


def test_a_browser_opens_no_page_while_another_one_is_read(browsers: Browsers) -> None:
    first = browsers.open(CONTEXT, HERE)
    browsers.expect(CONTEXT, HERE)
    browsers.expect(CONTEXT, HERE)
    assert len(browsers.opened) == 1
    first.release()
    browsers.expect(CONTEXT, HERE)
    browsers.wait_for(2)
    first.close()
    second = browsers.open(CONTEXT, HERE)
    assert second is browsers.opened[1]
    assert browsers.opened[1].running is browsers.opened[0].running
    browsers.expect(CONTEXT, HERE)  # the end of the first page has not let go of the second
    assert browsers.open(CONTEXT, HERE) is browsers.opened[2]


def test_a_browser_that_has_shown_its_last_page_is_not_killed_before_that_is_closed(browsers: Browsers) -> None:
    first = browsers.open(CONTEXT, HERE)
    first.running.pages = MOST_PAGES
    browsers.expect(CONTEXT, HERE)
    first.release()
    browsers.expect(CONTEXT, HERE)
    assert browsers._expected
    assert browsers._expected.page.result() is None
    assert not first.running.life.killed
    first.close()
    assert browsers.open(CONTEXT, HERE).running is not first.running
    assert first.running.life.killed


def test_what_is_still_expected_ends_with_the_browsers(tmp_path: Path) -> None:
    browsers = Browsers(tmp_path)
    browsers.expect(PROCESS, HERE)
    browsers.close()
    assert numbers(browsers) == [True]
