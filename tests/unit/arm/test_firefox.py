"""Firefox: its preferences, what its notes say of requests, and what it cannot do."""

import json
from dataclasses import replace
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.browsers.browser import Surroundings
from lanelab.driver.arm.browsers.firefox.prefs import listed, prefs, read, user_js
from lanelab.driver.arm.browsers.firefox.requests import document_error, requests, sockets
from lanelab.driver.base.errors import InputError, RecordError
from lanelab.driver.run.needs import needs_of
from tests.kit.browser_settings import AROUND, Settings
from tests.kit.experiments import read as read_experiment

HTTP2, HTTP3 = "network.http.http2.enabled", "network.http.http3.enable"
MAPPING = "network.http.http3.alt-svc-mapping-for-testing"
BACKUP = "network.http.http3.backup_timer_delay"
START = 1_795_453_202_218_504
NOTED: Any = {
    "url": "https://a.example/",
    "method": "GET",
    "policy": 6,
    "cached": False,
    "status": 200,
    "protocol": "h2",
    "mime": "text/html",
    "remote": ["10.10.2.2", 443],
    "local": ["10.10.1.2", 52090],
    "tls": 4,
    "asyncOpenTime": START,
    "domainLookupStartTime": START + 1000,
    "domainLookupEndTime": START + 2000,
    "connectStartTime": START + 2000,
    "secureConnectionStartTime": START + 42_000,
    "connectEndTime": START + 82_000,
    "requestStartTime": START + 83_000,
    "responseStartTime": START + 123_000,
    "responseEndTime": START + 133_000,
    "cacheReadStartTime": 0,
    "cacheReadEndTime": 0,
    "initiator": "browser",
    "sizes": [440, 14_164, 14_000],
    "error": None,
    "body": 0,
    "asked": [["Host", "a.example"], ["Priority", "u=0, i"]],
    "got": [["content-length", "14000"]],
}
NEVER: Any = {name: 0 for name in NOTED if name.endswith("Time")}


def noted(**changed: Any) -> Any:
    """As NOTED, but for these."""
    return {**NOTED, **changed}


def chosen(around: Surroundings = AROUND, **settings: Any) -> dict[str, Any]:
    return prefs(Settings(**settings), around)


@pytest.mark.parametrize(
    ("protocol", "without_h2", "h2", "h3"),
    [
        ("http/1.1", False, True, False),
        ("http/1.1", True, False, False),
        ("h2", False, True, False),
        ("h3", False, True, True),
    ],
)
def test_offers_what_the_arm_says(protocol: str, without_h2: bool, h2: bool, h3: bool) -> None:
    made = chosen(replace(AROUND, without_h2=without_h2), protocol=protocol)
    assert (made[HTTP2], made[HTTP3]) == (h2, h3)


def test_http3_is_discovered_as_the_arm_says() -> None:
    forced = chosen(protocol="h3", h3_discovery="forced")
    assert forced[MAPPING] == "a.example;h3=:443,b.example;h3=:443"
    assert forced[BACKUP] == 0
    told = chosen(protocol="h3", h3_discovery="alt-svc")
    assert not {MAPPING, BACKUP} & set(told)
    record = chosen(replace(AROUND, dns="resolver"), protocol="h3", h3_discovery="https-record")
    assert record["network.dns.native_https_query"] is True
    assert MAPPING not in record
    assert forced["network.dns.native_https_query"] is False


def test_names_and_connections() -> None:
    assert chosen()["network.dns.native-is-localhost"] is True
    assert "network.dns.native-is-localhost" not in chosen(replace(AROUND, dns="resolver"))
    limit = "network.http.max-persistent-connections-per-server"
    assert chosen(connections_per_host=2)[limit] == 2
    assert limit not in chosen(via="gateway")


def test_preferences_of_the_arm_win_and_are_written() -> None:
    assert [read(each) for each in ("a.b=true", "a.b=-3", "a.b=x=y", "a.b=")] == [
        ("a.b", True), ("a.b", -3), ("a.b", "x=y"), ("a.b", ""),
    ]  # fmt: skip
    made = chosen(browser_flags=("security.OCSP.enabled=1",), user_agent='A "phone"')
    assert made["security.OCSP.enabled"] == 1
    assert user_js({"a": True, "b": 1, "c": 'A "phone"'}) == (
        'user_pref("a", true);\nuser_pref("b", 1);\nuser_pref("c", "A \\"phone\\"");\n'
    )
    assert 'general.useragent.override=A "phone"' in listed(made)


def test_websockets_are_no_requests() -> None:
    handshake = noted(url="https://a.example/live", policy=16, status=404)
    refused: Any = {**NOTED, **NEVER, "url": "http://b.example/", "policy": 16, "status": 0}
    every = [NOTED, handshake, refused]
    assert [each.url for each in requests(every, load_us=None)] == [NOTED["url"]]
    assert [(each.url, each.status) for each in sockets(every)] == [
        ("wss://a.example/live", 404),
        ("ws://b.example/", None),
    ]


