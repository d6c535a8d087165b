"""Server push, windows and orders of streams, with the real gateway, Apache, mod_spdy and Chromium."""

import pytest

from lanelab.driver.record.reasons import Reason
from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import Played, play, share_programs

pytestmark = needs_namespaces
PUSHED = {"dummy.test/style/base.css", "dummy.test/style/layout.css", "dummy.test/style/colours.css"}
STREAMS = """\
sites: dummy
links: {rate: 20mbit, rtt: 20ms}
defaults: {via: gateway, tls: "1.3", start: fresh-context}
arms:
  h2: {protocol: h2, push: critical, stream_window: 16384, connection_window: 65536, server_max_streams: 10}
  spdy: {protocol: spdy/3.1, push: critical, scheduling: fifo, max_concurrent_streams: 4, priorities: flat}
  switched off: {protocol: h2, push: critical, server_directives: H2Push off}
trials: 1
retries: 0
seed: 7
"""
NGINX = """\
sites: dummy
links: {rate: 20mbit, rtt: 20ms}
defaults: {via: gateway, tls: "1.3", start: fresh-context}
arms:
  nginx: {protocol: h2, server: nginx, push: /style/*, server_max_streams: 10}
  h2o: {protocol: h2, server: h2o, priorities: none, stream_window: 16384}
  all: {protocol: spdy/3.1, push: referenced, scheduling: round-robin}
trials: 1
retries: 0
seed: 8
"""


def played(tmp_path_factory: pytest.TempPathFactory, experiment: str) -> Played:
    folder = tmp_path_factory.mktemp("streams")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    return play(lanelab, folder, experiment)


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return played(tmp_path_factory, STREAMS)


@pytest.mark.parametrize("arm", ["h2", "spdy"])
def test_what_an_arm_asks_for_is_pushed_and_used(streams: Played, arm: str) -> None:
    assert streams.statuses(arm) == ["ok"], streams.reasons(arm)
    (record,) = streams.records(arm)
    pushes = record["evidence"]["gateway"]["pushes"]
    assert {each["url"] for each in pushes} == PUSHED
    (measured,) = streams.measures(arm)
    assert measured["pushed_objects"] == len(PUSHED)
    assert measured["pushed_bytes"] == sum(each["body_bytes"] for each in pushes) > 0
    used = {each["request"] for each in record["evidence"]["gateway"]["requests"] if each["pushed"]}
    assert used == {each["adopted_by"] for each in pushes if each["adopted_by"] is not None}


def test_windows_and_limits_are_what_was_said(streams: Played) -> None:
    (h2,), (spdy,) = streams.evidence("h2"), streams.evidence("spdy")
    (told,) = [each["streams"] for each in h2["gateway"]["connections"] if each["requests"]]
    assert told["told"] == {"initial_window_size": 16384, "connection_window": 65536, "enable_push": 1}
    assert told["heard"]["max_concurrent_streams"] == 10
    assert max(each["most_in_flight"] for each in spdy["gateway"]["connections"]) <= 4
    assert {each["wire_priority"] for each in spdy["gateway"]["requests"] if not each["pushed"]} == {3}


def test_a_server_that_does_not_push_is_found_out(streams: Played) -> None:
    assert streams.statuses("switched off") == ["failed"]
    assert Reason.PUSH_MISSING in streams.reasons("switched off")


@pytest.mark.long
def test_other_servers(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = played(tmp_path_factory, NGINX)
    for arm in ("nginx", "h2o", "all"):
        assert run.statuses(arm) == ["ok"], (arm, run.reasons(arm))
    assert {each["url"] for each in run.evidence("nginx")[0]["gateway"]["pushes"]} == PUSHED
    (measured,) = run.measures("all")
    assert measured["pushed_objects"] > len(PUSHED)
