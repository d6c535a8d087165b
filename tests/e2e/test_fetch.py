"""Objects without a browser, with real beds, routers, servers and the fetcher: each protocol, each server, warm and
fresh."""

import csv
import gzip
import io
import json
import os
import signal
from pathlib import Path

import pytest
import yaml

from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.programs.building.gateway import gateway_program
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.run.events import TrialBegun
from lanelab.driver.run.folder.trial_content import artifact_path
from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces
from tests.kit.tshark import needs_tshark, tshark

from .runs import Played, play, share_programs
from .test_resume import await_event

pytestmark = needs_namespaces

ARMS = {
    "plain": ("", "http/1.1"),
    "closing": ("keepalive: false", "http/1.1"),
    "pipelined": ("pipelining: 3, connections_per_host: 1", "http/1.1"),
    "tls": ("tls: 1.3, tls_resumption: false", "http/1.1"),
    "h2c": ("protocol: h2", "h2"),
    "h2": ("protocol: h2, tls: 1.3", "h2"),
    "spdy2": ("protocol: spdy/2", "spdy/2"),
    "spdy31": ("protocol: spdy/3.1, tls: 1.2", "spdy/3.1"),
    "looked-up": ("protocol: h2, tls: 1.3, dns: resolver", "h2"),
}
TREATMENTS = {**ARMS, "h3": ("protocol: h3, tls: 1.3", "h3")}
OTHERS = {
    f"{server} {name}": (server, name) for server in ("nginx", "caddy") for name in ("plain", "closing", "tls", "h2")
} | {"caddy h3": ("caddy", "h3")}
needs_caddy = pytest.mark.skipif(not find("caddy"), reason="caddy is not installed here")
# Caddy without HTTP/3, whatever its configuration says.
DEAF = f"""\
#!/bin/sh
for word; do case "$word" in */caddy.json) sed -zi 's/,\\s*"h3"//g' "$word";; esac; done
exec {find("caddy")} "$@"
"""
OBJECTS, STYLES = 24, 3


def experiment(arms: dict[str, str], workload: str, rest: str = "trials: 1\nretries: 2\n", link: str = "") -> str:
    lines = "".join(f"  {name}: {{{settings}}}\n" for name, settings in arms.items())
    links = link or "{rate: 20mbit, rtt: 20ms, queue: 400p}"
    return f"workload: {workload}\nsites: dummy\nlinks: {links}\narms:\n{lines}{rest}seed: 3\n"


def played_in(folder: Path, text: str, env: dict[str, str] | None = None) -> Played:
    lanelab = LanelabCommand(folder / "build")
    gateway_program("lanelab-fetcher")
    share_programs(lanelab)
    return play(lanelab, folder, text, env=env)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    arms = {name: settings for name, (settings, _) in ARMS.items()}
    arms |= {
        name.replace(" ", "-"): ", ".join(filter(None, (f"server: {server}", TREATMENTS[treatment][0])))
        for name, (server, treatment) in OTHERS.items()
        if find(server)
    }
    text = experiment(arms, "{kind: fetch, at_once: 4}")
    return played_in(tmp_path_factory.mktemp("fetch"), text)


def bodies() -> dict[str, str]:
    """SHA-256 by address."""
    site = yaml.safe_load((PROJECT / "sites-archive" / "dummy" / "site.yaml").read_text())
    return {each["host"] + each["path"]: each["sha256"] for each in site["objects"]}


@pytest.mark.parametrize("arm", [*ARMS, *(name.replace(" ", "-") for name in OTHERS)])
def test_every_arm_counts_and_each_object_is_the_sites(played: Played, arm: str) -> None:
    if arm not in ARMS and not played.statuses(arm):
        pytest.skip("no such server here")
    assert "ok" in played.statuses(arm), (played.reasons(arm), played.done.stderr)
    record = next(each for each in played.records(arm) if not each["failures"])
    report = record["evidence"]["fetch"]
    assert {each["url"]: each["sha256"] for each in report["objects"]} == bodies()
    protocol = TREATMENTS[arm if arm in ARMS else OTHERS[arm.replace("-", " ", 1)][1]][1]
    assert {each["protocol"] for each in record["evidence"]["gateway"]["requests"]} == {protocol}
    assert record["evidence"]["browser"] is None
    assert record["evidence"]["witnesses"]["protocol"] == ["fetcher", "server", "capture"]
    measures = played.measures(arm)[0]
    assert measures["bound_ms"] < measures["fetch_ms"]
    times = [measures[name] for name in ("object_ttfb_ms", "object_ms", "object_most_ms", "fetch_ms")]
    assert times == sorted(times)
    assert times[0] > 20
    assert measures["objects"] == OBJECTS
    connections = {"closing": OBJECTS, "pipelined": 1, "plain": 4, "tls": 4}.get(arm.rpartition("-")[2], 1)
    assert measures["object_connections"] == connections


