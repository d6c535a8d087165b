"""Hosts with servers of their own: what arms say, what it means for a site, and what is refused."""

import json

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.groups import groups, require_third_parties
from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.read import parse_experiment
from tests.kit.server_arms import made

SITE = made(
    ("www.site.test", "/", "text/html"),
    ("a.ads.test", "/a.js", "text/javascript"),
    ("cdn.test", "/c.css", "text/css"),
    ("b.ads.test", "/b.png", "image/png"),
)
ADS = {"server": "nginx", "protocol": "http/1.1"}
SHARED: dict[str, object] = {"protocol": "h2", "tls": "1.3", "addresses": "per-origin"}


def arm(origins: object, **settings: object) -> Arm:
    return Arm.parse("a", {**SHARED, "origins": origins, **settings})


def test_each_group_has_its_hosts_server_and_protocol() -> None:
    own, ads, cdn = groups(arm({"*.ads.test": ADS, "cdn.test": {"server": "caddy"}}), SITE)
    assert [each.site.hosts for each in (own, ads, cdn)] == [
        ("www.site.test",),
        ("a.ads.test", "b.ads.test"),
        ("cdn.test",),
    ]
    assert [(each.arm.server, each.arm.protocol) for each in (own, ads, cdn)] == [
        ("apache", "h2"),
        ("nginx", "http/1.1"),
        ("caddy", "h2"),
    ]
    assert {each.arm.tls for each in (own, ads, cdn)} == {"1.3"}
    assert [each.pattern for each in (own, ads, cdn)] == ["", "*.ads.test", "cdn.test"]


def test_without_any_there_is_one_group() -> None:
    one = Arm.parse("a", {})
    assert [(each.arm, each.site) for each in groups(one, SITE)] == [(one, SITE)]


def test_settings_of_the_page_are_not_those_of_other_servers() -> None:
    settings = {"server_directives": "H2Push off", "keepalive_requests": "50", "mpm": "worker"}
    _, ads = groups(arm({"*.ads.test": ADS}, **settings), SITE)
    assert ads.arm.server_directives == ()
    assert ads.arm.keepalive_requests == 50


def test_they_read_back() -> None:
    one = arm({"*.ads.test": ADS, "cdn.test": {"protocol": "http/1.1"}})
    assert one.settings()["origins"] == {"*.ads.test": ADS, "cdn.test": {"protocol": "http/1.1"}}
    assert Arm.parse("a", json.loads(json.dumps(one.settings()))) == one


@pytest.mark.parametrize(
    ("protocol", "other"), [("spdy/3.1", ADS), ("h2", {"protocol": "spdy/3"}), ("http/1.1", {"protocol": "spdy/2"})]
)
def test_where_one_host_needs_the_gateway_it_is_for_all(protocol: str, other: dict[str, str]) -> None:
    one = arm({"cdn.test": other}, protocol=protocol)
    assert one.via == "gateway"
    assert {each.arm.via for each in groups(one, SITE)} == {"gateway"}
    assert Arm.parse("a", json.loads(json.dumps(one.settings()))) == one


def test_without_need_there_is_no_gateway_unless_it_is_asked_for() -> None:
    assert arm({"cdn.test": ADS}).via == "browser"
    assert {each.arm.via for each in groups(arm({"cdn.test": ADS}, via="gateway"), SITE)} == {"gateway"}


def test_the_gateway_offers_each_host_its_own_protocol() -> None:
    """So a server that takes HTTP/2 from whoever offers it may speak HTTP/1.1 beside HTTP/2."""
    old = {"server": "h2o", "protocol": "http/1.1"}
    own, other = groups(arm({"cdn.test": old}, via="gateway"), SITE)
    assert (own.arm.protocol, other.arm.protocol) == ("h2", "http/1.1")


PIPELINED = {"protocol": "spdy/3.1", "pipelining": "4", "pipelining_policy": "firefox", "connections_per_host": "2"}


def test_what_means_something_to_other_hosts_alone_is_theirs() -> None:
    one = arm({"cdn.test": ADS}, **PIPELINED)
    own, other = groups(one, SITE)
    assert (own.arm.pipelining, own.arm.pipelining_policy, own.arm.connections_per_host) == (1, "eager", 6)
    assert (other.arm.pipelining, other.arm.pipelining_policy, other.arm.connections_per_host) == (4, "firefox", 2)
    assert Arm.parse("a", json.loads(json.dumps(one.settings()))) == one
    assert Arm.parse("a", one.changed()) == one


def test_so_it_is_where_the_page_is_the_one_by_http_1() -> None:
    spdy: dict[str, object] = {"protocol": "http/1.1", "stream_window": "65536", "spdy_header_compression": "0"}
    own, other = groups(arm({"cdn.test": {"protocol": "spdy/3.1"}}, **spdy), SITE)
    assert (own.arm.stream_window, own.arm.spdy_header_compression) == (6291456, 9)
    assert (other.arm.stream_window, other.arm.spdy_header_compression) == (65536, 0)


def test_defaults_reach_the_hosts_that_they_mean_something_to() -> None:
    written = {"protocol": "spdy/3.1", "origins": {"cdn.test": ADS}}
    one = Arm.parse(
        "a", written, {"tls": "1.3", "addresses": "per-origin", "pipelining": "4", "keepalive_requests": "7"}
    )
    own, other = groups(one, SITE)
    assert (own.arm.pipelining, other.arm.pipelining, other.arm.keepalive_requests) == (1, 4, 7)
    assert Arm.parse("a", {"protocol": "spdy/3.1"}, {"pipelining": "4"}).pipelining == 1


