"""Users over HTTP/3: whole loads of Caddy by k6, with every witness; and a server that does not speak it."""

import gzip
import json
import os
from pathlib import Path

import pytest

from lanelab.driver.base.programs.find_program import find
from lanelab.driver.trial.packets.key_log import key_log
from tests.kit import tshark
from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import Played, play, share_programs

CADDY = find("caddy")
# k6 is built when it is first wanted, which takes more than a minute.
pytestmark = [needs_namespaces, pytest.mark.long, pytest.mark.skipif(not CADDY, reason="caddy is not installed here")]

USERS, RTT_MS = 3, 20
ARMS = """\
  h3: {protocol: h3}
  h3 anew: {protocol: h3, tls_resumption: false}
  h2: {protocol: h2}
"""
EXPERIMENT = """\
workload: WORKLOAD
sites: icons-50
links: {rtt: RTT_MSms}
defaults: {server: caddy, tls: "1.3"}
arms:
ARMS
trials: 1
retries: 0
seed: 4
"""
BY_USERS = f"{{kind: load, script: page, users: {USERS}, duration: 5s, think: 200ms}}"
BY_ARRIVALS = "{kind: load, script: page, arrivals: 4, duration: 5s}"  # each is a visitor with a connection of its own
IN_VAIN = "{kind: load, script: page, users: 1, duration: 4s, request_timeout: 1s}"
LIMITED = {"generator-limited"}  # what a busy machine does to a load, which has all of its numbers then
# Caddy without HTTP/3, whatever its configuration says.
DEAF = f"""\
#!/bin/sh
for word; do case "$word" in */caddy.json) sed -zi 's/,\\s*"h3"//g' "$word";; esac; done
exec {CADDY} "$@"
"""


def played(folder: Path, workload: str, arms: str = ARMS, env: dict[str, str] | None = None) -> Played:
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    text = EXPERIMENT.replace("WORKLOAD", workload).replace("ARMS\n", arms).replace("RTT_MS", str(RTT_MS))
    return play(lanelab, folder, text, env=env)


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return played(tmp_path_factory.mktemp("users"), BY_USERS)


@pytest.mark.parametrize("arm", ["h3", "h3 anew", "h2"])
def test_each_user_has_one_connection_and_every_page_is_whole(users: Played, arm: str) -> None:
    assert users.reasons(arm) <= LIMITED, users.done.stderr
    (measures,) = users.measures(arm, of_all=True)
    assert measures["connections_opened"] == USERS
    assert measures["failed_pages"] == measures["failed_requests"] == 0
    assert measures["requests_per_s"] == pytest.approx(51 * measures["pages_per_s"], rel=0.5)


@pytest.mark.parametrize("arm", ["h3", "h3 anew"])
def test_all_witnesses_say_http3(users: Played, arm: str) -> None:
    (record,) = users.records(arm)
    spoken, generator = record["recordings"]["spoken"], record["evidence"]["generator"]
    assert (generator["protocol"], generator["tls"]) == ("h3", "1.3")
    assert set(generator["parts_ms"]) == {"connect", "wait", "receive"}
    assert spoken["served"].keys() == {"h3"}
    assert spoken["served"]["h3"] >= 5
    assert len(spoken["served_in_s"]) >= 3  # of 5 s of load
    quic = spoken["quic"]
    assert (quic["begun"], quic["complete"], quic["early"], quic["over_tcp"]) == (USERS, USERS, 0, 0)
    assert quic["offered"] == quic["chosen"] == {"h3": USERS}
    assert quic["tls"] == {"TLS 1.3": USERS}
    assert record["evidence"]["wire"]["connections"] == 0
    assert spoken["datagrams"]["received"] > 100
    assert spoken["at_server"]["received"] > 100
    assert quic["packets"] > 100


def test_http2_beside_it_costs_no_log_and_needs_no_such_witness(users: Played) -> None:
    (record,) = users.records("h2")
    assert "spoken" not in record["recordings"]
    assert record["evidence"]["wire"]["offered"] == {"h2": USERS}
    (other,) = users.records("h3")
    assert "sampling" not in record["evidence"]["server"]["configuration"]
    assert "sampling" in other["evidence"]["server"]["configuration"]


def test_connections_that_the_kernel_does_not_know_have_no_series(users: Played) -> None:
    assert max(users.series("h2")["connections"]) == USERS
    assert "connections" not in users.series("h3")
    assert max(users.series("h3")["server_cpu"]) > 0


def test_the_first_packets_open_with_their_keys(users: Played) -> None:
    (number,) = [trial for trial, name in users.rows("SELECT trial, name FROM arms_of_trials") if name == "h3"]
    folder = users.folder / "trials" / f"{number:06d}"
    capture = gzip.decompress((folder / "first.pcapng.gz").read_bytes())
    assert key_log(capture).count("CLIENT_TRAFFIC_SECRET_0") == USERS
    assert not list(folder.glob("keys.log*"))
    assert not list(folder.glob("first.pcap"))
    if not find("tshark"):
        pytest.skip("tshark is not installed here")
    file = users.folder.parent / "first.pcapng"
    file.write_bytes(capture)
    assert tshark.fields(file, "http3.frame_type", only="http3")


def test_the_first_packets_are_shown_by_connection_and_exported(users: Played) -> None:
    lanelab = LanelabCommand(users.folder.parent / "build")
    numbers = {name: str(trial) for trial, name in users.rows("SELECT trial, name FROM arms_of_trials")}
    for arm, over, spoken in (("h3", "quic", "h3"), ("h2", "tcp", "tls")):
        shown = json.loads(lanelab.run("packets", str(users.folder), "--trial", numbers[arm], "--json").stdout)
        connections = [each for each in shown["connections"] if each["handshake"]]
        assert len(connections) == USERS, shown
        assert {(each["over"], each["spoken"], each["tls"]) for each in connections} == {(over, spoken, "TLS 1.3")}
        assert all(each["handshake_ms"] >= RTT_MS - 1 for each in connections)
    out = users.folder.parent / "captures"
    lanelab.run("export", str(users.folder), "--format", "pcapng", "--output", str(out))
    counted = {int(trial) for (trial,) in users.rows("SELECT trial FROM trials WHERE status = 'ok'")}
    assert {int(each.name[:6]) for each in out.glob("*.first.pcapng")} == counted
    by_quic = {int(numbers[arm]) for arm in ("h3", "h3 anew")}
    assert {int(each.name[:6]) for each in out.glob("*.first.key_log.txt")} == by_quic & counted


def test_arrivals_are_visitors_with_connections_of_their_own(tmp_path: Path) -> None:
    run = played(tmp_path, BY_ARRIVALS, "  h3: {protocol: h3}\n")
    assert run.reasons("h3") <= LIMITED, run.done.stderr
    (measures,) = run.measures("h3", of_all=True)
    assert measures["connections_opened"] >= 15
    (record,) = run.records("h3")
    assert record["recordings"]["spoken"]["quic"]["early"] == 0


def test_a_server_that_does_not_speak_it_answers_nothing(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "caddy").write_text(DEAF)
    (programs / "caddy").chmod(0o755)
    run = played(tmp_path, IN_VAIN, "  h3: {protocol: h3}\n", {"PATH": f"{programs}:{os.environ['PATH']}"})
    assert {"failed-requests", "protocol-fallback"} <= run.reasons("h3"), run.done.stderr
    (record,) = run.records("h3")
    assert set(record["evidence"]["generator"]["errors"]) == {"timeout"}
