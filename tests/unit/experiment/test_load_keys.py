"""`workload: {kind: load, …}` in experiment files: what it means, and every mistake that it can have."""

import dataclasses
from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.run.loads import scripts_told
from lanelab.driver.trial.load_settings import LoadSettings, Stage
from lanelab.driver.trial.server_load.first_packets import packets_of

SITES = ("dummy",)
RAMP = "users: {from: 1, to: 1000, over: 20min}"


def read(workload: str, source: str = "made.yaml", site: str = "dummy", rest: str = "") -> Experiment:
    text = f"workload: {workload}\nsites: {site}\nlinks: {{rtt: 20ms}}\narms: {{a: {{}}, b: {{mpm: worker}}}}\n{rest}"
    return parse_experiment(text, source, SITES)


def settings(workload: str) -> LoadSettings:
    load = read(workload).cells[0].link.load
    assert load is not None
    return load


def refusal(workload: str, **other: str) -> InputError:
    with pytest.raises(InputError) as raised:
        read(workload, **other)
    return raised.value


def test_a_ramp_is_a_line_from_one_number_of_users_to_another() -> None:
    load = settings(f"{{kind: load, {RAMP}, think: 5s}}")
    assert load.users == (Stage(1, 0), Stage(1000, 1200))
    assert (load.generator, load.script, load.think_s, load.limit_ms) == ("k6", "page", 5, 3000)
    assert load.duration_s == 1200
    assert load.dimensions() == {}


def test_a_steady_number_of_users_is_something_that_cells_can_differ_in() -> None:
    found = read("{kind: load, users: [10, 100], duration: 60s}")
    assert [(cell.link.label, cell.arm.name) for cell in found.cells] == [
        ("20ms, 10 users", "a"),
        ("20ms, 100 users", "a"),
        ("20ms, 10 users", "b"),
        ("20ms, 100 users", "b"),
    ]
    assert found.cells[1].link.to_mapping()["users"] == "100"
    assert len({cell.id for cell in found.cells}) == 4


def test_only_cells_with_the_same_load_are_compared() -> None:
    found = read("{kind: load, generator: wrk, connections: [1, 10]}", site="dummy/a")
    assert all(base.link == arm.link for base, arm in found.pairs.cells)
    assert len(found.pairs.cells) == 2


def test_a_figure_can_be_over_the_load() -> None:
    found = read("{kind: load, generator: ab, connections: [1, 10, 100]}", site="dummy/a")
    assert [(figure.x, figure.y) for figure in found.figures] == [("connections", "requests_per_s")]


def test_a_claim_can_be_about_one_load() -> None:
    claim = "claims: {c: {where: {connections: 10}, change: {of: b, to: a}, expect: lower}}"
    assert read("{kind: load, generator: ab, connections: [1, 10]}", site="dummy/a", rest=claim).claims


def test_stages_follow_each_other() -> None:
    load = settings("{kind: load, arrivals: {stages: [{to: 10, over: 5s}, {to: 10, over: 1min}]}}")
    assert load.arrivals == (Stage(0, 0), Stage(10, 5), Stage(10, 60))
    assert load.open_model


def test_a_trial_may_take_as_long_as_its_load_and_the_timeout_besides() -> None:
    assert read(f"{{kind: load, {RAMP}}}").timeout.seconds == 1260


def test_a_script_of_the_users_own_is_part_of_the_cell(tmp_path: Path) -> None:
    (tmp_path / "users.js").write_text("export default function () {}\n")
    source = str(tmp_path / "made.yaml")
    workload = f"{{kind: load, script: users.js, {RAMP}}}"
    found = read(workload, source=source)
    assert found.cells[0].link.load
    assert found.cells[0].link.load.script_text == "export default function () {}\n"
    (tmp_path / "users.js").write_text("export default function () { return 1 }\n")
    assert read(workload, source=source).cells[0].id != found.cells[0].id


@pytest.mark.parametrize(
    ("text", "told"),
    [("{ startTime: '30s' }", True), ('{ "startTime" : 5 }', True), ("const startTime = Date.now();", False)],
)
def test_a_scenario_that_begins_later_is_told_of_before(text: str, told: bool, tmp_path: Path) -> None:
    (tmp_path / "users.js").write_text(text)
    found = scripts_told(read("{kind: load, script: users.js, users: 1, duration: 1s}", f"{tmp_path}/made.yaml"))
    assert [words.split(":")[0] for words in found] == (["the script users.js says startTime"] if told else [])


def test_settings_are_read_back_as_they_were_written() -> None:
    load = settings(f"{{kind: load, {RAMP}, parameters: {{lines: 3}}, thresholds: {{page_95: 3000}}}}")
    assert load.parameters == (("lines", "3"),)
    assert load.thresholds == (("page_95", 3000.0),)
    assert LoadSettings.from_json(load.to_json()) == load
    assert hash(load) == hash(dataclasses.replace(load))


def test_pages_and_objects_are_not_mixed_up() -> None:
    assert "there is no site 'dummy/a'" in refusal(f"{{kind: load, {RAMP}}}", site="dummy/a").what
    assert read(f"{{kind: load, script: object, {RAMP}}}", site="[dummy, dummy/a]").sites == ("dummy", "dummy/a")


def test_keys_of_page_loads_mean_nothing_here() -> None:
    assert "means nothing with workload: load" in refusal(f"{{kind: load, {RAMP}}}", rest="screenshot: true\n").what


STREAMS = ["push: /x", "connection_window: 65536", "server_max_streams: 9", "priorities: flat"]


@pytest.mark.parametrize("setting", STREAMS)
def test_settings_of_streams_are_verified_in_page_loads_alone(setting: str) -> None:
    rest = f"defaults: {{protocol: h2, tls: '1.3', {setting}}}\n"
    name = setting.partition(":")[0]
    assert refusal(f"{{kind: load, {RAMP}}}", rest=rest).what == f"a: {name} cannot be verified under load"


@pytest.mark.parametrize("setting", ["h3_discovery: alt-svc", "early_data: true"])
def test_how_a_browser_comes_to_http3_means_nothing_under_load(setting: str) -> None:
    arm = f"{{server: caddy, protocol: h3, tls: '1.3', {setting}}}"
    text = f"workload: {{kind: load, {RAMP}}}\nsites: dummy\nlinks: {{rtt: 20ms}}\narms:\n  a: {arm}\n"
    with pytest.raises(InputError) as raised:
        parse_experiment(text, "made.yaml", SITES)
    name = setting.partition(":")[0]
    assert f"arms: a: {name} is a browser's" in str(raised.value)
    assert parse_experiment(text.replace(f", {setting}", ""), "made.yaml", SITES).cells


def test_a_workload_that_is_gone_says_what_to_write() -> None:
    error = refusal("server_load")
    assert "is a part of load now" in str(error)
    assert "generator: spdy-load" in str(error)


def test_the_first_packets_are_enough_for_all_connections_that_begin_at_once() -> None:
    found = read("{kind: load, generator: wrk, connections: [1, 1000]}", site="dummy/a")
    assert [packets_of(case.link.load) for case in found.cells[:2] if case.link.load] == [2008, 10_000]
    assert packets_of(settings(f"{{kind: load, {RAMP}}}")) == 2048
    assert packets_of(settings("{kind: load, users: 100, duration: 60s}")) == 6800
