"""Through the gateway: protocols that no browser of today speaks, with real Chromium, gateway, Apache and mod_spdy."""

import gzip
import hashlib
import json
from pathlib import Path

import pytest
import yaml

from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.link import Link
from lanelab.driver.run.folder.trial_content import artifact_path
from lanelab.driver.run.folder.trial_records import read_record
from lanelab.driver.trial.packets.timeline import read_timeline
from lanelab.driver.trial.parts.decompose import Loaded, decompose
from tests.kit.handles import LanelabCommand

from . import pages
from .runs import Played, play, share_programs

PAGE, OTHER, IMAGES = "www.many.test", "img.many.test", 14
OTHER_IMAGES = 40
HELD_BACK = 10  # so many Chromium asks for at once of hosts that are not known to speak HTTP/2
ARMS = """\
  native: {}
  keepalive: {via: gateway}
  closing: {via: gateway, keepalive: off}
  pipelined: {pipelining: 4, connections_per_host: 1}
  chromium: {pipelining: 3, pipelining_policy: chromium, connections_per_host: 2, backup_connections: on}
  firefox: {pipelining: 4, pipelining_policy: firefox, connections_per_host: 3}
  h2c: {protocol: h2}
  h2: {via: gateway, protocol: h2, tls: 1.3, tls_resumption: off}
  spdy2: {protocol: spdy/2}
  spdy3: {protocol: spdy/3, tls: 1.2, coalescing: origin}
  spdy31: {protocol: spdy/3.1}
  spdy31-tls: {protocol: spdy/3.1, tls: 1.3, compression: gzip}
  warm: {protocol: spdy/3.1, tls: 1.3, start: warm}
  refused: {protocol: spdy/3.1, tls: 1.3, server_directives: SpdyEnabled off}
"""
PROTOCOLS = f"""\
sites: many
links: {{rtt: 20ms}}
defaults: {{start: fresh-context, dns: resolver}}
arms:
{ARMS}
trials: 1
retries: 0
seed: 3
"""
SPOKEN = {
    "keepalive": "http/1.1", "closing": "http/1.1", "pipelined": "http/1.1", "chromium": "http/1.1",
    "firefox": "http/1.1", "h2c": "h2", "h2": "h2",
    "spdy2": "spdy/2", "spdy3": "spdy/3", "spdy31": "spdy/3.1", "spdy31-tls": "spdy/3.1", "warm": "spdy/3.1",
}  # fmt: skip


def make_site(folder: Path) -> None:
    """A page with many images of its own and some of another host, which it names by http: as archived pages do."""
    own = [f"{number}.png" for number in range(IMAGES)]
    others = [f"other-{number}.png" for number in range(OTHER_IMAGES)]
    images = "".join(f'<img src="{name}">' for name in own)
    images += "".join(f'<img src="http://{OTHER}/{name}">' for name in others)
    text = f'<!doctype html><html><head><link rel="icon" href="data:,"></head><body>{images}</body></html>'
    files = {f"{PAGE}/index.html": text.encode()}
    files |= {f"{PAGE}/{name}": pages.png(seed) for seed, name in enumerate(own, 1)}
    files |= {f"{OTHER}/{name}": pages.png(seed) for seed, name in enumerate(others, 100)}
    objects = []
    for name, data in files.items():
        host, _, path = name.partition("/")
        file = folder / "many" / "content" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        mime = "text/html" if path.endswith("html") else "image/png"
        digest = hashlib.sha256(data).hexdigest()
        objects.append({"host": host, "path": f"/{path}", "mime": mime, "size": len(data), "sha256": digest})
    manifest = {"title": "Many images", "source": "tests", "entry": f"{PAGE}/index.html", "objects": objects}
    (folder / "many" / "site.yaml").write_text(yaml.safe_dump(manifest))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("protocols")
    make_site(folder / "sites")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    return play(lanelab, folder, PROTOCOLS, env={"LANELAB_SITES": str(folder / "sites")})


@pytest.mark.parametrize("arm", ["native", *SPOKEN])
def test_every_protocol_has_its_trial(played: Played, arm: str) -> None:
    assert played.statuses(arm) == ["ok"], (arm, played.records(arm)[0]["failures"])


@pytest.mark.parametrize("arm", SPOKEN)
def test_what_was_asked_for_is_what_was_on_the_link(played: Played, arm: str) -> None:
    (evidence,) = played.evidence(arm)
    gateway = evidence["gateway"]
    assert {each["protocol"] for each in gateway["connections"]} == {SPOKEN[arm]}
    if arm == "warm":  # all of it is in the cache
        return
    assert {each["protocol"] for each in gateway["requests"]} == {SPOKEN[arm]}
    requests = [request for request in played.requests(arm) if request["before_load"]]
    assert {request["wire"]["protocol"] for request in requests} == {SPOKEN[arm]}
    assert {(request["protocol"], request["tls"]) for request in requests} == {("h2", "TLS 1.3")}
    spdy = {line.get("spdy") for line in evidence["server"]["requests"]}
    assert spdy == ({SPOKEN[arm].removeprefix("spdy/")} if SPOKEN[arm].startswith("spdy") else {None})


