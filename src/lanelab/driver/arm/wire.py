"""The settings of an arm that are about what is spoken between client and server, whoever speaks it.

Defaults are those of Apache 2.4 (its manual: core) and of Chromium, except where a help text says otherwise.
"""

from dataclasses import dataclass, field
from typing import TypeVar

from lanelab.driver.arm.streams import StreamSettings
from lanelab.driver.base.settings.kinds import FLAG, choice, count, lines, whole_milliseconds
from lanelab.driver.base.settings.setting import ROW, Setting
from lanelab.driver.base.units import Duration
from lanelab.driver.site.prepare.variant import RECORDED

MULTIPLEXED = ("h2", "spdy/3.1", "spdy/3", "spdy/2", "h3")  # protocols that carry all requests on one connection
LONGEST_KEEPALIVE = Duration.parse("1000s")


_KEPT_FOR = whole_milliseconds(
    Duration.parse("1ms"), LONGEST_KEEPALIVE, "servers cannot wait {time} for the next request"
)
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


@dataclass(frozen=True)
class OwnSettings:
    """The settings that only one server has. A server's own class derives from it."""


Kind = TypeVar("Kind", bound=OwnSettings)


def own_settings(arm: "WireSettings", kind: type[Kind]) -> Kind:
    """Return those that only the arm's server has, which are of this kind."""
    if not isinstance(arm.of_server, kind):
        raise TypeError(f"the arm is for {arm.server}")
    return arm.of_server