def test_a_request_has_its_parts() -> None:
    (one,) = requests([NOTED], load_us=START + 500_000)
    assert one.timings.to_json() == {
        "blocked": 2.0, "dns": 1.0, "connect": 80.0, "ssl": 40.0, "send": 0.0, "wait": 40.0, "receive": 10.0,
    }  # fmt: skip
    assert (one.started_ms, one.ended_ms, one.protocol, one.tls) == (0.0, 133.0, "h2", "TLS 1.3")
    assert (one.priority, one.remote, one.body_bytes, one.wire_bytes) == ("u=0, i", "10.10.2.2:443", 14_000, 14_164)
    assert (one.before_load, one.reused, one.error) == (True, False, None)


def test_requests_at_the_same_ends_share_a_connection() -> None:
    later = {"asyncOpenTime": START + 150_000, "requestStartTime": START + 150_000}
    later |= {"responseStartTime": START + 190_000, "responseEndTime": START + 200_000, "policy": 3}
    shared: Any = {**NOTED, **NEVER, **later, "url": "https://a.example/1.png"}
    other: Any = {**shared, "url": "https://a.example/2.png", "local": ["10.10.1.2", 52091], "protocol": "h3"}
    first, second, third = requests([NOTED, shared, other], load_us=START + 160_000)
    assert first.connection == second.connection != third.connection
    assert (first.reused, second.reused, third.reused) == (False, True, False)
    assert (second.timings.connect, second.timings.dns, second.type) == (-1, -1, "Image")
    assert third.tls == "QUIC"


def test_what_comes_out_of_the_cache_ends() -> None:
    ended: Any = {"asyncOpenTime": START, "cacheReadEndTime": START + 5000}
    (one,) = requests([noted(**{**NEVER, **ended}, cached=True)], load_us=None)
    assert (one.from_cache, one.ended_ms, one.wire_bytes, one.connection) == (True, 5.0, 0, None)
    assert one.timings.receive == 5.0


def test_what_never_ended_and_what_failed_is_told() -> None:
    begun: Any = {name: NOTED[name] for name in ("url", "method", "policy", "cached")}
    failed: Any = {**NOTED, "error": "NS_ERROR_CONNECTION_REFUSED", "status": 0}
    (hangs,) = requests([begun], load_us=None) or (None,)
    assert hangs is None or hangs.ended_ms is None
    assert requests([failed], load_us=None)[0].error == "NS_ERROR_CONNECTION_REFUSED"
    assert document_error([failed]) == "NS_ERROR_CONNECTION_REFUSED"
    assert document_error([noted(status=302, error="NS_BINDING_REDIRECTED"), NOTED]) is None
    lacking: Any = {name: value for name, value in NOTED.items() if name != "method"}
    with pytest.raises(RecordError, match="method"):
        requests([lacking], load_us=None)


def test_redirects_and_pictures_with_an_error() -> None:
    within: Any = {
        "url": "http://a.example/",
        "method": "GET",
        "policy": 6,
        "cached": False,
        "error": "NS_BINDING_REDIRECTED",
    }
    picture: Any = {**NOTED, "policy": 3, "status": 404, "error": "NS_BINDING_ABORTED"}
    (one,) = requests([within, picture], load_us=None)
    assert (one.status, one.error) == (404, None)
    assert (
        requests([noted(policy=3, status=200, error="NS_BINDING_ABORTED")], load_us=None)[0].error == "net::ERR_ABORTED"
    )


def test_a_redirect_that_was_kept_ends_when_it_leads_on() -> None:
    """It is not read to an end; watch.js notes when it stopped."""
    names = ("url", "method", "policy", "body", "protocol", "mime", "asked", "initiator", "asyncOpenTime")
    kept: Any = {name: NOTED[name] for name in names}
    kept |= {"cached": True, "status": 308, "got": [["location", "/there"]], "cacheReadEndTime": START + 2000}
    there = noted(url="https://a.example/there", asyncOpenTime=START + 2000)
    first, second = requests([kept, there], load_us=START + 500_000)
    assert (first.status, first.from_cache, first.connection, first.error) == (308, True, None, None)
    assert (first.started_ms, first.ended_ms, first.before_load) == (0, 2, True)
    assert (second.started_ms, second.from_cache) == (2, False)
    assert document_error([kept, there]) is None


def test_a_body_that_was_compressed_has_no_known_length() -> None:
    (one,) = requests([noted(got=[["content-encoding", "gzip"]])], load_us=None)
    assert one.body_bytes == -1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"protocol": "h3", "server": "caddy", "tls": "1.3", "early_data": True}, "Firefox"),
        ({"cpu_slowdown": 4}, "slowdown"),
        ({"touch": True}, "touch"),
        ({"browser_flags": "--disable-quic"}, "preference of Firefox"),
        ({"browser_flags": "network.proxy.type=1"}, "proxy"),
        ({"compression": "brotli"}, "over TLS only"),
    ],
)
def test_what_firefox_cannot_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Arm.parse("a", {"browser": "firefox", **settings})


def test_an_experiment_needs_the_browsers_of_its_arms_alone() -> None:
    text = "sites: dummy\nlinks: {{rtt: 20ms}}\narms: {{a: {{browser: firefox}}, b: {{browser: {other}, tls: 1.3}}}}\n"
    only = {program.name for program in needs_of(read_experiment(text.format(other="firefox")))}
    both = {program.name for program in needs_of(read_experiment(text.format(other="chromium")))}
    assert "firefox" in only
    assert "chromium" not in only
    assert {"firefox", "chromium", "chromedriver"} <= both
    assert json.dumps(sorted(both - only)) == '["chromedriver", "chromium"]'
