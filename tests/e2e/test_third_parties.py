"""Third parties that misbehave, in the real Chromium: blocked, slow, answering with errors, dead."""

import json
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import Played, play, share_programs

pytestmark = needs_namespaces

TAG, WIDGET = "tag.ads.test/js/tag.js", "widget.social.test/js/widget.js"
ARMS = """\
sites: [third-parties]
links: {rate: 20mbit, rtt: 20ms}
defaults: {start: fresh-context}
trials: 1
seed: 6
arms:
"""
RTT_MS = 20
ILL = f"""\
  slow: {{answer_delay: {{tag.ads.test: 300ms}}}}
  slow h2: {{answer_delay: {{tag.ads.test: 300ms, {WIDGET}: 200ms}}, protocol: h2, tls: "1.3"}}
  slow nginx: {{answer_delay: {{tag.ads.test: 300ms}}, server: nginx}}
  slow nginx h2: {{answer_delay: {{tag.ads.test: 300ms, {WIDGET}: 200ms}}, server: nginx, protocol: h2, tls: "1.3"}}
  slow spdy: {{answer_delay: {{default: 100ms}}, protocol: spdy/3.1}}
  error: {{answer: {{tag.ads.test: 503, "img.shop.test/*": 404}}}}
  error nginx: {{answer: {{tag.ads.test: 503}}, server: nginx, protocol: h2, tls: "1.3"}}
  blocked hosts: {{block: "*.ads.test", addresses: per-origin}}
  blocked addresses: {{block: ["tag.ads.test/js/*.js", "*/*.gif"]}}
  blocked by gateway: {{block: "*.ads.test", protocol: spdy/3.1}}
  apart: {{protocol: h2, tls: "1.3"}}
  apart new process: {{protocol: h2, tls: "1.3", start: fresh-process}}
"""


@pytest.fixture(scope="module")
def lanelab(tmp_path_factory: pytest.TempPathFactory) -> LanelabCommand:
    command = LanelabCommand(tmp_path_factory.mktemp("third") / "build")
    share_programs(command)
    return command


@pytest.fixture(scope="module")
def played(lanelab: LanelabCommand, tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(lanelab, tmp_path_factory.mktemp("ill"), ARMS + ILL)


def requests(played: Played, arm: str) -> dict[str, dict[str, Any]]:
    query = "SELECT name, data FROM requests JOIN arms_of_trials a USING (trial) WHERE a.status = 'ok' ORDER BY number"
    found: list[dict[str, Any]] = [json.loads(data) for name, data in played.rows(query) if name == arm]
    return {each["url"].partition("://")[2]: each for each in found}


def log_of(played: Played, arm: str) -> dict[str, dict[str, Any]]:
    lines = played.evidence(arm)[-1]["server"]["requests"]
    return {f"{each['host']}{each['path']}": each for each in lines}


@pytest.mark.parametrize("arm", [line.strip().partition(":")[0] for line in ILL.splitlines()])
def test_each_counts(played: Played, arm: str) -> None:
    assert "ok" in played.statuses(arm), (played.reasons(arm), played.done.stderr)


@pytest.mark.parametrize("arm", ["slow", "slow h2", "slow spdy", "slow nginx", "slow nginx h2"])
def test_the_server_thinks_about_what_is_named_alone(played: Played, arm: str) -> None:
    lines = log_of(played, arm)
    delays_ms = {TAG: 300, WIDGET: 200} if arm.endswith("h2") else {TAG: 300}
    delays_ms = dict.fromkeys(lines, 100) if arm == "slow spdy" else delays_ms
    assert all(line["duration_us"] >= delays_ms.get(url, 0) * 1000 for url, line in lines.items())
    others_us = [line["duration_us"] for url, line in lines.items() if url not in delays_ms]
    assert not others_us or median(others_us) < 200_000  # one or the other waits on a busy machine, too
    for url, wanted_ms in delays_ms.items():
        assert requests(played, arm)[url]["timings"]["wait"] >= wanted_ms


@pytest.mark.parametrize("arm", ["error", "error nginx"])
def test_errors_are_answered(played: Played, arm: str) -> None:
    asked = requests(played, arm)
    assert asked[TAG]["status"] == log_of(played, arm)[TAG]["status"] == 503
    photos = {each["status"] for url, each in asked.items() if url.startswith("img.shop.test/")}
    assert photos == {404 if arm == "error" else 200}


@pytest.mark.parametrize("arm", ["apart", "apart new process"])
def test_what_may_have_no_cookie_has_a_connection_of_its_own(played: Played, arm: str) -> None:
    """All hosts have one address and one certificate."""
    used: dict[bool, set[Any]] = {True: set(), False: set()}
    for url, each in requests(played, arm).items():
        used[url.split("/")[0].endswith(".shop.test")].add(each["connection"])
    assert len(used[True]) == 1
    assert used[False]
    assert not used[True] & used[False]


@pytest.mark.parametrize("arm", ["blocked hosts", "blocked addresses", "blocked by gateway"])
def test_what_is_blocked_is_asked_of_nobody_and_costs_nothing(played: Played, arm: str) -> None:
    asked = requests(played, arm)
    blocked = {url: each for url, each in asked.items() if ".ads.test/" in url}
    assert set(blocked) == {TAG, "pixel.ads.test/images/pixel.gif"}
    assert {each["error"] for each in blocked.values()} == {"inspector"}
    took_ms = [each["ended_ms"] - each["started_ms"] for each in blocked.values()]
    assert min(took_ms) < RTT_MS, "a busy browser may keep one of them waiting"
    assert not [url for url in log_of(played, arm) if ".ads.test/" in url]
    if arm == "blocked hosts":
        addresses = {each["server"] for each in played.evidence(arm)[-1]["packets"]["client"]["by_connection"]}
        assert len(addresses) == 3  # of five hosts


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        (
            "block: '*.addds.test'",
            "8: arms.ill.block: third-parties has no host like *.addds.test. Did you mean tag.ads.test?",
        ),
        ("block: '*'", "8: arms.ill.block: * means the page of third-parties itself"),
        ("answer: {cdn.test: 503}", "8: arms.ill.answer: third-parties has no host like cdn.test"),
    ],
)
def test_what_the_site_cannot_have_is_refused_at_its_line(
    lanelab: LanelabCommand, tmp_path: Path, setting: str, says: str
) -> None:
    played = play(lanelab, tmp_path, f"{ARMS}  ill:\n    {setting}\n")
    assert played.done.returncode == 2
    assert f"experiment.yaml:{says}" in played.done.stderr
    assert not played.folder.exists()


@pytest.mark.long
def test_a_dead_host_holds_the_page_up_until_the_browser_gives_it_up(lanelab: LanelabCommand, tmp_path: Path) -> None:
    text = ARMS.replace("arms:", "timeout: 180s\nretries: 0\narms:") + "  dead: {unreachable: tag.ads.test}\n"
    played = play(lanelab, tmp_path, text)
    assert played.statuses("dead") == ["ok"], played.done.stderr
    (measures,) = played.measures("dead")
    assert 120_000 < measures["plt_ms"] < 150_000
    assert measures["part_connect_ms"] > 0.95 * measures["plt_ms"]
    connections = played.evidence("dead")[0]["packets"]["client"]["by_connection"]
    dead = [each for each in connections if each["server"] == "10.10.31.1"]
    assert dead
    assert all((each["packets_down"], each["handshake"]) == (0, False) and each["packets_up"] > 5 for each in dead)
    assert requests(played, "dead")[TAG]["error"] == "net::ERR_CONNECTION_TIMED_OUT"
