"""`ARM_FIELDS` is the one table of what an arm says: reading, printing, JSON schema and reference derive from it.

Defaults are those of Apache 2.4 (its manual: core, mpm_common) and of Chromium, save where a help text says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from driver.browser.chromium.fields import CONNECTIONS_PER_HOST, FLAGS_REFUSED
from model.errors import InputError
from model.settings.kinds import DURATION, FLAG, Kind, choice, count
from model.settings.text_kinds import USER_AGENT, VIEWPORT, lines
from model.units import Duration

MULTIPLEXED = ("h2", "spdy/3.1", "spdy/3", "spdy/2")  # protocols that carry all requests on one connection
LONGEST_KEEPALIVE = Duration.parse("1000s")


def _keepalive_timeout(value: object, key: str) -> Duration:
    timeout = Duration.parse(value, key=key)
    if not timeout or timeout.ns % 1_000_000 or timeout > LONGEST_KEEPALIVE:
        what = f"Apache cannot wait {timeout} for the next request"
        raise InputError(what, f"Write whole milliseconds from 1ms to {LONGEST_KEEPALIVE}", key=key)
    return timeout


_PROTOCOLS = {"http/2": "h2", "http2": "h2", "h2c": "h2", "h1": "http/1.1", "http1": "http/1.1", "http": "http/1.1"}
_PROTOCOLS |= {"spdy": "spdy/3.1", "spdy3.1": "spdy/3.1", "spdy3": "spdy/3", "spdy2": "spdy/2"}
_VIA = {"native": "browser", "chromium": "browser", "direct": "browser", "auto": "automatic", "proxy": "gateway"}
_WITH_SPDY = tuple(("protocol", protocol) for protocol in MULTIPLEXED if protocol.startswith("spdy/"))
_WITH_MULTIPLEXING = tuple(("protocol", protocol) for protocol in MULTIPLEXED)
_TLS = {"true": "1.3", "on": "1.3", "yes": "1.3", "tls1.3": "1.3", "tls1.2": "1.2", "false": "off", "no": "off"}
_COMPRESSION = {"br": "brotli", "deflate": "gzip", "on": "gzip", "true": "gzip", "false": "off", "no": "off"}
_DIRECTIVES_TAKEN = {
    "KeepAlive": "the setting keepalive is for that",
    "MaxKeepAliveRequests": "the setting keepalive_requests is for that",
    "KeepAliveTimeout": "the setting keepalive_timeout is for that",
    "Protocols": "the setting protocol is for that",
    "SpdyVersions": "the setting protocol is for that",
    "SpdyCleartext": "the setting protocol is for that",
    "StartServers": "the setting start_servers is for that",
    "ThreadsPerChild": "the setting threads_per_child is for that",
    "MaxRequestWorkers": "the setting max_workers is for that",
    "MaxClients": "the setting max_workers is for that",
    "Listen": "lanelab says where the server listens",
    **dict.fromkeys(("LogLevel", "ErrorLog", "ErrorLogFormat"), "what the server complains of is part of a verdict"),
    **dict.fromkeys(("CustomLog", "TransferLog", "LogFormat", "GlobalLog"), "what is asked of the server is recorded"),
}


@dataclass(frozen=True, slots=True)
class ArmField:
    """One thing that an arm says."""

    name: str
    kind: Kind
    default: str | Mapping[str, str]  # as a user would write it; or that of each mpm
    help: str
    example: str
    useless: tuple[tuple[str, object], ...] = ()  # (field, value): with that value of the field this one means nothing

    def default_for(self, mpm: str) -> str | tuple[()]:
        if self.kind.metavar == "LIST":
            return ()
        return self.default if isinstance(self.default, str) else self.default[mpm]

    @property
    def default_words(self) -> str:
        if isinstance(self.default, str):
            return f"`{self.default}`" if self.default else "none"
        usual = self.default["event"]
        return f"`{usual}`; " + ", ".join(f"{mpm}: `{n}`" for mpm, n in self.default.items() if n != usual)


# fmt: off
ARM_FIELDS: tuple[ArmField, ...] = (
    ArmField("server", choice("NAME", "apache"), "apache", "the web server", "apache"),
    ArmField("protocol", choice("NAME", "http/1.1", *MULTIPLEXED, also=_PROTOCOLS), "http/1.1",
             "what is spoken on the link; every request is checked. SPDY and `h2` without `tls` go through the gateway",
             "h2"),
    ArmField("tls", choice("VERSION", "off", "1.2", "1.3", also=_TLS), "off", "TLS, in exactly this version", "1.3"),
    ArmField("tls_resumption", FLAG, "true",
             "whether later connections may resume the session of an earlier one", "false", (("tls", "off"),)),
    ArmField("tls_certificate", choice("KIND", "ecdsa-p256", "rsa-2048"), "ecdsa-p256",
             "the key of the server's certificate", "rsa-2048", (("tls", "off"),)),
    ArmField("keepalive", FLAG, "true", "whether a connection carries more than one request", "false"),
    ArmField("keepalive_requests", count("REQUESTS", "requests", 0, 1_000_000), "100",
             "Apache's MaxKeepAliveRequests: how often HTTP/1.1 keeps a connection, which carries one more; 0: always",
             "0", (("keepalive", False), *_WITH_SPDY)),
    ArmField("keepalive_timeout", Kind("DURATION", "whole milliseconds", _keepalive_timeout, (), DURATION.schema), "5s",
             "how long the server waits for the next request on a connection", "500ms", (("keepalive", False),)),
    ArmField("compression", choice("NAME", "off", "gzip", "brotli", also=_COMPRESSION), "off",
             "what the server compresses text with. Chromium takes `brotli` over TLS only, or by the gateway", "gzip"),
    ArmField("mpm", choice("NAME", "event", "worker", "prefork"), "event",
             "how Apache divides its work among processes and threads", "prefork"),
    ArmField("start_servers", count("PROCESSES", "processes", 1, 1000),
             {"event": "3", "worker": "3", "prefork": "5"}, "processes at the start", "1"),
    ArmField("threads_per_child", count("THREADS", "threads", 1, 1000),
             {"event": "25", "worker": "25", "prefork": "1"}, "threads of each process", "50", (("mpm", "prefork"),)),
    ArmField("max_workers", count("WORKERS", "workers", 1, 20_000),
             {"event": "400", "worker": "400", "prefork": "256"},
             "requests that are served at once: a multiple of `threads_per_child`", "600"),
    ArmField("server_directives", lines("directive", r"</?[A-Za-z].*>|[A-Za-z][A-Za-z0-9]*( .*)?", "Timeout 10",
                                        _DIRECTIVES_TAKEN), "",
             "further lines for the end of the server's configuration", "H2Push off"),
    ArmField("start", choice("HOW", "fresh-process", "fresh-context", "warm"), "fresh-process",
             "how cold the browser is: a new process and profile for each trial, a new context in the same process "
             "(faster, nearly as cold), or a repeat view with a full cache", "fresh-context"),
    ArmField("display", choice("HOW", "headless", "headful"), "headless",
             "without a screen, or with one that nobody sees (Xvfb)", "headful"),
    ArmField("user_agent", USER_AGENT, "default", "what the browser says it is", "Mozilla/5.0 (Windows Phone)"),
    ArmField("viewport", VIEWPORT, "1366x768", "size of the page's view; lanelab's own default", "412x823"),
    ArmField("via", choice("WAY", "automatic", "browser", "gateway", also=_VIA), "automatic",
             "what speaks to the server: the browser itself, or the [gateway](gateway.md) beside it. `automatic`: the "
             "gateway only where the browser cannot", "gateway"),
    ArmField("pipelining", count("REQUESTS", "requests", 1, 100), "1",
             "how many requests a connection may have without an answer; above 1 through the gateway only", "4",
             (("keepalive", False), *_WITH_MULTIPLEXING)),
    ArmField("connections_per_host", count("CONNECTIONS", "connections", 1, 256), str(CONNECTIONS_PER_HOST),
             "HTTP/1.1 connections to one host at once. Chromium has 6 built in, other numbers go through the gateway",
             "2", _WITH_MULTIPLEXING),
    ArmField("coalescing", choice("BY", "address", "origin"), "address",
             "whether hosts at one address share a connection, as in Chromium, or each has its own (`origin`: through "
             "the gateway)", "origin", (("protocol", "http/1.1"),)),
    ArmField("browser_flags", lines("flag", r"--[a-z][a-z0-9-]*(=.*)?", "--disable-quic", FLAGS_REFUSED), "",
             "further flags for the browser", "--blink-settings=imagesEnabled=false"),
)
# fmt: on
ARM_FIELD: Mapping[str, ArmField] = {field.name: field for field in ARM_FIELDS}
ALSO_CALLED = {
    "keep_alive": "keepalive",
    "ssl": "tls",
    "https": "tls",
    "http": "protocol",
    "resumption": "tls_resumption",
    "gateway": "via",
    "path": "via",
    "pipeline": "pipelining",
    "connections": "connections_per_host",
    "gzip": "compression",
    "headless": "display",
    "max_clients": "max_workers",
    "max_request_workers": "max_workers",
    "directives": "server_directives",
    "flags": "browser_flags",
}


def arm_table() -> str:
    """The reference of what an arm says, in Markdown."""
    rows = ["| setting | written as | default | meaning | example |", "| --- | --- | --- | --- | --- |"]
    for field in ARM_FIELDS:
        useless = ", ".join(f"`{name}: {str(shown(value)).lower()}`" for name, value in field.useless)
        meaning = field.help + (f"; means nothing with {useless}" if useless else "")
        rows.append(
            f"| `{field.name}` | {field.kind.written} | {field.default_words} | {meaning} | "
            f"`{field.name}: {field.example}` |"
        )
    return "\n".join(rows)


def shown(value: object) -> object:
    """A value as JSON has it; booleans and texts read back."""
    if isinstance(value, Duration):
        return str(value)
    if isinstance(value, tuple):
        return "x".join(map(str, value)) if value and isinstance(value[0], int) else list(value)
    return value
