"""Arms: resolved once, printed so that they read back, and refused where they cannot be."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.arm.browsers.chromium.fields import FLAGS_REFUSED
from lanelab.driver.arm.fields import ARM, OWNERS, settings_with
from lanelab.driver.arm.servers.apache.fields import ApacheSettings
from lanelab.driver.arm.servers.nginx.fields import NginxSettings
from lanelab.driver.arm.streams import StreamSettings
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.setting import rows_of
from lanelab.driver.experiment import Arm
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
    assert arm.own == ApacheSettings("event", 3, 25, 400)
    assert (arm.user_agent, arm.connections_per_host, arm.browser_flags) == (None, 6, ())
    assert arm.changed() == {}


def test_numbers_of_processes_are_those_of_the_mpm() -> None:
    arm = Arm.parse("a", {"mpm": "prefork"})
    assert arm.own == ApacheSettings("prefork", 5, 1, 256)
    assert arm.changed() == {"mpm": "prefork"}


def test_settings_of_another_server_may_be_among_the_defaults() -> None:
    shared: dict[str, object] = {"mpm": "prefork", "worker_connections": 64}
    nginx = Arm.parse("a", {"server": "nginx"}, shared)
    assert nginx.own == NginxSettings("auto", 64)
    assert nginx.changed() == {"server": "nginx", "worker_connections": 64}
    assert "mpm" not in nginx.settings()
    assert Arm.parse("a", {}, shared).own == ApacheSettings("prefork", 5, 1, 256)


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
REFUSED: list[tuple[dict[str, object], str, str]] = [
    (
        {"protocol": "h2", "via": "browser"},
        "protocol",
        "over TLS only: without it Chromium would fall back to HTTP/1.1. Set tls: 1.3 too",
    ),
    ({"protocol": "spdy/3.1", "via": "browser"}, "protocol", "no browser of today speaks SPDY. Leave via out"),
    ({"protocol": "spdy/3.1", "keepalive": "false"}, "keepalive", "SPDY carries all requests on one connection"),
    ({"protocol": "h3", "server": "caddy"}, "protocol", "HTTP/3 has TLS 1.3 in it, and tls is off. Write tls: 1.3"),
    ({**H3, "tls": "1.2"}, "protocol", "HTTP/3 has TLS 1.3 in it, and tls is 1.2"),
    ({**H3, "server": "apache"}, "protocol", "Apache does not speak h3. Write server: caddy, or another protocol"),
    ({**H3, "server": "h2o"}, "protocol", "h2o does not speak h3. Write server: caddy"),
    ({**H3, "via": "gateway"}, "protocol", "the gateway does not speak HTTP/3"),
    ({**H3, "tls_key_share": "p-256"}, "protocol", "the gateway does not speak HTTP/3"),
    ({**H3, "keepalive": "false"}, "keepalive", "HTTP/3 carries all requests on one connection"),
    ({**H3, "h3_discovery": "https-record"}, "h3_discovery", "HTTPS records come from a resolver, and dns is instant"),
    (
        {**H3, "h3_discovery": "https-record", "dns": "resolver", "start": "fresh-context"},
        "start",
        "Chromium takes what comes first, HTTP/2 or HTTP/3, in a context that does not know whether QUIC works here",
    ),
    ({**H3, "early_data": "true", "tls_resumption": "false"}, "early_data", "only a resumed session can begin with"),
    ({**H3, "browser_flags": ["--disable-quic"]}, "browser_flags", "gets its flags of QUIC from"),
    ({**H3, "early_data": "true", "start": "fresh-context"}, "start", "resumes no session of another context"),
    ({**H3, "pipelining": 2}, "pipelining", "it means nothing with protocol: h3"),
    ({"protocol": "h2", "tls": "1.3", "h3_discovery": "alt-svc"}, "h3_discovery", "nothing with protocol: h2"),
    ({"early_data": "true"}, "early_data", "it means nothing with protocol: http/1.1"),
    ({**H3, "proxy": "nginx", "server": "nginx"}, "protocol", "proxy: nginx does not speak h3 to clients"),
    ({"protocol": "spdy/2", "mpm": "prefork"}, "mpm", "does not speak SPDY with mpm: prefork"),
    ({"protocol": "spdy/2", "server": "nginx"}, "protocol", "nginx does not speak spdy/2. Write server: apache"),
    ({"server": "nginx", "mpm": "event"}, "mpm", "it is one of server: apache. Leave it out, or write server: apache"),
    ({"server": "nginx", "threads_per_child": 4}, "threads_per_child", "nginx has no such setting"),
    ({"worker_processes": 2}, "worker_processes", "Apache has no such setting: it is one of server: nginx"),
    ({"worker_process": 2, "server": "nginx"}, "worker_process", "Did you mean worker_processes?"),
    ({"worker_processes": "many", "server": "nginx"}, "worker_processes", "Write a whole number of processes"),
    ({"server": "ngnix"}, "server", "Did you mean nginx?"),
    ({"server": "nginx", "server_directives": "sendfile on"}, "server_directives", "Write one like http2_max"),
    ({"server": "nginx", "server_directives": "keepalive_timeout 9;"}, "server_directives", "keepalive_timeout is for"),
    ({"server": "nginx", "server_directives": "a 'b;"}, "server_directives", "a quote that is not closed"),
    ({"protocol": "spdy"}, "protocol", "Did you mean spdy/3.1?"),
    ({"protocol": "spdy/4"}, "protocol", "Choose http/1.1, h2, spdy/3.1, spdy/3, spdy/2"),
    ({"pipelining": 4, "via": "browser"}, "pipelining", "no browser of today sends requests ahead of answers"),
    (
        {"pipelining": 3, "pipelining_policy": "chromium", "tls": "1.3"},
        "pipelining_policy",
        "Chromium sent requests ahead of answers without TLS only. Leave tls out",
    ),
    ({"pipelining": 4, "keepalive": "false"}, "pipelining", "it means nothing with keepalive: false"),
    ({"pipelining": 4, "protocol": "spdy/3"}, "pipelining", "it means nothing with protocol: spdy/3"),
    ({"pipelining_policy": "chromium"}, "pipelining_policy", "it means nothing with pipelining: 1"),
    (
        {"backup_connections": True, "via": "browser"},
        "backup_connections",
        "Chromium begins backup connections by itself",
    ),
    ({"tls_key_share": "p-256"}, "tls_key_share", "it means nothing with tls: off"),
    ({"tls_key_share": "p-256", "tls": "1.3", "via": "browser"}, "tls_key_share", "Chromium has no switch"),
    (
        {"stream_window": 65536, "protocol": "spdy/2"},
        "stream_window",
        "it means nothing with protocol: spdy/2",
    ),
    ({"spdy_stream_window": 65536, "protocol": "h2"}, "spdy_stream_window", "stream_window"),
    ({"stream_window": 2048, "protocol": "h2", "tls": "1.3"}, "stream_window", "from 4096 to 268435456"),
    ({"stream_window": 65536}, "stream_window", "it means nothing with protocol: http/1.1"),
    (
        {"stream_window": 65536, "protocol": "h2", "tls": "1.3", "via": "browser"},
        "stream_window",
        "no browser of today",
    ),
    ({"connection_window": 65536, "protocol": "spdy/3"}, "connection_window", "it means nothing with protocol: spdy/3"),
    ({"max_concurrent_streams": 0, "protocol": "h2"}, "max_concurrent_streams", "from 1 to 1000"),
    ({"scheduling": "fifo", "protocol": "h2"}, "scheduling", "it means nothing with protocol: h2"),
    ({"scheduling": "weighted", "protocol": "spdy/3.1"}, "scheduling", "Choose priority, fifo, round-robin"),
    ({"priorities": "none", "protocol": "spdy/3.1"}, "priorities", "in spdy/3.1 each request has a priority"),
    (
        {"server_max_streams": 10, "protocol": "h2", "tls": "1.3", "server": "caddy", "via": "gateway"},
        "server_max_streams",
        "write server: apache or nginx",
    ),
    ({"push": "critical"}, "push", "it means nothing with protocol: http/1.1"),
    ({"push": "critical", "protocol": "spdy/2"}, "push", "it means nothing with protocol: spdy/2"),
    ({"push": "css", "protocol": "h2", "tls": "1.3"}, "push", "'css' is neither a policy nor a pattern of paths"),
    ({"push": [], "protocol": "h2", "tls": "1.3"}, "push", "it names nothing"),
    ({"push": "/css/*", "protocol": "h2", "tls": "1.3", "server": "h2o", "via": "gateway"}, "push", "apache or nginx"),
    ({"push": "/css/*", "protocol": "h2", "tls": "1.3", "start": "warm"}, "push", "from an earlier load"),
    (
        {"push": "/css/*", "protocol": "h2", "tls": "1.3", "via": "browser"},
        "push",
        "browsers of today take no pushes",
    ),
    ({"spdy_header_compression": 0, "protocol": "h2"}, "spdy_header_compression", "it means nothing with protocol: h2"),
    ({"pipelining": 0}, "pipelining", "Write a whole number of requests from 1 to 100"),
    ({"coalescing": "origin"}, "coalescing", "it means nothing with protocol: http/1.1"),
    (
        {"coalescing": "origin", "protocol": "h2", "tls": "1.3", "via": "browser"},
        "coalescing",
        "Chromium lets hosts at one address share a connection",
    ),
    ({"connections_per_host": 8, "protocol": "h2"}, "connections_per_host", "it means nothing with protocol: h2"),
    ({"connections_per_host": 0}, "connections_per_host", "from 1 to 256"),
    ({"via": "proxy"}, "via", "Did you mean gateway?"),
    ({"pipeline": 4}, "pipeline", "Did you mean pipelining?"),
    ({"protocol": "h2", "tls": "1.3", "keepalive": "false"}, "keepalive", "no keepalive to switch off"),
    ({"protocol": "h2", "tls": "1.3", "mpm": "prefork"}, "mpm", "does not speak HTTP/2 with mpm: prefork"),
    ({"protocol": "h2c"}, "protocol", "Did you mean h2?"),
    ({"protocol": "http/2"}, "protocol", "Did you mean h2? Choose http/1.1, h2"),
    ({"tls": "1.1"}, "tls", "Choose off, 1.2, 1.3"),
    ({"tls_resumption": "false"}, "tls_resumption", "it means nothing with tls: off"),
    ({"tls_certificate": "rsa-2048", "tls": "off"}, "tls_certificate", "it means nothing with tls: off"),
    ({"keepalive": "no"}, "keepalive", "Did you mean false?"),
    ({"keepalive": "false", "keepalive_requests": 5}, "keepalive_requests", "it means nothing with keepalive: false"),
    ({"protocol": "spdy/3", "keepalive_requests": 5}, "keepalive_requests", "it means nothing with protocol: spdy/3"),
    ({"keepalive_timeout": "5"}, "keepalive_timeout", "5 has no unit"),
    ({"keepalive_timeout": "0.5ms"}, "keepalive_timeout", "Write whole milliseconds"),
    ({"compression": "brotli"}, "compression", "Chromium accepts brotli over TLS only"),
    ({"compression": "zstd"}, "compression", "Chromium accepts zstd over TLS only"),
    ({"early_hints": "critical"}, "early_hints", "it means nothing with protocol: http/1.1"),
    ({**H2, "early_hints": "critical", "server": "nginx"}, "early_hints", "nginx cannot send 103 by HTTP/2"),
    ({**H2, "early_hints": "critical", "via": "gateway"}, "early_hints", "the gateway does not pass 103 on"),
    ({**H2, "early_hints": "critical", "start": "warm"}, "early_hints", "what the browser has from an earlier load"),
    ({**H3, "early_hints": "critical", "h3_discovery": "alt-svc"}, "early_hints", "the page may come by HTTP/2 or"),
    ({"early_hints": "style.css", **H2}, "early_hints", "neither a policy nor a pattern"),
    ({"fetchpriority": "high"}, "fetchpriority", "'high' is none of them"),
    ({"fetchpriority": "images=high images=low"}, "fetchpriority", "images is there twice"),
    (
        {"compression": "zstd", "tls": "1.3", "schemes": "recorded"},
        "compression",
        "what is asked for in clear cannot come with zstd",
    ),
    ({"compression": "zstd", "tls": "1.3", "server": "jetty"}, "compression", "Jetty does not compress with zstd"),
    ({"threads_per_child": 5, "mpm": "prefork"}, "threads_per_child", "it means nothing with mpm: prefork"),
    ({"max_workers": 410}, "max_workers", "not a multiple of threads_per_child: 25. Write 400"),
    ({"max_workers": 50}, "start_servers", "75, more than 50. Write start_servers: 2 or less"),
    (
        {"connections_per_host": 8, "via": "browser"},
        "connections_per_host",
        "and has no switch for it. Leave via out, or write via: gateway",
    ),
    ({"browser_flags": "--user-agent=x"}, "browser_flags", "the setting user_agent is for that"),
    ({"browser_flags": ["--a", "headless"]}, "browser_flags", "'headless' is no flag"),
    ({"server_directives": "keepalive off"}, "server_directives", "the setting keepalive is for that"),
    ({"server_directives": "Timeout 5\nListen 81"}, "server_directives", "a line break or a control character"),
    ({"user_agent": "a\r\nX-Injected: 1"}, "user_agent", "a line break or a control character"),
    ({"viewport": "1366"}, "viewport", "Write width and height"),
    ({"viewport": "1x1"}, "viewport", "1x1 cannot be shown"),
    ({"keep_alive": "true"}, "keep_alive", "Did you mean keepalive?"),
    ({"protcol": "h2"}, "protcol", "Did you mean protocol?"),
    ({"zzz": 1}, "zzz", "Settings of an arm are server, protocol"),
]

STREAMS = {setting.name for setting in rows_of(StreamSettings)}


@pytest.mark.parametrize(("mapping", "key", "message"), REFUSED, ids=[str(case[0]) for case in REFUSED])
def test_refuses(mapping: dict[str, object], key: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        Arm.parse("a", mapping)
    assert error.value.key == key
    assert message in str(error.value)


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


PROXY_REFUSED = [
    ({"proxy_protocol": "h2"}, "it means nothing with proxy: none"),
    ({"proxy": "nginx", "proxy_window": 131072}, "it means nothing with proxy: nginx"),
    ({"proxy": "gateway", "proxy_connections": 2}, "it means nothing with proxy_protocol: http/1.1"),
    ({"proxy": "nginx", "proxy_protocol": "ajp"}, "proxy: nginx does not speak ajp to the server behind it"),
    ({"proxy": "apache", "proxy_protocol": "ajp"}, "Apache does not speak ajp behind a proxy"),
    ({"proxy": "haproxy", "protocol": "spdy/3.1"}, "proxy: haproxy does not speak spdy/3.1 to clients"),
    ({"proxy": "apache", "proxy_workers": 60}, "60 workers are not a multiple of 25. Write proxy_workers: 50"),
    ({"proxy": "apache", "protocol": "h2", "tls": "1.3", "proxy_mpm": "prefork"}, "with proxy_mpm: prefork"),
    ({"proxy": "nginx", "via": "gateway"}, "the gateway beside a browser does not speak through a proxy"),
    ({"proxy": "nginx", "tls": "1.3", "schemes": "recorded"}, "a proxy listens for one scheme"),
]


@pytest.mark.parametrize(("settings", "words"), PROXY_REFUSED)
def test_what_a_proxy_cannot_do_is_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(InputError) as refused:
        Arm.parse("a", settings)
    assert words in str(refused.value)


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
        under |= {"protocol": "h3", "server": "caddy"} if field.name in ("h3_discovery", "early_data") else {}
        under |= {"pipelining": 4, "tls": "off"} if field.name == "pipelining_policy" else {}
        under |= {"proxy": "apache" if field.name in APACHE_PROXY else "gateway"} if _of_proxy(field.name) else {}
        under |= {"proxy_protocol": "h2"} if field.name in ("proxy_window", "proxy_connections") else {}
        under |= {"tls": "off"} if field.name == "jetty_version" else {}
        under |= {"protocol": "spdy/3.1"} if field.name in STREAMS else {}
        plain = Arm.parse("a", under).settings()
        value: object = [field.example] if field.metavar == "LIST" else field.example
        changed = Arm.parse("a", {**under, field.name: value}).settings()
        only_one = field.name == "tls"  # set above
        assert (changed != plain) is not only_one, field.name


def test_page_loads_through_a_proxy_are_refused() -> None:
    text = "sites: dummy\nlinks: {rate: 10mbit, rtt: 20ms}\narms: {a: {proxy: nginx}}\n"
    with pytest.raises(InputError, match="page loads through a proxy cannot be judged"):
        parse_experiment(text, "x.yaml", ["dummy"])
