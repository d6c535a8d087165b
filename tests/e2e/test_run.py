"""A whole run: from a file to medians, captures and a report, with real Chromium and Apache."""

import gzip
import json

import pytest

from lanelab.driver.base.paths import SOURCES
from tests.kit import tshark
from tests.kit.handles import LanelabCommand

from .runs import Played, play

TREATMENTS = """\
description: every treatment that is there
sites: [dummy]
links: {rate: 20mbit, rtt: 20ms}
defaults: {start: fresh-context}
arms:
  plain: {}
  closing: {keepalive: false}
  tls12: {tls: "1.2", tls_certificate: rsa-2048}
  h2: {protocol: h2, tls: "1.3"}
  gzip: {compression: gzip}
  process: {start: fresh-process}
  warm: {start: warm}
trials: 1
retries: 6  # on a machine that others keep busy
seed: 5
screenshot: true
"""

LOADED = "loaded"  # the modules of the processes that have ended
NOTE_WHAT_IS_LOADED = """
import atexit, sys
@atexit.register
def note():
    with open({file!r}, "a") as file:
        print(*sys.modules, file=file)
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("treatments")
    (folder / "sitecustomize.py").write_text(NOTE_WHAT_IS_LOADED.format(file=str(folder / LOADED)))
    environment = {"PYTHONPATH": f"{folder}:{SOURCES}"}
    return play(LanelabCommand(folder / "build"), folder, TREATMENTS, env=environment)


def test_it_ends_well_and_says_where_the_report_is(played: Played) -> None:
    assert played.done.returncode == 0, played.done.stderr
    assert str(played.folder / "report.html") in played.done.stderr
    assert "closing" in played.done.stdout
    assert (played.folder / "report.html").stat().st_size > 10_000


def test_every_arm_has_its_trial(played: Played) -> None:
    for arm in ("plain", "closing", "tls12", "h2", "gzip", "process", "warm"):
        assert "ok" in played.statuses(arm), (arm, played.reasons(arm))


@pytest.mark.parametrize(("arm", "protocol", "tls"), [
    ("plain", "http/1.1", None), ("tls12", "http/1.1", "TLS 1.2"), ("h2", "h2", "TLS 1.3"),
])  # fmt: skip
def test_an_arm_is_what_was_on_the_wire(played: Played, arm: str, protocol: str, tls: str | None) -> None:
    requests = played.requests(arm)
    assert len(requests) >= 24
    assert {request["protocol"] for request in requests} == {protocol}
    assert {request["tls"] for request in requests} == {tls}


def test_without_keepalive_there_is_a_connection_for_each_object(played: Played) -> None:
    handshakes = {}
    for arm in ("closing", "plain"):
        (record,) = [record for record in played.records(arm) if not record["failures"]]
        connections = record["evidence"]["packets"]["client"]["by_connection"]
        handshakes[arm] = sum(each["handshake"] for each in connections)
    assert handshakes["closing"] >= 24
    assert handshakes["plain"] <= 7  # six, and one that Chromium opens ahead


def test_metrics_are_in_their_order_and_not_below_the_bound(played: Played) -> None:
    arms = {name for (name,) in played.rows("SELECT DISTINCT name FROM arms_of_trials")} - {"warm"}
    for measured in [one for arm in arms for one in played.measures(arm)]:
        assert 20 <= measured["ttfb_ms"] < measured["fcp_ms"]
        assert measured["bound_ms"] <= measured["plt_navigation_ms"] <= measured["plt_ms"]
        assert measured["bytes_down"] > 1_115_300


def test_a_warm_view_takes_the_site_from_the_cache(played: Played) -> None:
    assert sum(request["from_cache"] for request in played.requests("warm")) >= 20


@tshark.needs_tshark
def test_a_captures_packets_can_be_read_and_decrypted(played: Played) -> None:
    (trial,) = played.rows("SELECT max(trial) FROM arms_of_trials WHERE name = 'h2' AND status = 'ok'")[0]
    capture = played.folder / "trials" / f"{trial:06d}" / "client.pcapng.gz"
    paths = tshark.fields(capture, "http2.headers.path", only="http2.headers.path")
    assert ("/index.html",) in paths


@tshark.needs_tshark
@pytest.mark.parametrize("arm", ["plain", "tls12", "h2"])
def test_the_packets_of_each_request_can_be_listed(played: Played, arm: str) -> None:
    trial = max(trial for trial, name in played.rows("SELECT trial, name FROM arms_of_trials") if name == arm)
    lanelab = LanelabCommand(played.folder / "build")
    words = ("packets", str(played.folder), "--trial", str(trial), "--json")
    listed = json.loads(lanelab.run(*words).stdout)
    requests = played.requests(arm)
    assert len(listed) >= 24
    assert all(each["packets"] >= 2 and each["last_ms"] > each["first_ms"] > 0 for each in listed)
    largest = max(range(len(listed)), key=lambda place: listed[place]["packets"])
    packets = json.loads(lanelab.run(*words, "--request", str(largest + 1)).stdout)["packets"]
    body = max(each["body_bytes"] for each in requests if each["url"] == listed[largest]["url"])
    assert sum(each["payload"] for each in packets if each["role"] == "response") >= body
    assert {each["role"] for each in packets} >= {"request", "response", "ack"}


def test_artifacts_are_there(played: Played) -> None:
    for trial, name, size in played.rows("SELECT trial, name, bytes FROM artifacts"):
        assert (played.folder / "trials" / f"{trial:06d}" / name).stat().st_size == size
    names = {name for (name,) in played.rows("SELECT DISTINCT name FROM artifacts")}
    assert {"client.pcapng.gz", "page.har.gz", "screenshot.png", "httpd.conf"} <= names
    har = json.loads(gzip.decompress(next(played.folder.glob("trials/*/page.har.gz")).read_bytes()))
    assert har["log"]["version"] == "1.2"


def test_provenance_names_what_the_numbers_depend_on(played: Played) -> None:
    (provenance,) = (json.loads(text) for (text,) in played.rows("SELECT provenance FROM sessions"))
    assert provenance["machine"]["kernel"]
    assert provenance["bed"]["router"]["kernel"]
    assert provenance["bed"]["client"]["sysctls"]["net.ipv4.tcp_sack"]
    assert provenance["tc_at_the_end"]
    assert dict(played.rows("SELECT key, value FROM meta"))["seed"] == "5"


def test_the_links_were_measured(played: Played) -> None:
    (row, *_) = played.rows("SELECT data FROM self_tests")
    results = {result["name"]: result for result in json.loads(row[0])["results"]}
    assert all(results[name]["achieved"] is not None for name in ("rtt", "rate down"))


def test_a_run_on_one_bed_loads_nothing_of_dask(played: Played) -> None:
    """Neither lanelab's own process nor any that it starts with its environment."""
    loaded = set((played.folder.parent / LOADED).read_text().split())
    assert "lanelab.driver.run.runner" in loaded
    assert not {"dask", "distributed", "tornado"} & {name.partition(".")[0] for name in loaded}