def test_what_means_nothing_to_any_host_is_refused() -> None:
    with pytest.raises(InputError, match=r"^pipelining: it means nothing with protocol: spdy/3\.1"):
        arm({"cdn.test": {"server": "nginx", "protocol": "h2"}}, protocol="spdy/3.1", pipelining="4")
    with pytest.raises(InputError, match=r"^push: it means nothing with protocol: http/1\.1"):
        arm({"cdn.test": {"protocol": "h2"}}, protocol="http/1.1", push="critical")


def test_only_the_page_is_pushed_with() -> None:
    own, other = groups(arm({"cdn.test": {"server": "nginx"}}, push="critical"), SITE)
    assert (own.arm.push, other.arm.push) == ("critical", "off")


@pytest.mark.parametrize(
    ("origins", "settings", "says"),
    [
        ("nginx", {}, "what servers hosts have"),
        ({"cdn.test": {}}, {}, "cdn.test has no server and no protocol"),
        ({"cdn.test": "nginx"}, {}, "cdn.test has no server and no protocol"),
        ({"cdn.test": {"server": "ngin"}}, {}, "cdn.test: server: 'ngin' is not one of them. Did you mean nginx"),
        ({"cdn.test": {"sever": "nginx"}}, {}, "no sever. Did you mean server"),
        ({"cdn.test": {"tls": "1.2"}}, {}, "no tls"),
        ({"cdn.test/a": ADS}, {}, "cdn.test/a is an address"),
        ({"CDN.test": ADS, "cdn.test": ADS}, {}, "there twice"),
        ({"cdn.test": {"server": "webfs"}}, {}, "cdn.test: protocol: webfs does not speak h2"),
        ({"cdn.test": {"protocol": "spdy/3.1"}}, {"via": "browser"}, "no browser of today speaks spdy/3.1"),
        ({"cdn.test": {"server": "caddy", "protocol": "h3"}}, {}, "browsers are told of HTTP/3 by the arm"),
        ({"cdn.test": {"server": "h2o", "protocol": "http/1.1"}}, {}, "h2o takes it where it is to speak HTTP/1.1"),
        ({"cdn.test": ADS}, {"addresses": "shared"}, "all hosts share one"),
        ({"cdn.test": ADS}, {"addresses": "shared", "protocol": "spdy/3.1"}, "all hosts share one"),
        (
            {"cdn.test": {"server": "caddy", "protocol": "h3"}},
            {"protocol": "spdy/3.1"},
            "cdn.test: protocol: the gateway does not speak HTTP/3",
        ),
        (
            {"cdn.test": {"server": "nginx"}},
            {"protocol": "spdy/3.1"},
            "cdn.test: protocol: nginx does not speak spdy/3.1",
        ),
        (
            {"cdn.test": ADS},
            {"server": "caddy", "protocol": "h3", "h3_discovery": "https-record", "dns": "resolver"},
            "the resolver says the same of all hosts",
        ),
        ({"cdn.test": {"server": "webfs"}}, {"protocol": "http/1.1", "tls": "off"}, "names no ports"),
    ],
)
def test_what_no_arm_can_have(origins: object, settings: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=r"^origins: ") as refused:
        arm(origins, **settings)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("origins", "says"),
    [
        ({"cnd.test": ADS}, "site has no host like cnd.test. Did you mean cdn.test?"),
        ({"*.ads.test": ADS, "a.*": ADS}, "a.ads.test is meant by *.ads.test and by a.*"),
        ({"*.test": ADS}, "*.test means www.site.test, from which the page of site comes"),
    ],
)
def test_what_a_site_cannot_have(origins: object, says: str) -> None:
    with pytest.raises(InputError) as refused:
        require_third_parties(arm(origins), SITE)
    assert refused.value.key == "origins"
    assert says in str(refused.value)


def test_a_file_has_its_line_and_key() -> None:
    text = """\
sites: dummy
links: {rtt: 20ms}
arms:
  a:
    addresses: per-origin
    origins: {cdn.test: {server: ngin}}
"""
    with pytest.raises(InputError, match=r"^x\.yaml:6: arms\.a\.origins: cdn\.test: server: 'ngin'"):
        parse_experiment(text, "x.yaml", ["dummy"])


@pytest.mark.parametrize("server", ["tomcat", "jetty"])
def test_servers_of_loads_are_refused(server: str) -> None:
    arms = f"{{a: {{addresses: per-origin, origins: {{x.test: {{server: {server}}}}}}}}}"
    text = f"sites: dummy\nlinks: {{rtt: 20ms}}\narms: {arms}\n"
    with pytest.raises(InputError, match=r"page loads with \w+ cannot be judged"):
        parse_experiment(text, "x.yaml", ["dummy"])


def test_loads_have_none() -> None:
    text = "workload: {kind: load, users: 1, duration: 5s}\nsites: dummy\nlinks: {rtt: 20ms}\n"
    text += "arms: {a: {addresses: per-origin, origins: {x.test: {server: nginx}}}}\n"
    with pytest.raises(InputError, match="origins cannot be verified under load"):
        parse_experiment(text, "x.yaml", ["dummy"])