def test_a_run_is_shown_exported_and_reported_like_any(played: Played) -> None:
    lanelab = LanelabCommand(played.folder.parent / "build")
    shown = json.loads(lanelab.run("show", str(played.folder), "--json").stdout)
    assert {cell["arm"] for cell in shown["cells"] if cell["fetch_ms"]["n"]} >= set(ARMS)
    text = lanelab.run("show", str(played.folder)).stdout
    assert "fetches" in text
    assert f"{OBJECTS} objects by spdy/3.1, over 1 connection." in text
    rows = list(
        csv.DictReader(io.StringIO(lanelab.run("export", str(played.folder), "--format", "csv", "--requests").stdout))
    )
    assert {row["url"].partition("://")[2] for row in rows} == set(bodies())
    one = lanelab.run("show", str(played.folder), "--trial", "1").stdout
    assert "time until all objects were there" in one
    assert "dummy.test/style/base.css" in one
    page = (played.folder / "report.html").read_text()
    assert "dummy.test/images/20.png" in page
    assert lanelab.run("verify", str(played.folder)).returncode == 0
    explained = lanelab.run("explain", str(played.folder))
    assert "Traceback" not in explained.stderr


def test_its_files_are_there(played: Played) -> None:
    trial = next(each for each in read_run(played.folder).ok if each.cell.arm.name == "h2")

    def kept(name: str) -> Path:
        return artifact_path(played.folder, trial.number, name)

    own = ("fetch-wire.jsonl.gz", "fetch.json.gz", "fetch-plan.json")
    names = (*own, "client.pcapng.gz", "page.har.gz", "access.log.gz")
    assert all(kept(name).is_file() for name in names)
    assert not kept("keys.log").exists()
    har = json.loads(gzip.decompress(kept("page.har.gz").read_bytes()))["log"]
    assert har["browser"]["name"] == "lanelab-fetcher"
    assert len(har["entries"]) == OBJECTS
    assert json.loads(kept("fetch-plan.json").read_text())["at_once"] == 4


@needs_tshark
def test_a_capture_decrypts(played: Played, tmp_path: Path) -> None:
    trial = next(each for each in read_run(played.folder).ok if each.cell.arm.name == "h2")
    capture = tmp_path / "client.pcapng"
    capture.write_bytes(gzip.decompress(artifact_path(played.folder, trial.number, "client.pcapng.gz").read_bytes()))
    said = tshark(capture, "-Y", "http2.headers.path", "-T", "fields", "-e", "http2.headers.path")
    assert "/style/base.css" in said


@needs_caddy
def test_a_fetch_by_http3_has_one_connection_and_its_capture_opens(played: Played, tmp_path: Path) -> None:
    record = next(each for each in played.records("caddy-h3") if not each["failures"])
    (connection,) = record["evidence"]["gateway"]["connections"]
    (flow,) = [each for each in record["evidence"]["packets"]["client"]["by_udp_flow"] if each["quic"]]
    assert connection["local"].endswith(f":{flow['client_port']}")
    assert connection["connected_ms"] == connection["secured_ms"]
    quic = flow["quic"]
    assert (quic["alpn_offered"], quic["alpn_chosen"], quic["tls_version"]) == (["h3"], "h3", "TLS 1.3")
    assert (quic["early_packets"], quic["moved_from"]) == (0, None)
    assert record["evidence"]["packets"]["client"]["by_connection"] == []
    streams = sorted(each["stream"] for each in record["evidence"]["gateway"]["requests"])
    assert streams == [4 * number for number in range(OBJECTS)]
    assert {line["protocol"] for line in record["evidence"]["server"]["requests"]} == {"HTTP/3.0"}
    if find("tshark"):
        trial = next(each for each in read_run(played.folder).ok if each.cell.arm.name == "caddy-h3")
        capture = tmp_path / "client.pcapng"
        kept = artifact_path(played.folder, trial.number, "client.pcapng.gz")
        capture.write_bytes(gzip.decompress(kept.read_bytes()))
        assert tshark(capture, "-Y", "http3", "-T", "fields", "-e", "http3.frame_type").strip()


