"""Page loads from nginx, judged as those from Apache are."""

import pytest

from lanelab.driver.base.programs.find_program import find
from tests.kit.handles import LanelabCommand

from .runs import Played, play, share_programs

pytestmark = pytest.mark.skipif(not find("nginx"), reason="no nginx here")

TREATMENTS = """\
sites: [dummy]
links: {rate: 20mbit, rtt: 20ms}
defaults: {server: nginx, start: fresh-context}
arms:
  plain: {}
  closing: {keepalive: false}
  tls: {tls: "1.3", tls_resumption: false}
  h2: {protocol: h2, tls: "1.3"}
  gzip: {compression: gzip}
  h2c: {protocol: h2}
  pipelined: {pipelining: 4, connections_per_host: 1}
trials: 1
seed: 5
"""
SPOKEN = {
    "plain": ("HTTP/1.1", None), "closing": ("HTTP/1.1", None), "tls": ("HTTP/1.1", "TLSv1.3"),
    "h2": ("HTTP/2.0", "TLSv1.3"), "gzip": ("HTTP/1.1", None), "h2c": ("HTTP/2.0", None),
    "pipelined": ("HTTP/1.1", None),
}  # fmt: skip


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("nginx")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    return play(lanelab, folder, TREATMENTS)


@pytest.mark.parametrize("arm", SPOKEN)
def test_every_arm_counts_and_is_what_was_on_the_wire(played: Played, arm: str) -> None:
    assert "ok" in played.statuses(arm), (played.reasons(arm), played.done.stderr)
    evidence = next(record["evidence"] for record in played.records(arm) if not record["failures"])
    server = evidence["server"]
    assert server["program"].startswith("nginx/1.")
    assert server["error_lines"] == []
    assert len(server["requests"]) >= 24
    assert {(each["protocol"], each["tls"]) for each in server["requests"]} == {SPOKEN[arm]}
    kept = {each["keepalives"] > 0 for each in server["requests"]}
    assert kept == ({False} if arm == "closing" else {True, False})
