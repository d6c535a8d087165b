"""k6: what it is told, and what its figures are read as. Every way in which they can be wrong or missing."""

import copy
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import InputError, RecordError
from lanelab.driver.record.evidence.spoken import Datagrams
from lanelab.driver.trial.load_settings import SCRIPTS
from lanelab.driver.trial.server_load.finish import compare_thresholds, measures_of
from lanelab.driver.trial.server_load.first_packets import KEYS
from lanelab.driver.trial.server_load.generator import Output, Results
from lanelab.driver.trial.server_load.generators.k6 import (
    FIGURES,
    LOG,
    MAIN,
    SCENARIOS,
    SCRIPT,
    SETTINGS,
    SOURCES,
    K6Generator,
    files_and_ports_needed,
    most_at_once,
    scenario,
)
from tests.kit.k6_loads import BEGIN, REPORT, k6_settings, k6_target, second, whole, written
from tests.kit.k6_scripts import evaluated

K6 = K6Generator()
HTTP = Arm.parse("HTTP", {})
H3 = Arm.parse("HTTP/3", {"server": "caddy", "protocol": "h3", "tls": "1.3"})


def read(data: bytes | None, status: int | None = 0, log: bytes = b"", **changes: Any) -> Results:
    files = {LOG: log} if data is None else {LOG: log, FIGURES: data}
    return K6.read(k6_target(k6_settings(**changes), HTTP), Output(status, "", "", files))


def test_a_whole_load_is_read() -> None:
    results = read(whole(seconds=[second(1000, users=1, page_ms=5.5), second(3000, users=2)]))
    assert results.report
    assert results.report.to_json() == json.loads(json.dumps(REPORT))
    assert results.began == BEGIN["monotonic_s"]
    assert list(results.series["users"].points) == [(1000, 1), (3000, 2)]
    assert list(results.series["page_ms"].points) == [(1000, 5.5)]  # the second without one stays without one
    assert results.series["page_ms"].unit == "ms"


def test_datagrams_are_told_beside_the_report() -> None:
    assert read(whole()).datagrams is None
    assert read(whole(datagrams={"received": 3, "dropped": 1})).datagrams == Datagrams(3, 1)


@pytest.mark.parametrize("cut", [1, 30, 400])
def test_lines_until_it_was_killed_are_of_use(cut: int) -> None:
    results = read(whole()[:-cut], -9)
    assert not results.report
    assert "status -9" in results.problem
    assert list(results.series["users"].points) == [(1000, 2)]


def test_what_a_script_measures_becomes_measures_and_series() -> None:
    trend = {"name": "my_ttfb", "kind": "trend", "is_time": True, "values": {"med": 5.0, "p95": 9.5}}
    check = {"name": "checks{check:status is 200}", "kind": "rate", "is_time": False, "values": {"rate": 0.5}}
    seconds = [{**second(1000, users=1), "script": {"my_ttfb": 4.5, "checks{check:status is 200}": 1}}]
    results = read(whole({**REPORT, "script": [trend, check]}, seconds))
    assert results.report
    measures = measures_of(results.report)
    assert measures["script.my_ttfb.p95_ms"] == 9.5
    assert measures["script.checks{check:status is 200}.rate"] == 0.5
    assert results.series["script.my_ttfb"].unit == "ms"
    assert list(results.series["script.checks{check:status is 200}"].points) == [(1000, 1)]


def test_thresholds_are_compared_in_the_units_of_their_metrics() -> None:
    settings = k6_settings(thresholds=[["latency_95", 100], ["bytes_per_s", 2], ["page_95", 3000]])
    found = compare_thresholds(settings, {"latency_95_ms": 99.0, "bytes_per_s": 2.5e6})
    assert [(one.key, one.value, one.is_met) for one in found] == [
        ("latency_95", 99.0, True),
        ("bytes_per_s", 2.5, False),
        ("page_95", None, False),  # a number that is not there meets nothing
    ]


