"""An arm's proxy as the gateway's configuration. Pure. docs/reference/proxy.md explains it."""

import json

from lanelab.driver.arm.proxies.fields import ProxySettings
from lanelab.driver.arm.proxies.proxy import BACK_END
from lanelab.driver.arm.servers.server import BACK_END_PORT, PORTS, Place

VERSION = 1
LOG = "access.log"  # its own log, a line for each request and connection
CONNECTIONS_OF_HTTP1 = 256  # to the server behind, at most: the most that the gateway has for one host


def configuration(arm: ProxySettings, place: Place) -> str:
    """Return the text of its configuration."""
    settings = {
        "version": VERSION,
        "listen": f"0.0.0.0:{PORTS[arm.scheme]}",
        "certificate": "" if arm.tls == "off" else place.certificate,
        "key": "" if arm.tls == "off" else place.key,
        "log": f"{place.folder}/{LOG}",
        "wire": _wire(arm),
        "reverse": {
            "on": True,
            "address": BACK_END,
            "protocol": arm.protocol,
            "tls": arm.tls,
            "tls_resumption": arm.tls_resumption,
            "keepalive": arm.keepalive,
            "keepalive_ms": arm.keepalive_timeout.ns // 1_000_000,
            "window": arm.proxy_window,
            "connections": arm.proxy_connections,
        },
    }
    return json.dumps(settings, indent=1) + "\n"


def _wire(arm: ProxySettings) -> dict[str, object]:
    wire: dict[str, object] = {"protocol": arm.proxy_protocol, "port": BACK_END_PORT, "tls": "off"}
    if arm.proxy_protocol == "http/1.1":
        wire["connections_per_host"] = CONNECTIONS_OF_HTTP1
    return wire
