"""k6's own examples, as they come with the k6 that lanelab builds, and what they measure.

The site has the hosts that they name. What an example asks of its server besides (an answer that depends on the
request) no archived site can give: such requests fail, and are counted.
"""

import hashlib
import json
import mimetypes
import subprocess
from pathlib import Path

import pytest

from lanelab.driver.base.programs.building.go import LOAD, toolchain
from lanelab.driver.base.programs.building.load_generator import load_generator
from lanelab.driver.site.manifest import Manifest
from lanelab.driver.site.site import SiteObject
from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import Played, play, share_programs

# k6 is built when it is first wanted, which takes more than a minute.
pytestmark = [needs_namespaces, pytest.mark.long]

PAGE = b"<!doctype html><title>a page</title><p class=description>This is a replacement of the service it was.\n"
OBJECTS = {
    "httpbin.org/": PAGE,
    "httpbin.org/cookies": b'{"cookies": {"name": "value1", "name2": "value2"}}\n',
    "httpbin.org/get": b'{"args": {}, "headers": {"X-Test": "abc123"}}\n',
    "quickpizza.grafana.com/": PAGE,
    "quickpizza.grafana.com/pi.php": b"3.14",
    "quickpizza.grafana.com/test.k6.io/": PAGE,
    "quickpizza.grafana.com/test.k6.io/static/css/site.css": b"body { margin: 0 }\n",
    "quickpizza.grafana.com/test.k6.io/static/favicon.ico": b"icon",
    "quickpizza.grafana.com/test.k6.io/static/js/prisms.js": b"'use strict';\n",
}
EXPERIMENT = """\
workload: {{kind: load, script: {script}, {many}, duration: 4s{more}}}
sites: examples
links: {{rtt: 10ms}}
arms: {{arm: {arm}}}
trials: 1
retries: 0
seed: 4
"""
LIMITED = frozenset(
    {"generator-limited"}
)  # a busy machine's generator has late timers: such a trial has all of its numbers
HTTP, H2, SPDY = "{}", '{protocol: h2, tls: "1.3"}', "{protocol: spdy/3.1, tls: '1.2'}"
EXAMPLES = {
    "thresholds": HTTP,
    "thresholds_readme_example": H2,
    "stages": HTTP,
    "http_get": H2,
    "http_batch": SPDY,
    "tagging": HTTP,
    "http_verbs": HTTP,
    "es6sample": HTTP,
    "cookies": HTTP,
}


@pytest.fixture(scope="module")
def examples() -> Path:
    """Their folder: it came along when k6 was built."""
    load_generator()
    go = toolchain()
    argv = [str(go.program), "list", "-m", "-f", "{{.Dir}}", "go.k6.io/k6"]
    found = subprocess.run(argv, cwd=LOAD, env=go.environment(), capture_output=True, text=True, check=True)
    return Path(found.stdout.strip()) / "examples"


