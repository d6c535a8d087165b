"""`workload: fetch` in experiment files: what it means, and what a fetch cannot have, by file, line and key."""

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import parse_experiment, read_experiment
from lanelab.driver.trial.fetch.settings import FetchSettings

USUAL = "sites: dummy\nlinks: {rtt: 20ms}\n"
ARMS = "arms:\n  a: {}\n  b: {protocol: h2, tls: 1.3}\n"


def read(workload: str = "fetch", arms: str = ARMS, rest: str = "", usual: str = USUAL) -> Experiment:
    return parse_experiment(f"workload: {workload}\n{usual}{arms}{rest}", "made.yaml", ["dummy"])


def refusal(*args: str, **other: str) -> str:
    with pytest.raises(InputError) as raised:
        read(*args, **other)
    return str(raised.value)


def test_a_fetch_asks_for_all_in_series_over_fresh_connections() -> None:
    found = read()
    assert found.workload == "fetch"
    assert [cell.fetch for cell in found.cells] == [FetchSettings(("*",), 1, warm=False)] * 2
    assert found.fetches
    assert [figure.y for figure in found.figures] == ["fetch"]
    assert set(found.recorders) == {"capture", "machine"}


def test_its_keys() -> None:
    found = read('{kind: fetch, objects: ["/img/*", "*.css"], at_once: 6, warm: true}')
    assert found.cells[0].fetch == FetchSettings(("/img/*", "*.css"), 6, warm=True)
    assert read("{kind: fetch, objects: '*.css'}").cells[0].fetch == FetchSettings(("*.css",), 1, warm=False)


def test_cells_that_fetch_otherwise_are_other_cells() -> None:
    ids = {read(each).cells[0].id for each in ("fetch", "{kind: fetch, at_once: 2}", "{kind: fetch, warm: true}")}
    assert len(ids | {read("page_load").cells[0].id}) == 4


@pytest.mark.parametrize("text", ["page_load", "{kind: load, generator: wrk}"])
def test_other_workloads_have_no_fetch(text: str) -> None:
    assert read(text, usual="sites: dummy\nlinks: {path: direct}\n" if "load," in text else USUAL).fetches is False


def test_claims_and_figures_may_be_about_its_metrics() -> None:
    claims = (
        "claims:\n"
        "  c: {change: {of: b, to: a, metric: object_ttfb}, expect: higher}\n"
        "  d: {change: {of: b, to: a}, expect: higher}\n"
    )
    found = read(rest=claims + "figures: [{x: arm, y: object}]\n")
    assert [claim.metric for claim in found.claims] == ["object_ttfb_ms", "fetch_ms"]


@pytest.mark.parametrize(
    ("workload", "place", "words"),
    [
        ("{kind: fetch, users: 3}", "made.yaml:1: workload.users", "means nothing with kind: fetch"),
        ("{kind: load, generator: wrk, at_once: 3}", "made.yaml:1: workload.at_once", "kind: load"),
        ("{warm: true}", "made.yaml:1: workload.warm", "means nothing with kind: page_load"),
        ("{kind: fetch, at_once: 0}", "made.yaml:1: workload.at_once", "1 to 1000"),
        ("{kind: fetch, at_once: 1001}", "made.yaml:1: workload.at_once", "1 to 1000"),
        ("{kind: fetch, warm: maybe}", "made.yaml:1: workload.warm", "true or false"),
        ("{kind: fetch, objects: []}", "made.yaml:1: workload.objects", "empty"),
        ('{kind: fetch, objects: ["a b"]}', "made.yaml:1: workload.objects[0]", "no pattern"),
        ("{kind: fetch, objects: ['*', '*']}", "made.yaml:1: workload.objects[1]", "twice"),
        ("fetsh", "made.yaml:1: workload", "fetch"),
    ],
)
def test_a_mistake_in_its_keys_is_told_with_its_place(workload: str, place: str, words: str) -> None:
    said = refusal(workload)
    assert place in said
    assert words in said


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("browser: firefox", "no browser and no page"),
        ("start: warm", "no browser and no page"),
        ("device: pixel", "no browser and no page"),
        ("viewport: 800x600", "no browser and no page"),
        ("user_agent: Mozilla/5.0", "no browser and no page"),
        ("cpu_slowdown: 4", "no browser and no page"),
        ("browser_flags: [--x]", "no browser and no page"),
        ("minify: core", "no browser and no page"),
        ("push: critical", "no browser and no page"),
        ("via: gateway", "nothing stands between"),
        ("block: [x.test]", "no browser and no page"),
        ("compression: gzip", "no SHA-256 that is known"),
        ("schemes: recorded", "no browser and no page"),
    ],
)
def test_what_a_fetch_does_not_follow_is_refused_by_name(setting: str, words: str) -> None:
    name = setting.partition(":")[0]
    arms = f"arms:\n  a: {{}}\n  b:\n    protocol: h2\n    tls: 1.3\n    {setting}\n"
    said = refusal(arms=arms)
    assert f"made.yaml:9: arms.b.{name}" in said
    assert words in said