@needs_caddy
def test_http3_over_a_warm_connection_has_no_handshake_in_it(tmp_path: Path) -> None:
    arms = {"h3": "server: caddy, protocol: h3, tls: 1.3"}
    played = played_in(tmp_path, experiment(arms, '{kind: fetch, objects: ["*.css"], warm: true}'))
    assert "ok" in played.statuses("h3"), (played.reasons("h3"), played.done.stderr)
    record = next(each for each in played.records("h3") if not each["failures"])
    assert len(record["evidence"]["gateway"]["connections"]) == 1
    assert played.measures("h3")[0]["fetch_ms"] > STYLES * 20 * 0.95


@needs_caddy
def test_a_server_that_does_not_speak_http3_is_found(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "caddy").write_text(DEAF)
    (programs / "caddy").chmod(0o755)
    text = experiment({"h3": "server: caddy, protocol: h3, tls: 1.3"}, "fetch", "trials: 1\nretries: 0\ntimeout: 2s\n")
    played = played_in(tmp_path, text, {"PATH": f"{programs}:{os.environ['PATH']}"})
    assert {"timeout", "failed-object", "protocol-fallback"} <= set(played.reasons("h3")), played.done.stderr
    assert "Traceback" not in played.done.stderr


def test_some_objects_over_warm_connections(tmp_path: Path) -> None:
    arms = {name: ARMS[name][0] for name in ("plain", "h2", "spdy31")}
    played = played_in(tmp_path, experiment(arms, '{kind: fetch, objects: ["*.css"], warm: true}'))
    for arm in arms:
        assert "ok" in played.statuses(arm), (played.reasons(arm), played.done.stderr)
        record = next(each for each in played.records(arm) if not each["failures"])
        measured = [each["measured"] for each in record["evidence"]["fetch"]["objects"]]
        assert measured == [False] * STYLES + [True] * STYLES
        assert {each["url"].rpartition(".")[2] for each in record["evidence"]["fetch"]["objects"]} == {"css"}
        measures = played.measures(arm)[0]
        assert measures["fetch_ms"] > STYLES * 20 * 0.95
        began_ms = record["evidence"]["fetch"]["began_ms"]
        carrying = [each for each in record["evidence"]["gateway"]["connections"] if each["requests"]]
        assert all(each["connected_ms"] < began_ms for each in carrying), "no handshake is in what is measured"
        assert len(played.requests(arm)) == STYLES * sum(status == "ok" for status in played.statuses(arm))


def test_a_fetch_that_takes_too_long_fails_and_says_so(tmp_path: Path) -> None:
    text = experiment({"plain": ""}, "fetch", "trials: 1\nretries: 0\ntimeout: 1s\n", "{rate: 1mbit, rtt: 20ms}")
    played = played_in(tmp_path, text)
    assert played.statuses("plain") == ["failed"]
    assert "timeout" in played.reasons("plain")
    assert "Traceback" not in played.done.stderr
    report = played.evidence("plain")[0]["fetch"]
    assert report["in_time"] is False
    assert len(report["objects"]) < OBJECTS


def test_ctrl_c_ends_a_fetch_at_once_and_the_run_goes_on(tmp_path: Path) -> None:
    lanelab = LanelabCommand(tmp_path / "build")
    gateway_program("lanelab-fetcher")
    share_programs(lanelab)
    file = tmp_path / "experiment.yaml"
    file.write_text(experiment({"plain": ""}, "fetch", "trials: 1\ntimeout: 60s\n", "{rate: 500kbit, rtt: 20ms}"))
    run = lanelab.start("run", str(file), "--out", str(tmp_path / "run"), "--json", "--accept-links")
    await_event(run, TrialBegun.kind)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate()
    assert b"Traceback" not in errors
    stopped = Played(tmp_path / "run", None)  # type: ignore[arg-type] # only its folder is looked at
    assert stopped.rows("SELECT ending FROM sessions") == [("stopped",)]


def test_objects_that_no_site_has_are_an_error_with_its_line(tmp_path: Path) -> None:
    lanelab = LanelabCommand(tmp_path / "build")
    file = tmp_path / "experiment.yaml"
    file.write_text(experiment({"plain": ""}, '{kind: fetch, objects: ["*.gif"]}'))
    for command in (["plan", str(file)], ["run", str(file), "--out", str(tmp_path / "run")]):
        done = lanelab.run(*command)
        assert done.returncode == 2
        assert f"{file}:1: workload" in done.stderr
        assert "'*.gif'" in done.stderr