def load(
    tmp_path: Path, script: bytes, arm: str, more: str = "", many: str = "users: 2", reasons: frozenset[str] = LIMITED
) -> Played:
    site = tmp_path / "sites" / "examples"
    listed = []
    for address, body in OBJECTS.items():
        host, _, path = address.partition("/")
        file = site / "content" / host / (f"{path}index.html" if address.endswith("/") else path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
        mime = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        listed.append(SiteObject(host, f"/{path}", len(body), mime, hashlib.sha256(body).hexdigest()))
    (site / "site.yaml").write_text(Manifest("Examples", "a test", "httpbin.org/", tuple(listed)).to_yaml())
    (tmp_path / "script.js").write_bytes(script)
    lanelab = LanelabCommand(tmp_path / "build")
    share_programs(lanelab)
    text = EXPERIMENT.format(script="./script.js", arm=arm, many=many, more=more)
    played = play(lanelab, tmp_path, text, env={"LANELAB_SITES": str(site.parent)})
    assert played.reasons("arm") <= reasons, played.done.stderr
    return played


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_as_it_is(examples: Path, tmp_path: Path, name: str) -> None:
    played = load(tmp_path, (examples / f"{name}.js").read_bytes(), EXAMPLES[name])
    (measures,) = played.measures("arm", of_all=True)
    assert measures["requests_per_s"] > 0


def test_metrics_checks_and_groups_of_a_script_become_measures_and_series(examples: Path, tmp_path: Path) -> None:
    measures = load(tmp_path, (examples / "custom_metrics.js").read_bytes(), HTTP)
    (found,) = measures.measures("arm", of_all=True)
    assert found["script.checks{check:status is 200}.rate"] == found["script.my_rate.rate"] == 1
    assert found["script.my_counter.count"] >= 2
    assert found["script.my_trend.min"] <= found["script.my_trend.med"] <= found["script.my_trend.p95"]
    assert found["script.my_gauge.value"] > 0
    assert measures.series("arm").keys() >= {"script.my_trend", "script.my_counter", "script.my_gauge", "script.checks"}


OWN = b"""
import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Trend } from 'k6/metrics';

const took = new Trend('my_ttfb', true);
export const options = {
  vus: 10, duration: '30s',
  thresholds: { my_ttfb: ['p(95)<0.001'] },
  scenarios: {
    a: { executor: 'constant-vus', vus: 3, duration: '9s', exec: 'first' },
    b: { executor: 'constant-vus', vus: 3, duration: '9s', exec: 'second' },
  },
};

export function first() {
  group('first', () => took.add(http.get('https://httpbin.org/').timings.waiting));
}
export function second() {
  check(http.get('http://httpbin.org/'), { 'is SPDY': (r) => r.proto === 'SPDY/3.1' });
  sleep(0.01);
}
export function handleSummary(data) {
  return { 'summary.json': JSON.stringify(data.metrics.my_ttfb.values), stdout: 'done' };
}
"""


def test_options_thresholds_scenarios_and_summary_of_a_script(tmp_path: Path) -> None:
    """Its users and its time are the experiment file's; the rest is its own. A crossed threshold is a result."""
    played = load(tmp_path, OWN, SPDY, more=", thresholds: {latency_95: 60000, requests_per_s: 0.001}")
    (found,) = played.measures("arm", of_all=True)
    assert found["script.my_ttfb.p95_ms"] > 0
    assert found["script.group_duration{group:::first}.med_ms"] > 0
    assert found["script.checks{check:is SPDY}.rate"] == 1
    (evidence,) = played.evidence("arm")
    assert "my_ttfb" in evidence["generator"]["crossed"]
    assert [(each["key"], each["value"] <= each["highest"]) for each in evidence["thresholds"]] == [
        ("latency_95", True),
        ("requests_per_s", False),
    ]
    (folder,) = (played.folder / "trials").iterdir()
    summary = json.loads((folder / "handle-summary.json").read_text())
    assert json.loads(summary["summary.json"])["p(95)"] == pytest.approx(found["script.my_ttfb.p95_ms"], rel=0.5)


SHOP = b"""
import exec from 'k6/execution';
import http from 'k6/http';
import { check, sleep } from 'k6';
import { Counter, Trend } from 'k6/metrics';
import lab from 'k6/x/lab';

const browsed = new Counter('browsed'), bought = new Counter('bought'), beside = new Trend('beside');
export const options = {
  scenarios: {
    browse: { executor: 'constant-vus', vus: 30, duration: '1h', exec: 'browse', env: { HOST: 'httpbin.org' } },
    buy: {
      executor: 'constant-vus', vus: 10, duration: '1h', exec: 'buy',
      env: { HOST: 'quickpizza.grafana.com' }, tags: { kind: 'buyer' },
    },
  },
  thresholds: {
    'http_reqs{scenario:buy}': ['count>2'], 'http_reqs{kind:buyer}': ['count>2'], 'http_reqs{kind:reader}': ['count<1'],
  },
};

function ask(counter, name) {
  lab.page(() => {
    check(http.get(`http://${__ENV.HOST}/`), { fine: (r) => r.status === 200 && exec.scenario.name === name });
  });
  counter.add(1);
  sleep(0.1);
}
export function browse() { ask(browsed, 'browse'); }
export function buy() { ask(bought, 'buy'); }
function aside() {
  beside.add(1);
  check(http.get('http://httpbin.org/'), { fine: () => false });
  sleep(0.2);
}
export { aside as setup, aside as teardown };
"""


@pytest.mark.parametrize(("many", "connections"), [("users: 8", 8), ("arrivals: 40", None)], ids=["users", "arrivals"])
def test_scenarios_share_the_load_and_what_is_beside_it_counts_in_nothing(
    tmp_path: Path, many: str, connections: int | None
) -> None:
    played = load(tmp_path, SHOP, H2, many=many)
    (found,) = played.measures("arm", of_all=True)
    assert found["script.browsed.count"] / found["script.bought.count"] == pytest.approx(3, rel=0.2)
    assert found["script.checks{check:fine}.rate"] == 1
    assert set(played.series("arm")["script.checks"]) == {1}
    assert not [name for name in (*found, *played.series("arm")) if "beside" in name]
    assert played.evidence("arm")[0]["generator"]["crossed"] == ""
    assert found["failed_pages"] == 0
    if connections:
        assert found["connections_opened"] == connections
    else:
        assert found["dropped_arrivals"] == 0
        assert found["pages_per_s"] == pytest.approx(40, rel=0.1)
        assert found["page_ms"] < 100  # and not what it would be if the arrivals of both were one course


@pytest.mark.parametrize(
    ("written", "instead", "many", "reason"),
    [
        (b"exec: 'buy',", b"exec: 'buy', startTime: '2s',", "users: 8", "the scenario 'buy' has a startTime"),
        (b"vus: 10,", b"vus: 1,", "users: 8", "with 8 users, the scenario 'buy' has none: its share is too small"),
        (b"export function buy() {", b"export function buy( {", "users: 8", "script.js: Line 30:36"),
    ],
    ids=["later", "share", "syntax"],
)
def test_a_script_that_cannot_run_is_refused_before_the_first_trial(
    tmp_path: Path, written: bytes, instead: bytes, many: str, reason: str
) -> None:
    assert written in SHOP
    played = load(tmp_path, SHOP.replace(written, instead), HTTP, many=many)
    assert played.statuses("arm") == []
    assert f"k6 cannot run ./script.js: {reason}" in " ".join(played.done.stderr.split())
