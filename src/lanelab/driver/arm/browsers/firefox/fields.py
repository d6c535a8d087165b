"""What Firefox adds to the settings of an arm."""

from lanelab.driver.arm.browsers.browser import SCREENSHOT, VITALS, FlagForm, Limit
from lanelab.driver.site.third_parties import is_host

CONNECTIONS_PER_HOST = 6  # network.http.max-persistent-connections-per-server, as it comes
_NAMES = "the site's names must lead to the server, and no other name anywhere"
_PROXY = "a proxy would stand between the browser and the link"
_PROTOCOL = "the setting protocol is for that"
# How preferences begin that a trial depends on, or that have a setting.
PREFS_REFUSED = {
    "general.useragent.override": "the setting user_agent is for that",
    "network.http.max-persistent-connections-per-server": "the setting connections_per_host is for that",
    "network.http.http2.coalesce-hostnames": "the setting coalescing is for that, through the gateway",
    "network.http.http2.enabled": _PROTOCOL,
    "network.http.http3.enable": _PROTOCOL,
    "network.http.http3.alt-svc-mapping-for-testing": "the setting h3_discovery is for that",
    "network.dns.native-is-localhost": _NAMES,
    "network.dns.forceResolve": _NAMES,
    "network.dns.localDomains": _NAMES,
    "network.trr.mode": _NAMES,
    "network.proxy.type": _PROXY,
    "remote.active-protocols": "lanelab leads the browser through it",
}
FLAGS = FlagForm(
    "preference", r"[A-Za-z][A-Za-z0-9._-]*=.*", "network.http.pacing.requests.enabled=false", PREFS_REFUSED
)
GIVES = frozenset({SCREENSHOT, VITALS})
_OTHER = "Leave it out, and the device that has it, or write browser: chromium"
_BY_GATEWAY = "Leave via out, or write via: gateway"
# fmt: off
LIMITS = (
    Limit("coalescing", lambda value: value == "address",
          "begins more connections to a host than HTTP/2 needs where hosts may not share them", _BY_GATEWAY,
          automatic=True),
    Limit("backup_connections", lambda value: not value,
          "begins backup connections by itself, and has no switch for it", _BY_GATEWAY, automatic=True),
    Limit("tls_key_share", lambda value: value == "browser",
          "has no switch that makes it offer {value} alone", _BY_GATEWAY, automatic=True),
    Limit("compression", lambda value: value not in ("brotli", "zstd"), "accepts {value} over TLS only",
          "Set tls: 1.3 too, or write compression: gzip, or via: gateway", when=("tls", "off")),
    Limit("touch", lambda value: not value, "cannot be made to believe in a screen to touch", _OTHER, of_link=False),
    Limit("cpu_slowdown", lambda value: value == 1, "has no slowdown of a page's processor", _OTHER, of_link=False),
    Limit("block", lambda value: all(map(is_host, value)), "has no list of addresses to block, but whole hosts",
          "Write hosts alone, or write browser: chromium", of_link=False),
    Limit("early_data", lambda value: not value, "cannot be brought to resume a session with requests",
          "Leave early_data out, or write browser: chromium"),
)
# fmt: on
