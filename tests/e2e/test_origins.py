"""Hosts of one page with an address each, in the real Chromium."""

import pytest

from lanelab.driver.base.programs.find_program import find
from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import Played, play, share_programs

absent = [name for name in ("caddy",) if not find(name)]
pytestmark = [needs_namespaces, pytest.mark.skipif(bool(absent), reason=f"{', '.join(absent)} is not installed here")]

ARMS = """\
sites: [thirty-hosts]
links: {rate: 20mbit, distances: recorded}
defaults: {start: fresh-context, addresses: per-origin, tls: "1.3"}
capture: [client, server]
trials: 1
seed: 6
arms:
  h3: {server: caddy, protocol: h3}
"""
HOSTS = 30


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("origins")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    return play(lanelab, folder, ARMS)


def test_http_3_comes_from_each_address(played: Played) -> None:
    assert "ok" in played.statuses("h3"), (played.reasons("h3"), played.done.stderr)
    flows = played.evidence("h3")[-1]["packets"]["client"]["by_udp_flow"]
    asked = {(each["quic"]["server_name"], each["server"]) for each in flows if each["quic"]}
    assert len(asked) == len({address for _, address in asked}) == HOSTS