def test_what_never_began_says_why_in_its_log() -> None:
    results = read(None, 107, b'level=error msg="the settings of the load are not whole"')
    assert not results.series
    assert "not whole" in results.problem


@pytest.mark.parametrize(("status", "counts"), [(0, True), (99, True), (None, True), (107, False), (-9, False)])
def test_the_status_has_to_suit_the_report(status: int | None, counts: bool) -> None:
    results = read(whole(), status)
    assert (results.report is not None) == counts
    assert bool(results.problem) != counts


def test_a_stopped_load_says_so_itself() -> None:
    results = read(whole({**REPORT, "stopped": "interrupt"}), 105)
    assert results.report
    assert results.report.stopped == "interrupt"


def test_a_load_that_is_too_short_was_stopped() -> None:
    results = read(whole(), users=[[2, 0], [2, 60]])
    assert results.report
    assert "10.0 s of 60" in results.report.stopped


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (written(BEGIN, BEGIN), "line 2 is a second beginning"),
        (written(second(1000, users=1)), "line 1 is not in order"),
        (written(BEGIN, second(2000, users=1), second(1000, users=1)), "line 3 is not in order"),
        (written(BEGIN, second(1000, userz=1)), "'userz'"),
        (written(BEGIN, {"kind": "secnd"}), "no kind"),
        (written(BEGIN, {**second(1000), "more": 1}), "more is unknown"),
        (written(BEGIN, second(1000, users=1), {"kind": "report"}), "report is missing"),
        (whole() + written(second(9000, users=1)), "line 4 comes after the report"),
        (written({"kind": "report", "report": REPORT, "datagrams": None}), "no beginning"),
        (written(BEGIN, {"kind": "report", "report": REPORT}), "datagrams is missing"),
        (whole(datagrams={"received": 3}), "dropped is missing"),
        (b"{\n" + whole(), "line 1 is no JSON"),
        (b"[]\n" + whole(), "line 1 is of no kind"),
        (b'{"kind": []}\n', "line 1 is of no kind"),
        (b"\xff\xfe\n", "line 1 is no JSON"),
    ],
)
def test_false_figures_are_refused(lines: bytes, words: str) -> None:
    with pytest.raises(RecordError, match=words):
        read(lines)


