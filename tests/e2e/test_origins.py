"""Hosts of one page with an address each, and with servers of their own, in the real Chromium."""

import gzip
import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.base.programs.find_program import find
from lanelab.driver.record.evidence.parts import Part
from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import Played, play, share_programs

absent = [name for name in ("caddy", "nginx", "tshark") if not find(name)]
pytestmark = [needs_namespaces, pytest.mark.skipif(bool(absent), reason=f"{', '.join(absent)} is not installed here")]

OLD, CDN = "{server: nginx, protocol: http/1.1}", "{server: nginx, protocol: h2}"
ARMS = f"""\
sites: [thirty-hosts]
links: {{rate: 20mbit, rtt: 20ms}}
defaults: {{start: fresh-context, addresses: per-origin, tls: "1.3"}}
capture: [client, server]
trials: 1
seed: 6
arms:
  h3: {{server: caddy, protocol: h3}}
  h2 and h1: {{protocol: h2, origins: {{"*.ads.test": {OLD}, "*.count.test": {OLD}}}}}
  spdy and h1: {{protocol: spdy/3.1, origins: {{"*.ads.test": {OLD}, "*.count.test": {OLD}}}}}
  h3 and h1: {{server: caddy, protocol: h3, origins: {{"*.ads.test": {OLD}, "*.cdn.test": {CDN}}}}}
"""
HOSTS = 30
OLD_HOSTS = (".ads.test", ".count.test")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("origins")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    return play(lanelab, folder, ARMS)


@pytest.mark.parametrize("arm", ["h3", "h2 and h1", "spdy and h1", "h3 and h1"])
def test_each_counts(played: Played, arm: str) -> None:
    assert "ok" in played.statuses(arm), (played.reasons(arm), played.done.stderr)


def test_http_3_comes_from_each_address(played: Played) -> None:
    flows = played.evidence("h3")[-1]["packets"]["client"]["by_udp_flow"]
    asked = {(each["quic"]["server_name"], each["server"]) for each in flows if each["quic"]}
    assert len(asked) == len({address for _, address in asked}) == HOSTS


def last_ok(played: Played, arm: str) -> int:
    rows = played.rows("SELECT trial, name FROM arms_of_trials WHERE status = 'ok' ORDER BY trial")
    return next(int(number) for number, name in reversed(rows) if name == arm)


def hellos(played: Played, arm: str, folder: Path) -> dict[str, set[str]]:
    """What tshark sees that was chosen by ALPN, by the name that was asked for."""
    capture = folder / "client.pcapng"
    packed = played.folder / "trials" / f"{last_ok(played, arm):06d}" / "client.pcapng.gz"
    capture.write_bytes(gzip.decompress(packed.read_bytes()))
    fields = [word for name in ("tcp.stream", "tls.handshake.type", *NAMED) for word in ("-e", name)]
    command = ["tshark", "-r", str(capture), "-Y", "tcp && tls.handshake.type", "-T", "fields", *fields]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    names: dict[str, str] = {}
    chosen: dict[str, set[str]] = {}
    for line in lines:
        stream, kinds, name, alpn = line.split("\t")
        if "1" in kinds.split(","):
            names[stream] = name
        elif alpn:
            chosen.setdefault(names[stream], set()).add(alpn)
    return chosen


NAMED = ("tls.handshake.extensions_server_name", "tls.handshake.extensions_alpn_str")


@pytest.mark.parametrize(("arm", "own"), [("h2 and h1", "h2"), ("spdy and h1", "spdy/3.1")])
def test_tshark_sees_each_host_speak_what_its_own_server_is_to(
    played: Played, tmp_path: Path, arm: str, own: str
) -> None:
    chosen = hellos(played, arm, tmp_path)
    assert len(chosen) == HOSTS
    for name, spoken in chosen.items():
        assert spoken == {"http/1.1" if name.endswith(OLD_HOSTS) else own}, name


def test_beside_http_3_the_others_come_by_tcp(played: Played, tmp_path: Path) -> None:
    chosen = hellos(played, "h3 and h1", tmp_path)
    assert {name.partition(".")[2] for name in chosen} == {"ads.test", "cdn.test"}
    for name, spoken in chosen.items():
        assert spoken == {"h2" if name.endswith(".cdn.test") else "http/1.1"}, name
    flows = played.evidence("h3 and h1")[-1]["packets"]["client"]["by_udp_flow"]
    assert len({each["quic"]["server_name"] for each in flows if each["quic"]}) == HOSTS - len(chosen)


def test_the_gateway_has_one_connection_to_a_host_by_spdy_and_several_by_http_1(played: Played) -> None:
    log = played.evidence("spdy and h1")[-1]["gateway"]
    spoken = {(each["host"].endswith(OLD_HOSTS), each["protocol"]) for each in log["connections"]}
    assert spoken == {(False, "spdy/3.1"), (True, "http/1.1")}
    numbers = Counter(each["host"] for each in log["connections"])
    assert {number for host, number in numbers.items() if not host.endswith(OLD_HOSTS)} == {1}
    assert max(number for host, number in numbers.items() if host.endswith(OLD_HOSTS)) > 1
    (beside, _) = log["wire"]["beside"]
    assert (log["wire"]["protocol"], beside["wire"]["protocol"]) == ("spdy/3.1", "http/1.1")
    (measures, *_) = played.measures("spdy and h1")
    assert sum(measures[part.measure] for part in Part) == pytest.approx(measures["plt_ms"], rel=0.01)


def test_the_record_names_all_servers(played: Played) -> None:
    log: dict[str, Any] = played.evidence("h2 and h1")[-1]["server"]
    assert [each.partition("/")[0] for each in log["program"].split(", ")] == ["Apache", "nginx"]
    kept = {path.name for path in (played.folder / "trials" / f"{last_ok(played, 'h2 and h1'):06d}").iterdir()}
    assert {"httpd.conf", "beside-1-nginx.conf", "beside-2-nginx.conf", "beside-2-access.log.gz"} <= kept


def test_the_report_has_them(played: Played) -> None:
    settings = dict(played.rows("SELECT name, settings FROM arms"))["h2 and h1"]
    assert json.loads(settings)["origins"]["*.ads.test"] == {"server": "nginx", "protocol": "http/1.1"}
    assert "*.ads.test" in (played.folder / "report.html").read_text()
