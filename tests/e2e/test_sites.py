"""Sites of the user's own: several origins, names that are looked up, pages that are not what their manifest says."""

import hashlib
import json
import shutil
from pathlib import Path

import pyarrow.compute as pc
import pytest

from lanelab import open_run
from lanelab.driver.base.paths import PROJECT
from tests.kit.handles import LanelabCommand

from .runs import Played, play, share_programs

SITES = {"LANELAB_SITES": str(PROJECT / "tests" / "data" / "sites")}
TOLERANT = """\
sites: unfaithful
links: {rtt: 10ms}
defaults: {start: fresh-context}
arms: {one: {}}
trials: 1
retries: 0
"""
ORIGINS = """\
sites: two-origins
links: {rtt: 50ms}
defaults: {start: fresh-context, addresses: per-origin}
arms:
  plain: {}
  plain-resolver: {dns: resolver}
  h2: {protocol: h2, tls: 1.3}
  h2-resolver: {protocol: h2, tls: 1.3, dns: resolver}
trials: 1
"""


@pytest.fixture(scope="module")
def origins(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("origins")
    return play(LanelabCommand(folder / "build"), folder, ORIGINS, env=SITES)


def test_what_is_tolerated_counts(lanelab: LanelabCommand, tmp_path: Path) -> None:
    text = TOLERANT + "tolerances: {missing: 1, extra: 1, outside: 1}\n"
    played = play(lanelab, tmp_path, text, env=SITES)
    assert played.statuses("one") == ["ok"], played.reasons("one")


MISSING = """\
sites: unfaithful
links: {rtt: 10ms}
missing: 404
tolerances: {missing: 1}
arms:
  plain: {}
  resolver: {dns: resolver, addresses: per-origin}
  spdy: {protocol: spdy/3.1, tls: 1.2}
trials: 1
retries: 0
"""


def test_what_a_site_lacks_is_answered_with_404_where_the_experiment_says_so(
    lanelab: LanelabCommand, tmp_path: Path
) -> None:
    """Also what its page names of other hosts, as the published experiments did."""
    share_programs(lanelab)
    played = play(lanelab, tmp_path, MISSING, env=SITES)
    for arm in ("plain", "resolver", "spdy"):
        assert played.statuses(arm) == ["ok"], played.reasons(arm)
        scheme = "https" if arm == "spdy" else "http"
        statuses = {request["url"]: request["status"] for request in played.requests(arm)}
        assert statuses[f"{scheme}://page.test/absent.png"] == 404
        assert statuses[f"{scheme}://elsewhere.test/picture.png"] == 404
        assert statuses[f"{scheme}://page.test/style.css"] == 200


MULTICAST_DNS = "224.0.0.251"  # WebRTC names its own addresses there; no router carries it on
ESCAPING = """<!doctype html>
<link rel="icon" href="data:,">
<link rel="preconnect" href="https://198.51.100.7">
<link rel="dns-prefetch" href="//names.example.com">
<img src="http://198.51.100.7/x.png" alt="">
<script>
fetch('http://198.51.100.8/').catch(() => 0);
new WebSocket('ws://198.51.100.9/');
const peer = new RTCPeerConnection({iceServers: [{urls: 'stun:198.51.100.10:3478'}]});
peer.createDataChannel('x');
peer.createOffer().then((offer) => peer.setLocalDescription(offer));
navigator.sendBeacon('http://198.51.100.11/', 'x');
new Worker(URL.createObjectURL(new Blob(["fetch('http://198.51.100.12/').catch(() => 0)"])));
document.write('<scr' + 'ipt src="//elsewhere.example.com/x.js"></scr' + 'ipt>');
</script>
"""


@pytest.fixture(scope="module")
def intolerant(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A page that is not what its manifest says, and one that tries to get out."""
    folder = tmp_path_factory.mktemp("intolerant")
    shutil.copytree(SITES["LANELAB_SITES"], folder / "sites")
    content = folder / "sites" / "escaping" / "content" / "page.test"
    content.mkdir(parents=True)
    (content / "index.html").write_text(ESCAPING)
    digest = hashlib.sha256(ESCAPING.encode()).hexdigest()
    (content.parents[1] / "site.yaml").write_text(
        "title: A page that wants out\nsource: a test\nentry: page.test/index.html\nobjects:\n"
        f"  - {{host: page.test, path: /index.html, mime: text/html, size: {len(ESCAPING)}, sha256: '{digest}'}}\n"
    )
    text = TOLERANT.replace("unfaithful", "[unfaithful, escaping]") + "capture: {nodes: [client, server]}\n"
    return play(LanelabCommand(folder / "build"), folder, text, env={"LANELAB_SITES": str(folder / "sites")})


def reasons_on(played: Played, site: str) -> set[str]:
    rows = played.rows("SELECT site, reason FROM failures JOIN trials USING (trial) JOIN cells USING (cell)")
    return {reason for name, reason in rows if name == site}


def test_a_page_that_is_not_what_its_manifest_says_fails_by_name(intolerant: Played) -> None:
    assert reasons_on(intolerant, "unfaithful") == {"missing-object", "extra-request", "outside-request"}


def test_scripts_reach_nothing_outside_the_bed(intolerant: Played) -> None:
    """Whatever they try: the capture has addresses of the bed alone, and the trial does not count."""
    assert "outside-request" in reasons_on(intolerant, "escaping")
    (text,) = intolerant.rows("SELECT record FROM trials JOIN cells USING (cell) WHERE site = 'escaping'")[0]
    for packets in json.loads(text)["evidence"]["packets"].values():
        ends = {each["server"] for each in (*packets["by_connection"], *packets["by_udp_flow"])}
        assert ends <= {"10.10.2.2", MULTICAST_DNS}


def test_each_origin_has_its_own_address(origins: Played) -> None:
    assert origins.done.returncode == 0, origins.done.stderr
    for arm in ("plain", "plain-resolver", "h2", "h2-resolver"):
        assert origins.statuses(arm) == ["ok"], origins.reasons(arm)
        addresses = {request["remote"].partition(":")[0] for request in origins.requests(arm)}
        assert addresses == {"10.10.16.1", "10.10.16.2"}


def test_a_look_up_costs_a_round_trip(origins: Played) -> None:
    """On the wire: a busy browser may look up before the clock of its request begins."""
    query = (
        "SELECT trial FROM trials JOIN cells USING (cell) JOIN arms USING (arm) "
        "WHERE json_extract(settings, '$.dns') = 'resolver'"
    )
    rows = origins.rows(query)
    assert len(rows) == 2
    for (number,) in rows:
        asks = open_run(origins.folder).trial(number).packets(filter=pc.field("server_port") == 53)
        at_ms = {up: min(each["at_ms"] for each in asks.to_pylist() if each["up"] == up) for up in (True, False)}
        assert 49.5 < at_ms[False] - at_ms[True] < 2000


def test_names_that_were_looked_up_are_kept(origins: Played) -> None:
    assert [evidence["resolver"] for evidence in origins.evidence("plain")] == [None]
    asked = [
        {query["name"] for query in evidence["resolver"]["queries"]} for evidence in origins.evidence("plain-resolver")
    ]
    assert asked == [{"www.two.test", "img.two.test"}]
