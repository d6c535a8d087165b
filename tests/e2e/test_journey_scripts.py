"""A journey by a script, as a user writes one: a form that is posted, a search, a list that loads more of itself."""

import json
from typing import Any

import pytest

from lanelab.driver.base.paths import PROJECT
from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import Played, play, share_programs

pytestmark = needs_namespaces

STEPS = ("home", "login", "search", "goods", "scroll")
JOURNEY = """\
sites: [small-shop]
script: shop-journey.py
links: {rate: 20mbit, rtt: 20ms}
arms: {HTTP/1.1: {}, HTTP/2: {tls: 1.3, protocol: h2}}
trials: 1
retries: 5
seed: 6
"""
WRONG = """\
sites: [small-shop]
script: wrong.py
links: {rate: 20mbit, rtt: 20ms}
arms: {HTTP/1.1: {}}
trials: 1
retries: 0
"""
WRONG_SCRIPT = (
    "with step('home'):\n    driver.get(url)\n\nstep('login')\ndriver.find_element('id', 'nowhere').click()\n"
)


@pytest.fixture(scope="module")
def lanelab(tmp_path_factory: pytest.TempPathFactory) -> LanelabCommand:
    command = LanelabCommand(tmp_path_factory.mktemp("scripts") / "build")
    share_programs(command)
    return command


@pytest.fixture(scope="module")
def played(lanelab: LanelabCommand, tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("sound")
    (folder / "shop-journey.py").write_text((PROJECT / "experiments" / "shop-journey.py").read_text())
    return play(lanelab, folder, JOURNEY)


def requests_by_step(played: Played, arm: str) -> dict[str, list[dict[str, Any]]]:
    """Of the trial that counts."""
    assert "ok" in played.statuses(arm), (played.reasons(arm), played.done.stderr)
    record = played.records(arm)[played.statuses(arm).index("ok")]
    query = "SELECT name, data FROM requests JOIN arms_of_trials a USING (trial) WHERE a.status = 'ok' ORDER BY number"
    requests = [json.loads(data) for name, data in played.rows(query) if name == arm]
    by_step = {}
    for step in record["recordings"]["journey"]["steps"]:
        by_step[step["name"]], requests = requests[: step["requests"]], requests[step["requests"] :]
    assert requests == []
    return by_step


@pytest.mark.parametrize("arm", ["HTTP/1.1", "HTTP/2"])
def test_each_step_has_its_requests_its_time_and_its_answers(played: Played, arm: str) -> None:
    by_step = requests_by_step(played, arm)
    assert tuple(by_step) == STEPS
    (login,) = (each for each in by_step["login"] if each["method"] == "POST")
    assert (login["url"].partition("shop.test")[2], login["status"]) == ("/session", 200)
    assert any(each["url"].endswith("/search?q=lamp") for each in by_step["search"])
    scrolled = [each["url"].partition("shop.test")[2] for each in by_step["scroll"]]
    assert {"/goods/1.html", "/goods/2.html"} < set(scrolled)
    assert not any(each["from_cache"] for each in by_step["scroll"])
    (measures,) = played.measures(arm)
    times = [measures[f"plt_ms@{step}"] for step in STEPS]
    assert sum(times) == pytest.approx(measures["plt_ms"], abs=0.01)
    bounds = [measures[f"bound_ms@{step}"] for step in STEPS]
    assert all(bound > 19 for bound in bounds), bounds  # a round trip, less what a router may be early
    assert all(time > bound for time, bound in zip(times, bounds, strict=True)), (times, bounds)
    assert measures["fcp_ms@login"] > 0
    assert "fcp_ms@scroll" not in measures  # it loads no page


def test_the_run_keeps_the_script(played: Played) -> None:
    assert (played.folder / "shop-journey.py").read_text() == (PROJECT / "experiments" / "shop-journey.py").read_text()


def test_an_error_of_the_script_is_the_trials_failure_with_its_line(
    lanelab: LanelabCommand, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "wrong.py").write_text(WRONG_SCRIPT)
    played = play(lanelab, folder, WRONG)
    query = "SELECT reason, detail FROM failures"
    ((reason, detail),) = played.rows(query)
    assert reason == "script-failed"
    assert detail.startswith("step login: wrong.py:5: NoSuchElementException")


WINDOW = """\
step('home')
driver.get(url)
step('window')
driver.execute_script("document.body.innerHTML = '<a id=to target=_blank href=/index.html>to</a>'")
driver.find_element('id', 'to').click()
"""


def test_a_script_whose_click_opens_another_window_fails(
    lanelab: LanelabCommand, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("window")
    (folder / "wrong.py").write_text(WINDOW)
    played = play(lanelab, folder, WRONG)
    ((reason, detail),) = played.rows("SELECT reason, detail FROM failures")
    assert reason == "script-failed"
    assert detail.startswith("step window: the page opened another window (http://shop.test/index.html)")
