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
        ({"cdn.test": {"protocol": "spdy/3.1"}}, {}, "no browser of today speaks spdy/3.1"),
        ({"cdn.test": {"server": "caddy", "protocol": "h3"}}, {}, "browsers are told of HTTP/3 by the arm"),
        ({"cdn.test": {"server": "h2o", "protocol": "http/1.1"}}, {}, "h2o takes it where it is to speak HTTP/1.1"),
        ({"cdn.test": ADS}, {"addresses": "shared"}, "all hosts share one"),
        ({"cdn.test": ADS}, {"via": "gateway"}, "the gateway speaks one protocol to all hosts"),
        ({"cdn.test": ADS}, {"protocol": "spdy/3.1"}, "the gateway speaks one protocol to all hosts"),
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
