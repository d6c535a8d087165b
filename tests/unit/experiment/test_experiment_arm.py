"""Arms: resolved once, printed so that they read back, and refused where they cannot be."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.browsers.chromium.fields import FLAGS_REFUSED
from lanelab.driver.arm.fields import ARM, OWNERS, settings_with
from lanelab.driver.arm.servers.apache.fields import ApacheSettings
from lanelab.driver.arm.servers.nginx.fields import NginxSettings
from lanelab.driver.arm.streams import StreamSettings
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.setting import rows_of
from lanelab.driver.experiment.read import parse_experiment
from tests.kit.experiments import PATIENT, arm_settings


@PATIENT
@given(arm_settings())
def test_an_arm_reads_back_from_its_own_settings(settings: dict[str, object]) -> None:
    arm = Arm.parse("a", settings)
    mapping = json.loads(json.dumps(arm.to_mapping()))
    again = Arm.parse(mapping.pop("name"), mapping)
    assert again == arm
    assert hash(again) == hash(arm)
    assert Arm.parse("a", arm.changed()) == arm
    assert set(arm.settings()) == {setting.name for setting in settings_with(arm.server)}


@PATIENT
@given(
    st.sampled_from([setting.name for setting in ARM.settings]),
    st.text(max_size=30) | st.integers() | st.none() | st.booleans() | st.lists(st.text(max_size=5), max_size=3),
)
def test_any_value_is_taken_or_refused_in_one_line(key: str, value: object) -> None:
    refused = refusal({key: value})
    if refused:
        assert refused.key
        assert refused.remedy
        assert "\n" not in str(refused)


def refusal(mapping: dict[str, object]) -> InputError | None:
    try:
        Arm.parse("a", mapping)
    except InputError as error:
        return error
    return None


def test_an_arm_that_says_nothing_is_apache_and_chromium_as_they_come() -> None:
    arm = Arm.parse("plain", {})
    assert (arm.server, arm.protocol, arm.tls, arm.scheme) == ("apache", "http/1.1", "off", "http")
    assert (arm.keepalive, arm.keepalive_requests, str(arm.keepalive_timeout)) == (True, 100, "5s")
    assert arm.of_server == ApacheSettings("event", 3, 25, 400)
    assert (arm.user_agent, arm.connections_per_host, arm.browser_flags) == (None, 6, ())
    assert arm.changed() == {}


def test_numbers_of_processes_are_those_of_the_mpm() -> None:
    arm = Arm.parse("a", {"mpm": "prefork"})
    assert arm.of_server == ApacheSettings("prefork", 5, 1, 256)
    assert arm.changed() == {"mpm": "prefork"}


def test_settings_of_another_server_may_be_among_the_defaults() -> None:
    shared: dict[str, object] = {"mpm": "prefork", "worker_connections": 64}
    nginx = Arm.parse("a", {"server": "nginx"}, shared)
    assert nginx.of_server == NginxSettings("auto", 64)
    assert nginx.changed() == {"server": "nginx", "worker_connections": 64}
    assert "mpm" not in nginx.settings()
    assert Arm.parse("a", {}, shared).of_server == ApacheSettings("prefork", 5, 1, 256)


def test_defaults_lie_below_and_are_left_out_where_they_mean_nothing() -> None:
    shared: dict[str, object] = {"tls_certificate": "rsa-2048", "viewport": "412x823"}
    assert Arm.parse("a", {"tls": "1.3"}, shared).tls_certificate == "rsa-2048"
    plain = Arm.parse("a", {}, shared)
    assert plain.tls_certificate == "ecdsa-p256"
    assert plain.viewport == (412, 823)
    assert Arm.parse("a", {"viewport": "800x600"}, shared).viewport == (800, 600)


@pytest.mark.parametrize(
    ("settings", "via"),
    [
        ({}, "browser"),
        ({"protocol": "h2", "tls": "1.3"}, "browser"),
        ({"protocol": "h2"}, "gateway"),
        ({"protocol": "spdy/3.1"}, "gateway"),
        ({"protocol": "spdy/2", "tls": "1.2"}, "gateway"),
        ({"pipelining": 2}, "gateway"),
        ({"connections_per_host": 2}, "gateway"),
        ({"protocol": "h2", "tls": "1.3", "coalescing": "origin"}, "gateway"),
        ({"via": "gateway"}, "gateway"),
        ({"backup_connections": True}, "gateway"),
        ({"tls": "1.2", "tls_key_share": "p-256"}, "gateway"),
    ],
    ids=str,
)
def test_goes_through_the_gateway_only_where_the_browser_cannot(settings: dict[str, object], via: str) -> None:
    arm = Arm.parse("a", settings)
    assert arm.via == via
    assert arm.page_scheme == ("https" if via == "gateway" or arm.tls != "off" else "http")


def test_brotli_in_clear_is_for_the_gateway_to_offer() -> None:
    assert Arm.parse("a", {"compression": "brotli", "via": "gateway"}).tls == "off"
    assert refusal({"compression": "brotli"}) is not None


def test_defaults_for_the_gateway_are_left_out_where_they_mean_nothing() -> None:
    shared: dict[str, object] = {"pipelining": 4, "connections_per_host": 8}
    arm = Arm.parse("a", {"protocol": "h2", "tls": "1.3"}, shared)
    assert (arm.via, arm.pipelining, arm.connections_per_host) == ("browser", 1, 6)
    assert Arm.parse("a", {}, shared).pipelining == 4


H2 = {"protocol": "h2", "tls": "1.3"}
H3: dict[str, object] = {"protocol": "h3", "server": "caddy", "tls": "1.3"}

STREAMS = {setting.name for setting in rows_of(StreamSettings)}


@pytest.mark.parametrize("flag", sorted(FLAGS_REFUSED))
@pytest.mark.parametrize("form", ["{}", "{}=x"])
def test_flags_that_a_trial_depends_on_are_refused(flag: str, form: str) -> None:
    error = refusal({"browser_flags": ["--mute-audio", form.format(flag)]})
    assert error
    assert error.key == "browser_flags"
    assert f"{flag} cannot be given: {FLAGS_REFUSED[flag]}" in str(error)


APACHE_PROXY = ("proxy_mpm", "proxy_workers")


def _of_proxy(name: str) -> bool:
    return name.startswith("proxy_")


def test_a_server_behind_a_proxy_sees_the_proxy_alone() -> None:
    arm = Arm.parse("a", {"proxy": "haproxy", "proxy_protocol": "h2", "tls": "1.3", "keepalive_requests": 0})
    behind = arm.back_end()
    assert (arm.behind, behind.behind, behind.protocol, behind.tls) == ("", "h2", "h2", "off")
    assert behind.multiplexed
    assert arm.settings()["protocol"] == "http/1.1"
    direct = Arm.parse("a", {})
    assert direct.back_end() is direct


def test_every_row_of_the_table_can_be_used() -> None:
    for field in ARM.settings:
        under: dict[str, object] = {"tls": "1.3", "server": OWNERS.get(field.name, ("apache",))[0]}
        under |= {"protocol": "h2"} if field.name == "coalescing" else {}
        under |= {"protocol": "spdy/3"} if field.name.startswith("spdy_") else {}
        under |= H2 if field.name == "early_hints" else {}
        under |= {"start": "warm"} if field.name == "revisit_after" else {}
        under |= {"addresses": "per-origin"} if field.name == "origins" else {}
        under |= {"protocol": "h3", "server": "caddy"} if field.name in ("h3_discovery", "early_data") else {}
        under |= {"pipelining": 4, "tls": "off"} if field.name == "pipelining_policy" else {}
        under |= {"proxy": "apache" if field.name in APACHE_PROXY else "gateway"} if _of_proxy(field.name) else {}
        under |= {"proxy_protocol": "h2"} if field.name in ("proxy_window", "proxy_connections") else {}
        under |= {"tls": "off"} if field.name == "jetty_version" else {}
        under |= {"protocol": "spdy/3.1"} if field.name in STREAMS else {}
        plain = Arm.parse("a", under).settings()
        value: object = [field.example] if field.metavar == "LIST" else field.example
        value = yaml.safe_load(field.example) if field.metavar == "MAPPING" else value
        changed = Arm.parse("a", {**under, field.name: value}).settings()
        only_one = field.name == "tls"  # set above
        assert (changed != plain) is not only_one, field.name


def test_page_loads_through_a_proxy_are_refused() -> None:
    text = "sites: dummy\nlinks: {rate: 10mbit, rtt: 20ms}\narms: {a: {proxy: nginx}}\n"
    with pytest.raises(InputError, match="page loads through a proxy cannot be judged"):
        parse_experiment(text, "x.yaml", ["dummy"])


def test_an_empty_list_of_pushes_names_nothing() -> None:
    with pytest.raises(InputError, match="it names nothing") as refused:
        Arm.parse("a", {"push": [], "protocol": "h2", "tls": "1.3"})
    assert refused.value.key == "push"
