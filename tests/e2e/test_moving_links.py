"""Page loads over links that move: what the router's player did is in each record, and a page waits for its radio."""

import json
from typing import Any

import pytest

from tests.kit.handles import LanelabCommand

from .runs import Played, play

# On a starved machine steps come late: then a trial fails, as it has to, and has the same evidence.
MAY_FAIL = {"link-trace", "link-rate", "link-rtt"}
TRACE = "seconds,mbit\n0,8\n0.3,2\n0.6,6\n1,end\n"
TEXT = """
sites: dummy
links:
  - {rtt: 20ms, rate: {trace: steps.csv}}
  - {rtt: 20ms, rate: 8mbit, radio: {promotion: 2s, resume: 1s, inactive: 5s, release: 5s}}
  - {rtt: 20ms, rate: 2mbit, outage: {for: 500ms, every: 2s}}
  - {rtt: 20ms, rate: 2mbit, duplicate: 2%, outage: {for: 500ms, every: 2s}}
capture: [client, server]
arms: {http: {}}
trials: 1
"""

STEPS, RADIO, OUTAGES = (1,), (2,), (3, 4)  # the numbers of the links


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("moving")
    (folder / "steps.csv").write_text(TRACE)
    return play(LanelabCommand(folder / "build"), folder, TEXT, "--allow-missing")


def over(played: Played, links: tuple[int, ...]) -> list[dict[str, Any]]:
    """The evidence of the trials over these links, of which each has some."""
    assert played.reasons("http") <= MAY_FAIL, played.done.stderr
    rows = played.rows("SELECT link, record FROM trials JOIN cells USING (cell)")
    assert set(links) <= {link for link, _ in rows}
    return [json.loads(record)["evidence"] for link, record in rows if link in links]


def test_a_page_waits_for_its_radio(played: Played) -> None:
    for evidence in over(played, RADIO):
        moving = evidence["moving"]
        assert [state for _, state in moving["played"]["radio"][:3]] == ["idle", "waiting", "connected"]
        assert evidence["browser"]["times"]["plt_ms"] > 2000, "its first packet waited for the radio"
        assert_it_moved_both_ways(moving)


def test_a_rate_has_its_steps_while_a_page_loads(played: Played) -> None:
    for evidence in over(played, STEPS):
        moving = evidence["moving"]
        assert not moving["played"]["radio"]
        due = [at for at, _ in moving["played"]["steps"]]
        steps = [0, 300_000, 600_000]
        expected = [at + 1_000_000 * number for number in range(100) for at in steps for _ in range(2)]
        assert due, "a load of one second or more meets a step"
        assert due == expected[: len(due)]
        assert_it_moved_both_ways(moving)


def assert_it_moved_both_ways(moving: dict[str, Any]) -> None:
    assert len(moving["down"]["points"]) > 10
    assert len(moving["up"]["points"]) > 10


def test_a_load_that_meets_an_outage_is_judged_by_the_link_that_was_asked_for(played: Played) -> None:
    """The player closes the gate and opens it again; what `tc` shows afterwards is what it showed before."""
    for evidence in over(played, OUTAGES):
        due = [at for at, _ in evidence["moving"]["played"]["steps"]]
        assert {1_500_000, 2_000_000} <= set(due), "an outage began and ended while the page loaded"