@dataclass(frozen=True, kw_only=True)
class WireSettings(StreamSettings):
    server: str  # its row is in fields.py, since nothing here knows which servers there are
    of_server: OwnSettings
    behind: str = ""  # of an arm as a server behind a proxy sees it: what the proxy speaks to it
    at: tuple[str, ...] = ()  # of an arm as its server sees it: the only addresses at which it listens; (): at all
    # fmt: off
    protocol: str = field(metadata={ROW: Setting(
        "protocol", choice("NAME", "http/1.1", *MULTIPLEXED, also=_PROTOCOLS), "http/1.1",
        "what is spoken on the link; every request is checked. SPDY and `h2` without `tls` go through the "
        "gateway. `h3` is [HTTP/3](http3.md) over QUIC", "h2", aliases=("http",))})
    h3_discovery: str = field(metadata={ROW: Setting(
        "h3_discovery", choice("HOW", "forced", "alt-svc", "https-record"), "forced",
        "how the browser learns of it: told at its start, by the header `Alt-Svc` "
        "of a first answer by `h2`, or by the HTTPS record of the name", "alt-svc", meaningless_with=_WITHOUT_H3,
        aliases=("discovery",))})
    early_data: bool = field(metadata={ROW: Setting(
        "early_data", FLAG, "false",
        "whether HTTP/3 connections are resumed from an earlier load and begin with requests (0-RTT)", "true",
        meaningless_with=_WITHOUT_H3, aliases=("0-rtt", "zero_rtt"))})
    tls: str = field(metadata={ROW: Setting(
        "tls", choice("VERSION", "off", "1.2", "1.3", also=_TLS), "off", "TLS, in exactly this version", "1.3",
        aliases=("ssl", "https"))})
    tls_resumption: bool = field(metadata={ROW: Setting(
        "tls_resumption", FLAG, "true",
        "whether later connections may resume the session of an earlier one", "false",
        meaningless_with=(("tls", "off"),), aliases=("resumption",))})
    tls_certificate: str = field(metadata={ROW: Setting(
        "tls_certificate", choice("KIND", "ecdsa-p256", "rsa-2048"), "ecdsa-p256",
        "the key of the server's certificate", "rsa-2048", meaningless_with=(("tls", "off"),))})
    keepalive: bool = field(metadata={ROW: Setting(
        "keepalive", FLAG, "true", "whether a connection carries more than one request", "false",
        aliases=("keep_alive",))})
    keepalive_requests: int = field(metadata={ROW: Setting(
        "keepalive_requests", count("REQUESTS", "requests", 0, 1_000_000),
        "100",
        "how often HTTP/1.1 keeps a connection, which carries one request more, as Apache's MaxKeepAliveRequests; "
        "0: always", "0", meaningless_with=(("keepalive", False), *_WITH_SPDY))})
    keepalive_timeout: Duration = field(metadata={ROW: Setting(
        "keepalive_timeout", _KEPT_FOR, "5s",
        "how long the server waits for the next request on a connection", "500ms",
        meaningless_with=(("keepalive", False),))})
    compression: str = field(metadata={ROW: Setting(
        "compression", choice("NAME", "recorded", "off", "gzip", "brotli", "zstd", also=_COMPRESSION), "recorded",
        "what text is compressed with: as the site was recorded (and as mod_pagespeed did it, where `minify` "
        "rewrote an object), not at all, or by the server; with `zstd` before the trial. Browsers take `brotli` "
        "and `zstd` over TLS only, or by the gateway", "gzip", aliases=("gzip",))})
    schemes: str = field(metadata={ROW: Setting(
        "schemes", choice("WHICH", "arm", "recorded", also=_SCHEMES), "arm",
        "the scheme of the site's addresses: all as `tls` says, or each as it was recorded, in clear or with TLS",
        "recorded", meaningless_with=(("tls", "off"),), aliases=("scheme",))})
    server_directives: tuple[str, ...] = field(metadata={ROW: Setting(
        "server_directives", lines("directive", r".+", "Timeout 10"), "",
        "further lines for the end of the server's configuration, in its own language", "H2Push off", "", "none",
        aliases=("directives",))})
    via: str = field(metadata={ROW: Setting(
        "via", choice("WAY", "automatic", "browser", "gateway", also=_VIA), "automatic",
        "what speaks to the server: the browser itself, or the [gateway](gateway.md) beside it. `automatic`: the "
        "gateway only where the browser cannot", "gateway", aliases=("gateway", "path"))})
    pipelining: int = field(metadata={ROW: Setting(
        "pipelining", count("REQUESTS", "requests", 1, 100), "1",
        "how many requests a connection may have without an answer; above 1 through the gateway only", "4",
        meaningless_with=(("keepalive", False), *_WITH_MULTIPLEXING), aliases=("pipeline",))})
    pipelining_policy: str = field(metadata={ROW: Setting(
        "pipelining_policy", choice("POLICY", "eager", "firefox", "chromium"), "eager",
        "which requests are sent ahead of answers, and on which connection: [as Firefox, as Chromium, or as "
        "early as can be](gateway.md#pipelining)", "chromium",
        meaningless_with=(("pipelining", 1), ("keepalive", False), *_WITH_MULTIPLEXING))})
    connections_per_host: int = field(metadata={ROW: Setting(
        "connections_per_host", count("CONNECTIONS", "connections", 1, 256),
        "6",
        "HTTP/1.1 connections to one host at once. Chromium has 6 built in, other numbers go through the gateway",
        "2", meaningless_with=_WITH_MULTIPLEXING, aliases=("connections",))})
    coalescing: str = field(metadata={ROW: Setting(
        "coalescing", choice("BY", "address", "origin"), "address",
        "whether hosts at one address share a connection, as in Chromium, or each has its own (`origin`: through "
        "the gateway)", "origin", meaningless_with=(("protocol", "http/1.1"),))})
    backup_connections: bool = field(metadata={ROW: Setting(
        "backup_connections", FLAG, "false",
        "whether the gateway begins a second connection to a host whose first one is not there after 250 ms, as "
        "Chromium does by itself", "true")})
    spdy_header_compression: int = field(metadata={ROW: Setting(
        "spdy_header_compression", count("LEVEL", "zlib's level", 0, 9), "9",
        "how hard client and server compress SPDY's headers; 0: not at all", "0",
        meaningless_with=(("protocol", "http/1.1"), ("protocol", "h2"), ("protocol", "h3")))})
    tls_key_share: str = field(metadata={ROW: Setting(
        "tls_key_share", choice("GROUP", "browser", "x25519", "p-256"), "browser",
        "the key exchange that the client offers: as Chromium does today (X25519MLKEM768, then X25519), or a key "
        "of one curve alone, through the gateway", "p-256", meaningless_with=(("tls", "off"),))})
    # fmt: on

    @property
    def scheme(self) -> str:
        return "http" if self.tls == "off" else "https"

    @property
    def page_scheme(self) -> str:
        """Of the addresses that the browser is given: with the gateway it always speaks TLS."""
        return "https" if self.via == "gateway" else self.scheme

    @property
    def ports(self) -> tuple[str, ...]:
        """The schemes at whose ports the server listens."""
        return ("http", "https") if self.schemes == RECORDED else (self.scheme,)

    @property
    def multiplexed(self) -> bool:
        return self.protocol in MULTIPLEXED

    @property
    def spdy(self) -> str | None:
        """The version of SPDY; None where it is another protocol."""
        return self.protocol.removeprefix("spdy/") if self.protocol.startswith("spdy/") else None