def paths(value: object, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every key of a report whose absence is a fault: those of mappings by name are not."""
    found = []
    for key, one in value.items() if isinstance(value, dict) else ():
        if before[-1:] not in (("statuses",), ("errors",), ("parts_ms",)):
            found.append((*before, key))
        found += paths(one, (*before, key))
    return found


@pytest.mark.parametrize("path", paths(REPORT), ids=".".join)
def test_each_piece_of_the_report_must_be_there_and_of_its_kind(path: tuple[str, ...]) -> None:
    for change in ("remove", "falsify"):
        report: Any = copy.deepcopy(REPORT)
        place = report
        for key in path[:-1]:
            place = place[key]
        if change == "remove":
            del place[path[-1]]
        else:
            place[path[-1]] = [[None]]
        with pytest.raises(RecordError, match=path[-1]):
            read(whole(report))


def test_stages_are_as_the_experiment_file_has_them() -> None:
    ramp: Any = scenario(k6_settings(users=[[1, 0], [1000, 1200], [1000, 60]]))
    assert (ramp["executor"], ramp["startVUs"], ramp["gracefulStop"]) == ("ramping-vus", 1, "0s")
    assert ramp["stages"] == [{"target": 1000, "duration": "1200000ms"}, {"target": 1000, "duration": "60000ms"}]
    arrivals: Any = scenario(k6_settings(users=[], arrivals=[[0.5, 0], [2, 10]]))
    assert (arrivals["startRate"], arrivals["timeUnit"], arrivals["stages"][0]["target"]) == (50, "100s", 200)


def test_the_open_model_has_users_enough_for_slow_pages() -> None:
    assert most_at_once(k6_settings(users=[], arrivals=[[1, 0], [20, 10]], limit_ms=5000)) == 400
    assert most_at_once(k6_settings(users=[], arrivals=[[500, 0], [500, 10]])) == 2000
    assert most_at_once(k6_settings(users=[], arrivals=[[1, 0], [9, 5]], parameters=[["most_users", "7"]])) == 7


@pytest.mark.parametrize(
    ("protocol", "connections"), [("http/1.1", 6000), ("spdy/3.1", 1000), ("h2", 1000), ("h3", 1000)]
)
def test_files_and_ports(protocol: str, connections: int) -> None:
    settings = k6_settings(users=[[1, 0], [1000, 60]])
    arm = H3 if protocol == "h3" else Arm.parse("arm", {"protocol": protocol, "tls": "1.3"})
    files, ports = files_and_ports_needed(settings, arm)
    assert ports == connections
    assert files > connections


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"users": [[1.5, 0], [2, 10]]}, "whole users"),
        ({"parameters": [["connections", "many"]]}, "'many'"),
        ({"parameters": [["requests_wait_for", "luck"]]}, "'luck'"),
        ({"parameters": [["most_users", "0"]]}, "'0'"),
        ({"parameters": [["most_users", "x"]]}, "'x'"),
    ],
)
def test_what_it_cannot_do_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        K6.check(k6_settings(**changes), HTTP)


def test_every_protocol_of_servers_is_spoken() -> None:
    arms = [Arm.parse("arm", {"protocol": name, "tls": "1.3"}) for name in ("http/1.1", "h2", "spdy/3", "spdy/2")]
    for arm in (*arms, H3):
        K6.check(k6_settings(), arm)


def test_what_requests_wait_for_is_a_question_to_http_1_1_alone() -> None:
    settings = k6_settings(parameters=[["requests_wait_for", "tcp"]])
    K6.check(settings, HTTP)
    with pytest.raises(InputError, match=r"is of HTTP/1\.1 with TLS"):
        K6.check(settings, H3)


def test_requests_wait_for_a_handshake_unless_the_load_says_otherwise() -> None:
    for parameters, for_tcp in (([], False), ([["requests_wait_for", "tcp"]], True)):
        made = K6.invocation(k6_target(k6_settings(parameters=parameters), HTTP))
        assert json.loads(made.files[SETTINGS])["wait_for_tcp"] is for_tcp


def test_the_secrets_of_quic_are_logged_for_the_capture() -> None:
    made = K6.invocation(k6_target(k6_settings(), H3))
    assert json.loads(made.files[SETTINGS])["key_log"] == KEYS
    assert KEYS in K6.results
    assert json.loads(K6.invocation(k6_target(k6_settings(), HTTP)).files[SETTINGS])["key_log"] == ""


def test_sizes_are_compared_where_they_are_known() -> None:
    told = json.loads(K6.invocation(k6_target(k6_settings(), HTTP)).files[SETTINGS])
    assert told["sizes"] == {"http://www.site.test/index.html": 1000, "http://www.site.test/a.png": 2000}
    packed = Arm.parse("arm", {"compression": "gzip"})
    told = json.loads(K6.invocation(k6_target(k6_settings(), packed)).files[SETTINGS])
    assert (told["sizes"], told["headers"]) == ({}, {"Accept-Encoding": "gzip"})


@pytest.mark.parametrize(
    ("changes", "fresh"),
    [
        ({}, False),
        ({"users": [], "arrivals": [[1, 0], [1, 5]]}, True),
        ({"users": [], "arrivals": [[1, 0], [1, 5]], "parameters": [["connections", "kept"]]}, False),
        ({"users": [], "arrivals": [[1, 0], [1, 5]], "script": "object"}, False),
        ({"parameters": [["connections", "fresh"]]}, True),
    ],
)
def test_arrivals_are_visitors_with_connections_of_their_own(changes: dict[str, Any], fresh: bool) -> None:
    told = json.loads(K6.invocation(k6_target(k6_settings(**changes), HTTP)).files[SETTINGS])
    assert told["fresh"] is fresh


@pytest.mark.parametrize("name", SCRIPTS)
def test_each_script_of_lanelabs_is_there_and_is_javascript(name: str, tmp_path: Path) -> None:
    files = K6.invocation(k6_target(k6_settings(script=name), HTTP)).files
    assert files[SCRIPT] == (SOURCES / f"{name}.js").read_bytes()
    node = shutil.which("node")
    if not node:
        pytest.skip("there is no node here")
    for file in (MAIN, SCRIPT, SCENARIOS):
        path = tmp_path / file.replace(".js", ".mjs")
        path.write_bytes(files[file])
        subprocess.run([node, "--check", str(path)], check=True)


@pytest.mark.parametrize(("error", "batches"), [(0, 1), (1050, 0), (1404, 0)])
def test_objects_are_asked_for_where_the_page_came(error: int, batches: int, tmp_path: Path) -> None:
    """A browser learns of them from the page. 1050 is a time-out, 1404 a status."""
    node = shutil.which("node")
    if not node:
        pytest.skip("there is no node here")
    stand_ins = {
        "k6/http": "export const asked = { get: 0, batch: 0 };\n"
        f"const got = {{ error_code: {error} }};\n"
        "export default { get() { asked.get++; return got; }, batch() { asked.batch++; } };",
        "k6": "export function sleep() {}",
        "k6/x/lab": "export default { urls: ['page', 'object'], headers: {}, thinkSeconds: 0, page(act) { act(); } };",
    }
    script = (SOURCES / "page.js").read_text()
    for number, (name, text) in enumerate(stand_ins.items()):
        (tmp_path / f"{number}.mjs").write_text(text)
        script = script.replace(f"from '{name}'", f"from './{number}.mjs'")
    (tmp_path / "page.mjs").write_text(script)
    show = "import { asked } from './0.mjs';\nimport load from './page.mjs';\n"
    (tmp_path / "show.mjs").write_text(f"{show}load();\nconsole.log(JSON.stringify(asked));\n")
    done = subprocess.run([node, str(tmp_path / "show.mjs")], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"get": 1, "batch": batches}


def test_a_users_script_is_taken_as_it_is() -> None:
    made = K6.invocation(k6_target(k6_settings(script="users.js"), HTTP, script=b"// mine\n"))
    assert made.files[SCRIPT] == b"// mine\n"
    assert "--no-thresholds" not in made.argv


@pytest.mark.parametrize(
    "own", ["vus: 2, duration: '3s'", "stages: [{duration: '5s', target: 3}]", "vus: 1, iterations: 3"]
)
def test_a_scripts_own_users_and_time_give_way(own: str, tmp_path: Path) -> None:
    """k6 refuses options that say both."""
    script = f"export const options = {{ {own}, maxRedirects: 3 }};\nexport default function () {{}}\n"
    options = evaluated(script, tmp_path, "main.options")
    assert options["scenarios"].keys() == {"load"}
    assert options["maxRedirects"] == 3
    assert not {"vus", "duration", "stages", "iterations"} & options.keys()


def test_a_scripts_own_tags_have_the_scenario_too(tmp_path: Path) -> None:
    """Dropped arrivals are told apart by it."""
    script = "export const options = { systemTags: ['url'] };\nexport default function () {}\n"
    assert evaluated(script, tmp_path, "main.options.systemTags") == ["url", "scenario"]


def test_what_a_summary_writes_is_kept_in_one_file(tmp_path: Path) -> None:
    script = "export default function () {}\nexport const handleSummary = (data) => ({ 'a/b.json': String(data) });\n"
    made = evaluated(script, tmp_path, "main.handleSummary(7)")
    assert {name: json.loads(text) for name, text in made.items()} == {"handle-summary.json": {"a/b.json": "7"}}
    assert evaluated("export default function () {}\n", tmp_path, "main.handleSummary(7)") == {}