ONE_PRIORITY, NONE_AHEAD = "all requests of a fetch have one priority", "none is asked for ahead of an answer"


@pytest.mark.parametrize(
    ("settings", "at_once", "words"),
    [
        ("protocol: spdy/3.1, priorities: flat", "6", ONE_PRIORITY),
        ("protocol: spdy/2, priorities: flat", "1", ONE_PRIORITY),
        ("protocol: spdy/3.1, scheduling: round-robin", "6", ONE_PRIORITY),
        ("protocol: spdy/3.1, scheduling: fifo", "1", "nothing to choose from"),
        ("pipelining: 4", "1", NONE_AHEAD),
        ("pipelining: 4", "6", NONE_AHEAD),
        ("pipelining: 4, connections_per_host: 2", "[1, 2]", NONE_AHEAD),
        ("pipelining: 4, pipelining_policy: firefox", "1", NONE_AHEAD),
    ],
)
def test_what_makes_no_fetch_another_one_is_refused_by_name(settings: str, at_once: str, words: str) -> None:
    names = [each.partition(":")[0] for each in settings.split(", ")]
    lines = "".join(f"    {each}\n" for each in settings.split(", "))
    said = refusal(f"{{kind: fetch, at_once: {at_once}}}", arms=f"arms:\n  a: {{}}\n  b:\n{lines}")
    name = next(each for each in ("priorities", "scheduling", "pipelining") if each in names)
    assert f"made.yaml:{7 + names.index(name)}: arms.b.{name}" in said
    assert words in said


@pytest.mark.parametrize(
    ("settings", "at_once"),
    [
        ("protocol: h2, priorities: flat", "1"),  # a server answers equal requests side by side, and not in their order
        ("protocol: h2, priorities: none", "6"),
        ("protocol: spdy/3.1, scheduling: fifo", "2"),
        ("pipelining: 4, connections_per_host: 2", "3"),
        ("pipelining: 4, connections_per_host: 2", "[1, 6]"),
        ("pipelining: 4, pipelining_policy: firefox", "2"),
        ("pipelining: 4, pipelining_policy: chromium", "6"),
    ],
)
def test_what_makes_some_fetch_another_one_is_followed(settings: str, at_once: str) -> None:
    found = read(f"{{kind: fetch, at_once: {at_once}}}", arms=f"arms:\n  a: {{}}\n  b: {{{settings}}}\n")
    assert {cell.arm.name for cell in found.cells} == {"a", "b"}


def test_what_changes_nothing_in_one_arm_may_be_in_defaults_for_another() -> None:
    spdy = "  b: {protocol: spdy/3.1}\n"
    assert read(arms=f"defaults: {{priorities: flat}}\narms:\n  a: {{protocol: h2}}\n{spdy}").cells
    said = refusal(arms=f"defaults: {{priorities: flat}}\narms:\n  a: {{}}\n{spdy}")
    assert "made.yaml:4: defaults.priorities" in said


