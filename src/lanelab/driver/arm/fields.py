"""`ARM` is the table of an arm's settings: the common ones, the browser's, a proxy's, and those of one server alone.

Defaults are those of Apache 2.4 (its manual: core) and of Chromium, except where a help text says otherwise.
"""

from __future__ import annotations

from dataclasses import replace

from lanelab.driver.arm.browsers.fields import SETTINGS as BROWSER_SETTINGS
from lanelab.driver.arm.browsers.registry import BROWSERS
from lanelab.driver.arm.browsers.registry import DEFAULT as DEFAULT_BROWSER
from lanelab.driver.arm.hint_fields import HINT_SETTINGS
from lanelab.driver.arm.proxies.fields import SETTINGS as PROXY_SETTINGS
from lanelab.driver.arm.servers.registry import DEFAULT as DEFAULT_SERVER
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.stream_fields import STREAM_SETTINGS
from lanelab.driver.base.settings.kinds import FLAG, Kind, choice, count, lines, whole_milliseconds
from lanelab.driver.base.settings.setting import DefaultBy, Setting, Table
from lanelab.driver.base.units import Duration

MULTIPLEXED = ("h2", "spdy/3.1", "spdy/3", "spdy/2", "h3")  # protocols that carry all requests on one connection
LONGEST_KEEPALIVE = Duration.parse("1000s")


_KEPT_FOR = whole_milliseconds(
    Duration.parse("1ms"), LONGEST_KEEPALIVE, "servers cannot wait {time} for the next request"
)
_OFF = "off"


def _minify(value: object, key: str) -> str:
    """One text for one wish: sets and filters in one order."""
    if value == _OFF:
        return _OFF
    from lanelab.driver.site.minify.wish import SETS, parse_minify  # noqa: PLC0415 - most arms need none of its libraries

    if parse_minify(value, key) is None:
        return _OFF
    texts = value if isinstance(value, list | tuple) else [value]
    names = [name for text in texts for name in str(text).replace(",", " ").split()]
    return ",".join(sorted(set(names), key=lambda name: (name not in SETS, name)))


_TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
MINIFY = Kind("SET", "`off`, a set, or a list of filters", _minify, _TEXTS)
_PROTOCOLS = {"http/2": "h2", "http2": "h2", "h2c": "h2", "h1": "http/1.1", "http1": "http/1.1", "http": "http/1.1"}
_PROTOCOLS |= {"http/3": "h3", "http3": "h3", "quic": "h3"}
_PROTOCOLS |= {"spdy": "spdy/3.1", "spdy3.1": "spdy/3.1", "spdy3": "spdy/3", "spdy2": "spdy/2"}
_VIA = {"native": "browser", "chromium": "browser", "direct": "browser", "auto": "automatic", "proxy": "gateway"}
_WITH_SPDY = tuple(("protocol", protocol) for protocol in MULTIPLEXED if protocol.startswith("spdy/"))
_WITH_MULTIPLEXING = tuple(("protocol", protocol) for protocol in MULTIPLEXED)
_WITHOUT_H3 = tuple(("protocol", protocol) for protocol in ("http/1.1", *MULTIPLEXED) if protocol != "h3")
_TLS = {"true": "1.3", "on": "1.3", "yes": "1.3", "tls1.3": "1.3", "tls1.2": "1.2", "false": "off", "no": "off"}
_COMPRESSION = {"br": "brotli", "deflate": "gzip", "on": "gzip", "true": "gzip", "false": "off", "no": "off"}
_COMPRESSION |= {"as-recorded": "recorded", "site": "recorded", "none": "off", "zstandard": "zstd"}
_SCHEMES = {"http": "arm", "https": "arm", "mixed": "recorded", "site": "recorded"}
# fmt: off
_SERVER = (
    Setting("server", choice("NAME", *SERVERS), DEFAULT_SERVER, "the web server", "nginx"),
    Setting("protocol", choice("NAME", "http/1.1", *MULTIPLEXED, also=_PROTOCOLS), "http/1.1",
             "what is spoken on the link; every request is checked. SPDY and `h2` without `tls` go through the "
             "gateway. `h3` is [HTTP/3](http3.md) over QUIC", "h2", aliases=("http",)),
    Setting("h3_discovery", choice("HOW", "forced", "alt-svc", "https-record"), "forced",
             "how the browser learns of it: told at its start, by the header `Alt-Svc` "
             "of a first answer by `h2`, or by the HTTPS record of the name", "alt-svc", meaningless_with=_WITHOUT_H3,
             aliases=("discovery",)),
    Setting("early_data", FLAG, "false",
             "whether HTTP/3 connections are resumed from an earlier load and begin with requests (0-RTT)", "true",
             meaningless_with=_WITHOUT_H3, aliases=("0-rtt", "zero_rtt")),
    Setting("tls", choice("VERSION", "off", "1.2", "1.3", also=_TLS), "off", "TLS, in exactly this version", "1.3",
             aliases=("ssl", "https")),
    Setting("tls_resumption", FLAG, "true",
             "whether later connections may resume the session of an earlier one", "false",
             meaningless_with=(("tls", "off"),), aliases=("resumption",)),
    Setting("tls_certificate", choice("KIND", "ecdsa-p256", "rsa-2048"), "ecdsa-p256",
             "the key of the server's certificate", "rsa-2048", meaningless_with=(("tls", "off"),)),
    Setting("keepalive", FLAG, "true", "whether a connection carries more than one request", "false",
             aliases=("keep_alive",)),
    Setting("keepalive_requests", count("REQUESTS", "requests", 0, 1_000_000),
             DefaultBy("server", {name: "100" if server.counts_requests else "0" for name, server in SERVERS.items()}),
             "how often HTTP/1.1 keeps a connection, which carries one request more, as Apache's MaxKeepAliveRequests; "
             "0: always", "0", meaningless_with=(("keepalive", False), *_WITH_SPDY)),
    Setting("keepalive_timeout", _KEPT_FOR, "5s",
             "how long the server waits for the next request on a connection", "500ms",
             meaningless_with=(("keepalive", False),)),
    Setting("compression", choice("NAME", "recorded", "off", "gzip", "brotli", "zstd", also=_COMPRESSION), "recorded",
             "what text is compressed with: as the site was recorded (and as mod_pagespeed did it, where `minify` "
             "rewrote an object), not at all, or by the server; with `zstd` before the trial. Browsers take `brotli` "
             "and `zstd` over TLS only, or by the gateway", "gzip", aliases=("gzip",)),
    Setting("minify", MINIFY, "off",
             "what [mod_pagespeed](minify.md) would have done to the site: a set (`core-2012`, `page-2012`, `core`) or "
             "a list of its filters", "core-2012", aliases=("pagespeed", "filters")),
    Setting("schemes", choice("WHICH", "arm", "recorded", also=_SCHEMES), "arm",
             "the scheme of the site's addresses: all as `tls` says, or each as it was recorded, in clear or with TLS",
             "recorded", meaningless_with=(("tls", "off"),), aliases=("scheme",)),
)
_REST = (
    Setting("server_directives", lines("directive", r".+", "Timeout 10"), "",
             "further lines for the end of the server's configuration, in its own language", "H2Push off", "", "none",
             aliases=("directives",)),
    Setting("dns", choice("HOW", "instant", "resolver"), "instant",
             "how the browser, or the gateway, learns addresses: at once, or from a resolver beyond the link",
             "resolver", aliases=("resolver",)),
    Setting("addresses", choice("HOW", "shared", "per-origin"), "shared",
             "one address for every host name of the site, or one for each", "per-origin", aliases=("address",)),
    *BROWSER_SETTINGS,
    Setting("via", choice("WAY", "automatic", "browser", "gateway", also=_VIA), "automatic",
             "what speaks to the server: the browser itself, or the [gateway](gateway.md) beside it. `automatic`: the "
             "gateway only where the browser cannot", "gateway", aliases=("gateway", "path")),
    Setting("pipelining", count("REQUESTS", "requests", 1, 100), "1",
             "how many requests a connection may have without an answer; above 1 through the gateway only", "4",
             meaningless_with=(("keepalive", False), *_WITH_MULTIPLEXING), aliases=("pipeline",)),
    Setting("pipelining_policy", choice("POLICY", "eager", "firefox", "chromium"), "eager",
             "which requests are sent ahead of answers, and on which connection: [as Firefox, as Chromium, or as "
             "early as can be](gateway.md#pipelining)", "chromium",
             meaningless_with=(("pipelining", 1), ("keepalive", False), *_WITH_MULTIPLEXING)),
    Setting("connections_per_host", count("CONNECTIONS", "connections", 1, 256),
             str(BROWSERS[DEFAULT_BROWSER].connections_per_host),
             "HTTP/1.1 connections to one host at once. Chromium has 6 built in, other numbers go through the gateway",
             "2", meaningless_with=_WITH_MULTIPLEXING, aliases=("connections",)),
    Setting("coalescing", choice("BY", "address", "origin"), "address",
             "whether hosts at one address share a connection, as in Chromium, or each has its own (`origin`: through "
             "the gateway)", "origin", meaningless_with=(("protocol", "http/1.1"),)),
    Setting("backup_connections", FLAG, "false",
             "whether the gateway begins a second connection to a host whose first one is not there after 250 ms, as "
             "Chromium does by itself", "true"),
    Setting("spdy_header_compression", count("LEVEL", "zlib's level", 0, 9), "9",
             "how hard client and server compress SPDY's headers; 0: not at all", "0",
             meaningless_with=(("protocol", "http/1.1"), ("protocol", "h2"), ("protocol", "h3"))),
    *STREAM_SETTINGS,
    *HINT_SETTINGS,
    Setting("tls_key_share", choice("GROUP", "browser", "x25519", "p-256"), "browser",
             "the key exchange that the client offers: as Chromium does today (X25519MLKEM768, then X25519), or a key "
             "of one curve alone, through the gateway", "p-256", meaningless_with=(("tls", "off"),)),
)
# fmt: on
# The servers that have a setting which not all have. Where several have one of the same name, it is the same setting.
OWNERS = {
    setting.name: tuple(name for name, other in SERVERS.items() if setting in other.settings)
    for server in SERVERS.values()
    for setting in server.settings
}
_OWN = tuple(
    replace(setting, help=f"with `server: {'` or `'.join(OWNERS[setting.name])}` alone: {setting.help}")
    for setting in {each.name: each for server in SERVERS.values() for each in server.settings}.values()
)
ARM = Table(
    (*_SERVER, *_OWN, *PROXY_SETTINGS, *_REST), noun="setting", of=" of an arm", all_are="Settings of an arm are"
)


def settings_with(server: str) -> tuple[Setting, ...]:
    """The settings of an arm with this server."""
    return tuple(setting for setting in ARM.settings if server in OWNERS.get(setting.name, (server,)))


def shown(value: object) -> object:
    """A value as JSON has it; booleans and texts read back."""
    if isinstance(value, Duration):
        return str(value)
    if isinstance(value, tuple):
        return "x".join(map(str, value)) if value and isinstance(value[0], int) else list(value)
    return value
