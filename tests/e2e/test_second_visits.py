"""Second visits after a time, in real browsers: what has expired is asked for again."""

import json
from typing import Any

import pytest

from lanelab.driver.base.programs.find_program import find
from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import Played, play, share_programs

pytestmark = needs_namespaces

# The dummy page's files are of 2020 and say no more: Chromium keeps them for a tenth of the years since, Firefox for a
# week.
ARMS = """\
sites: [dummy]
links: {rate: 20mbit, rtt: 20ms}
defaults: {start: warm}
trials: 1
seed: 6
arms:
  at once: {}
  apache day: {revisit_after: 1d}
  apache years: {revisit_after: 3650d}
  apache h2 years: {revisit_after: 3650d, protocol: h2, tls: "1.3"}
  gateway years: {revisit_after: 3650d, protocol: spdy/3.1}
"""
FIREFOX = bool(find("firefox-esr") or find("firefox"))
OBJECTS = 24


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("visits")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    more = []
    if FIREFOX:
        more.append("  firefox day: {browser: firefox, revisit_after: 1d}\n")
        more.append("  firefox month: {browser: firefox, revisit_after: 30d}\n")
    return play(lanelab, folder, ARMS + "".join(more))


def requests(played: Played, arm: str) -> list[dict[str, Any]]:
    assert "ok" in played.statuses(arm), (played.reasons(arm), played.done.stderr)
    query = "SELECT name, data FROM requests JOIN arms_of_trials a USING (trial) WHERE a.status = 'ok' ORDER BY number"
    found = [json.loads(data) for name, data in played.rows(query) if name == arm]
    return [each for each in found if not each["url"].endswith("favicon.ico")]


def asked(played: Played, arm: str) -> set[str]:
    return {each["url"] for each in requests(played, arm) if not each["from_cache"]}


ASKED_AGAIN = [
    *("apache years", "apache h2 years", "gateway years"),
    pytest.param("firefox month", marks=pytest.mark.skipif(not FIREFOX, reason="firefox is not installed here")),
]  # fmt: skip


@pytest.mark.parametrize("arm", ASKED_AGAIN)
def test_what_has_expired_is_asked_for_again(played: Played, arm: str) -> None:
    assert len(asked(played, arm)) >= OBJECTS
    not_modified = [each for each in requests(played, arm) if each["status"] == 304]
    assert len(not_modified) >= OBJECTS - 1, "the files have not changed"


@pytest.mark.parametrize(
    "arm",
    [
        *("at once", "apache day"),
        pytest.param("firefox day", marks=pytest.mark.skipif(not FIREFOX, reason="firefox is not installed here")),
    ],
)
def test_what_is_fresh_is_not(played: Played, arm: str) -> None:
    assert len(asked(played, arm)) <= 1, "the page itself, if anything"