def test_connections_are_as_many_as_the_arm_says(played: Played) -> None:
    """Two hosts at one address."""

    def connections(arm: str) -> int:
        (measured,) = played.measures(arm)
        return int(measured["connections"])

    assert {arm: connections(arm) for arm in ("h2c", "h2", "spdy2", "spdy31", "spdy31-tls")} == dict.fromkeys(
        ("h2c", "h2", "spdy2", "spdy31", "spdy31-tls"), 1
    )
    assert connections("spdy3") == 2  # one for each origin
    assert connections("closing") >= len(played.requests("closing"))
    assert connections("pipelined") == 2


def test_requests_are_sent_ahead_of_answers(played: Played) -> None:
    (evidence,) = played.evidence("pipelined")
    assert 2 <= max(each["in_flight"] for each in evidence["gateway"]["requests"]) <= 4
    (evidence,) = played.evidence("chromium")
    assert max(each["in_flight"] for each in evidence["gateway"]["requests"]) == 3
    (evidence,) = played.evidence("firefox")
    assert 2 <= max(each["in_flight"] for each in evidence["gateway"]["requests"]) <= 4
    (evidence,) = played.evidence("keepalive")
    assert {each["in_flight"] for each in evidence["gateway"]["requests"]} == {1}


@pytest.mark.parametrize("arm", ["keepalive", "pipelined", "h2c", "h2", "spdy2", "spdy3", "spdy31"])
def test_the_browser_holds_nothing_back_of_any_host(played: Played, arm: str) -> None:
    """What waits does so in the gateway, for the wire that the arm has. Only before a host's first answer the browser
    may not know yet what that speaks."""
    (evidence,) = played.evidence(arm)
    of_other = [each for each in evidence["gateway"]["requests"] if each["url"].startswith(OTHER)]
    assert len(of_other) == OTHER_IMAGES
    at_once = max(
        sum(other["queued_ms"] <= each["queued_ms"] < other["last_byte_ms"] for other in of_other) for each in of_other
    )
    assert at_once > 2 * HELD_BACK


def test_names_are_looked_up_over_the_link(played: Played) -> None:
    (evidence,) = played.evidence("spdy31")
    assert {query["name"] for query in evidence["resolver"]["queries"]} == {PAGE, OTHER}
    assert {each["host"] for each in evidence["gateway"]["dns"]} == {PAGE, OTHER}


def test_a_server_that_does_not_speak_the_protocol_is_found_out(played: Played) -> None:
    assert played.statuses("refused") == ["failed"]
    assert "protocol-fallback" in played.reasons("refused")


def test_the_gateways_log_and_configuration_are_kept(played: Played) -> None:
    query = "SELECT trial, name FROM arms_of_trials WHERE status = 'ok' AND name = 'h2'"
    ((trial, _),) = played.rows(query)
    folder = played.folder / "trials" / f"{trial:06d}"
    lines = [json.loads(line) for line in gzip.decompress((folder / "gateway.jsonl.gz").read_bytes()).splitlines()]
    assert {line["event"] for line in lines} >= {"gateway", "connection", "request", "dns"}
    assert json.loads((folder / "gateway.json").read_text())["wire"]["protocol"] == "h2"


def test_start_lag_and_turnaround_are_measured_natively_and_through_the_gateway(played: Played) -> None:
    both = {"start_lag_ms", "start_lag_6_ms", "turnaround_ms"}
    lags = {"start_lag_ms", "start_lag_6_ms"}
    expected = {"native": both, "keepalive": both, "closing": lags, "pipelined": lags, "h2": lags, "spdy31": lags}
    for arm, names in expected.items():
        (measured,) = played.measures(arm)
        assert both & measured.keys() == names, arm
        assert measured["start_lag_ms"] <= measured["start_lag_6_ms"]
    (native,), (through,) = played.measures("native"), played.measures("keepalive")
    assert native["turnaround_ms"] > 0
    assert through["turnaround_ms"] > 0
    starved = played.rows(
        "SELECT 1 FROM flags JOIN arms_of_trials USING (trial) WHERE arms_of_trials.name = 'keepalive'"
    )
    if not starved:  # on a starved machine the gateway may wait for a processor when it has the next request already
        assert through["turnaround_ms"] < native["turnaround_ms"]


def test_start_lag_and_turnaround_follow_from_what_the_run_stored(played: Played) -> None:
    run = read_run(played.folder)
    for trial in run.ok:
        if trial.cell.arm.name in ("native", "keepalive", "h2"):
            record = read_record(run.folder, trial.number)
            timeline = read_timeline(artifact_path(run.folder, trial.number, "client.pcapng.gz"), ADDRESSES["client"])
            assert record.page_load
            loaded = Loaded(record.requests, record.page_load, timeline, Link.parse(trial.cell.link.settings))
            made = decompose(loaded, one_at_a_time="turnaround_ms" in trial.measures).measures
            lags = {name: made[name] for name in made if "lag" in name or "turnaround" in name}
            assert len(lags) == (2 if trial.cell.arm.name == "h2" else 3)
            assert lags == {name: trial.measures[name] for name in lags}


def test_the_report_says_what_the_gateway_costs(played: Played) -> None:
    assert played.done.returncode == 3, played.done.stderr  # no trial of one arm counts
    assert "keepalive (many, " in played.done.stdout
    assert "the gateway costs" in " ".join(played.done.stdout.split())
    assert "What the gateway costs" in (played.folder / "report.html").read_text()
