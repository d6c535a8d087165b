"""Firefox loads pages over each version of HTTP, and its trials are judged as Chromium's are."""

import pytest

from lanelab.driver.base.programs.needs import program
from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import Played, play, share_programs

absent = [name for name in ("firefox", "caddy") if not program(name).path()]
pytestmark = [needs_namespaces, pytest.mark.skipif(bool(absent), reason=f"{', '.join(absent)} is not installed here")]

EXPERIMENT = """\
sites: dummy
links: {rate: 20mbit, rtt: 20ms, queue: 1000p}
defaults: {browser: firefox}
arms:
  clear: {}
  h2: {tls: "1.3", protocol: h2, start: fresh-context}
  h3: {tls: "1.3", protocol: h3, server: caddy}
trials: 1
retries: 2
seed: 4
"""
OBJECTS = 24


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("firefox")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    return play(lanelab, folder, EXPERIMENT)


@pytest.mark.parametrize(
    ("arm", "protocol", "tls"), [("clear", "http/1.1", None), ("h2", "h2", "TLS 1.3"), ("h3", "h3", "QUIC")]
)
def test_an_arm_is_what_was_on_the_wire(played: Played, arm: str, protocol: str, tls: str | None) -> None:
    assert played.done.returncode == 0, played.done.stderr
    requests = played.requests(arm)[-OBJECTS:]  # of the trial that counts: others were before it
    assert len(requests) == OBJECTS
    assert {request["protocol"] for request in requests} == {protocol}
    assert {request["tls"] for request in requests} == {tls}
    assert all(request["ended_ms"] is not None and not request["from_cache"] for request in requests)
    (measures,) = played.measures(arm)
    assert measures["plt_ms"] > measures["fcp_ms"] > measures["ttfb_ms"] > 0


def test_a_record_says_which_browser_it_was(played: Played) -> None:
    for arm in ("clear", "h2", "h3"):
        facts = played.evidence(arm)[-1]["browser"]["facts"]
        assert facts["product"].startswith("Firefox ")
        assert "Gecko/" in facts["user_agent"]
        assert facts["sandbox"]


def test_a_firefox_that_is_not_there_is_told_before_anything_starts(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("absent")
    lanelab = LanelabCommand(folder / "build")
    played = play(lanelab, folder, EXPERIMENT, env={"LANELAB_FIREFOX": "/nowhere/firefox"})
    assert played.done.returncode != 0
    assert "firefox" in played.done.stderr
    assert not played.folder.exists()