def test_http3_may_be_spoken_and_how_a_browser_comes_to_it_is_refused() -> None:
    arms = "defaults: {server: caddy}\narms:\n  a: {}\n  c: {protocol: h3, tls: 1.3}\n"
    assert [arm.protocol for arm in read(arms=arms).arms] == ["http/1.1", "h3"]
    for setting in ("early_data: true", "h3_discovery: alt-svc"):
        said = refusal(arms=arms.replace("tls: 1.3}", f"tls: 1.3, {setting}}}"))
        assert f"made.yaml:7: arms.c.{setting.partition(':')[0]}" in said
        assert "no browser and no page" in said
    said = refusal(arms=arms.replace("tls: 1.3}", "tls: 1.2}"))
    assert "HTTP/3 has TLS 1.3 in it" in said


def test_what_is_refused_may_stand_in_defaults() -> None:
    said = refusal(arms=f"defaults: {{start: warm}}\n{ARMS}")
    assert "made.yaml:4: defaults.start" in said


def test_a_proxy_is_refused() -> None:
    said = refusal(arms="arms:\n  a: {}\n  b: {proxy: haproxy}\n")
    assert "proxy" in said


@pytest.mark.parametrize(
    ("rest", "key"),
    [
        ("missing: 404\n", "missing"),
        ("tolerances: {missing: 1}\n", "tolerances"),
        ("netlog: true\n", "netlog"),
        ("screenshot: true\n", "screenshot"),
        ("vitals: true\n", "vitals"),
        ("trace: true\n", "trace"),
        ("server_series: true\n", "server_series"),
        ("pages: [a, b]\n", "pages"),
    ],
)
def test_keys_of_other_workloads_are_refused_by_name(rest: str, key: str) -> None:
    said = refusal(rest=rest)
    assert f"made.yaml:7: {key}" in said


@pytest.mark.parametrize(
    ("link", "words"),
    [("{path: direct}", "need a router"), ("{rate: {trace: cellular}}", ""), ("{rtt: 20ms, loss: 1%}", None)],
)
def test_links_without_a_router_and_those_that_move_are_refused(link: str, words: str | None) -> None:
    usual = f"sites: dummy\nlinks: {link}\n"
    if words is None:
        assert read(usual=usual).links
    else:
        assert words in refusal(usual=usual)


def test_no_connection_is_warm_that_carries_one_object() -> None:
    said = refusal("{kind: fetch, warm: true}", arms="arms:\n  a: {}\n  b: {keepalive: off}\n")
    assert "made.yaml:1: workload.warm" in said
    assert "'b'" in said


def test_several_numbers_at_once_are_a_grid() -> None:
    found = read("{kind: fetch, at_once: [1, 6]}")
    assert [(cell.link.label, cell.arm.name) for cell in found.cells] == [
        ("20ms, 1 at once", "a"),
        ("20ms, 6 at once", "a"),
        ("20ms, 1 at once", "b"),
        ("20ms, 6 at once", "b"),
    ]
    assert all(base.link == arm.link for base, arm in found.pairs.cells)
    figures = read("{kind: fetch, at_once: [1, 2, 6]}").figures
    assert [(figure.x, figure.y) for figure in figures] == [("at_once", "fetch")]
    claim = "claims: {c: {where: {at_once: 6}, change: {of: b, to: a}, expect: lower}}\n"
    assert read("{kind: fetch, at_once: [1, 6]}", rest=claim).claims
    assert "twice" in refusal("{kind: fetch, at_once: [1, 1]}")


def test_the_example_has_all_protocols_and_compares_arms_of_one_server() -> None:
    example = read_experiment(PROJECT / "experiments" / "fetch.yaml")
    assert {arm.protocol for arm in example.arms} == {"http/1.1", "h2", "spdy/3.1", "h3"}
    assert len(example.cells) == 6 * 3
    compared = {(arm.arm.name, base.arm.name) for base, arm in example.pairs.cells}
    assert ("HTTP/3", "HTTP/2 from Caddy") in compared
    assert all(base.arm.server == arm.arm.server for base, arm in example.pairs.cells)
