"""A journey as a user makes one: three pages in one browser session, the last of them by the way back."""

import json
from typing import Any

import pytest

from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import Played, play, share_programs

pytestmark = needs_namespaces

# A journey waits for its reader: one trial of each protocol, over a link that is soon measured.
JOURNEY = """\
sites: [five-pages]
pages: [home, news, {back: true}]
think: 1s
links: {rate: 20mbit, rtt: 20ms}
arms: {HTTP/1.1: {}, HTTP/2: {tls: 1.3, protocol: h2}}
trials: 1
retries: 5
seed: 6
"""
ARMS = ("HTTP/1.1", "HTTP/2")
STEPS = ("home", "news", "back")
SHARED = {"/site.css", "/site.js", "/logo.svg"}  # by all pages


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("journeys")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    return play(lanelab, folder, JOURNEY)


def record_of(played: Played, arm: str) -> dict[str, Any]:
    """The trial that counts."""
    assert "ok" in played.statuses(arm), (played.reasons(arm), played.done.stderr)
    return played.records(arm)[played.statuses(arm).index("ok")]


@pytest.mark.parametrize("arm", ARMS)
def test_a_journey_counts_and_has_a_load_time_of_each_step(played: Played, arm: str) -> None:
    record = record_of(played, arm)
    (measures,) = played.measures(arm)
    assert [step["name"] for step in record["recordings"]["journey"]["steps"]] == list(STEPS)
    times = [measures[f"plt_ms@{name}"] for name in STEPS]
    assert all(time > 0 for time in times)
    assert sum(times) == pytest.approx(measures["plt_ms"], abs=0.01)
    assert measures["plt_ms@home"] > measures["bound_ms@home"] > measures["bound_ms@news"] > 20
    assert measures["plt_ms@news"] > measures["bound_ms@news"]


@pytest.mark.parametrize("arm", ARMS)
def test_later_steps_have_the_connections_of_earlier_ones(played: Played, arm: str) -> None:
    record_of(played, arm)
    (measures,) = played.measures(arm)
    assert measures["connections_opened@home"] >= 1
    assert measures["connections_reused@news"] >= 1
    if arm == "HTTP/2":
        assert (measures["connections_opened@home"], measures["connections_opened@news"]) == (1, 0)


@pytest.mark.parametrize("arm", ARMS)
def test_what_pages_share_comes_from_the_cache(played: Played, arm: str) -> None:
    record = record_of(played, arm)
    home, news, back = (step["requests"] for step in record["recordings"]["journey"]["steps"])
    query = "SELECT name, data FROM requests JOIN arms_of_trials a USING (trial) WHERE a.status = 'ok' ORDER BY number"
    requests = [json.loads(data) for name, data in played.rows(query) if name == arm]
    assert home + news + back == len(requests)
    cached = {each["url"].partition("five.test")[2] for each in requests[home : home + news] if each["from_cache"]}
    assert cached == SHARED
    assert not any(each["from_cache"] for each in requests[:home])
    assert all(each["from_cache"] for each in requests[home + news :])  # of none, where home is shown as it was left
    (measures,) = played.measures(arm)
    assert (measures["from_cache@home"], measures["from_cache@news"]) == (0, len(SHARED))
