"""What Chromium adds to the settings of an arm."""

from lanelab.driver.arm.browsers.browser import NETLOG, SCREENSHOT, TRACE, VITALS, FlagForm, Limit

CONNECTIONS_PER_HOST = 6  # HTTP/1.1 connections that Chromium opens to one host at most; it has no switch for it
_OURS = "lanelab gives the browser its own"
_LED = "lanelab leads the browser through a port of its own"
_NAMES = "the site's names must lead to the server, and no other name anywhere"
_PROXY = "a proxy would stand between the browser and the link"
# Flags that a trial depends on, or that have a setting. No other list says which flags a user cannot give.
FLAGS_REFUSED = {
    "--user-agent": "the setting user_agent is for that",
    "--window-size": "the setting viewport is for that",
    "--headless": "the setting display is for that",
    "--user-data-dir": _OURS,
    "--remote-debugging-port": _LED,
    "--remote-debugging-pipe": _LED,
    "--remote-debugging-address": _LED,
    "--host-resolver-rules": _NAMES,
    "--host-rules": _NAMES,
    "--ssl-key-log-file": "the trial's keys are kept beside its capture",
    "--log-net-log": "the key netlog of the experiment is for that",
    "--ignore-certificate-errors-spki-list": "the run's own authority is what is trusted",
    "--proxy-server": _PROXY,
    "--proxy-pac-url": _PROXY,
    "--single-process": "a browser in one process has no sandbox and other timing",
}
FLAGS = FlagForm("flag", r"--[a-z][a-z0-9-]*(=.*)?", "--disable-quic", FLAGS_REFUSED)
# What an arm with HTTP/3 decides itself.
_OF_QUIC = ("--disable-quic", "--enable-quic", "--origin-to-force-quic-on", "--force-fieldtrial")
GIVES = frozenset({SCREENSHOT, TRACE, NETLOG, VITALS})
_BY_GATEWAY = "Leave via out, or write via: gateway"
LIMITS = (
    Limit(
        "start",
        lambda value: value != "fresh-context",
        "takes what comes first, HTTP/2 or HTTP/3, in a context that does not know whether QUIC works here",
        "Write start: fresh-process, or h3_discovery: forced",
        when=("h3_discovery", "https-record"),
    ),
    Limit(
        "start",
        lambda value: value != "fresh-context",
        "resumes no session of another context",
        "Write start: fresh-process, with an empty cache, or warm, or early_data: false",
        when=("early_data", True),
    ),
    Limit(
        "browser_flags",
        lambda value: not any(str(flag).startswith(_OF_QUIC) for flag in value),
        "gets its flags of QUIC from h3_discovery and early_data",
        "Leave those flags out, or write another protocol",
        when=("protocol", "h3"),
    ),
    Limit(
        "connections_per_host",
        lambda value: value == CONNECTIONS_PER_HOST,
        f"opens at most {CONNECTIONS_PER_HOST} HTTP/1.1 connections to a host, and has no switch for it",
        _BY_GATEWAY,
        automatic=True,
    ),
    Limit(
        "coalescing",
        lambda value: value == "address",
        "lets hosts at one address share a connection, and has no switch for it",
        _BY_GATEWAY,
        automatic=True,
    ),
    Limit(
        "backup_connections",
        lambda value: not value,
        "begins backup connections by itself, and has no switch for it",
        _BY_GATEWAY,
        automatic=True,
    ),
    Limit(
        "tls_key_share",
        lambda value: value == "browser",
        "has no switch that makes it offer {value} alone",
        _BY_GATEWAY,
        automatic=True,
    ),
    Limit(
        "compression",
        lambda value: value not in ("brotli", "zstd"),
        "accepts {value} over TLS only",
        "Set tls: 1.3 too, or write compression: gzip, or via: gateway",
        when=("tls", "off"),
    ),
)
