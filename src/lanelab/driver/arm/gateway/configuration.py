"""An arm as the gateway's configuration. Pure. docs/reference/gateway.md explains each key."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lanelab.driver.arm.servers.resolver import ADDRESS as RESOLVER
from lanelab.driver.arm.servers.resolver import PORT as RESOLVER_PORT
from lanelab.driver.arm.servers.server import PORTS
from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.base.coded import JsonObject

VERSION = 1
ADDRESS, PORT = "127.0.0.1", 443  # where the browser finds it: on the node's loopback, where no packet meets the link


@dataclass(frozen=True, slots=True)
class Place:
    """The places of the gateway's things on its node."""

    folder: str

    @property
    def configuration(self) -> str:
        return f"{self.folder}/gateway.json"

    @property
    def certificate(self) -> str:
        return f"{self.folder}/certificate.pem"

    @property
    def key(self) -> str:
        return f"{self.folder}/key.pem"

    @property
    def log(self) -> str:
        return f"{self.folder}/gateway.jsonl"

    @property
    def keys(self) -> str:
        return f"{self.folder}/keys.log"


@dataclass(frozen=True, slots=True)
class Names:
    """How the gateway finds the site's hosts, as the arm says."""

    addresses: Mapping[str, str]
    dns: str  # instant or resolver


def configuration(arm: WireSettings, names: Names, place: Place, trusted: Sequence[str]) -> str:
    """Return the text of its configuration. `trusted`: SHA-256 of the public keys that a server may have, base64."""
    return json.dumps(_settings(arm, names, place, trusted), indent=1) + "\n"


def _settings(arm: WireSettings, names: Names, place: Place, trusted: Sequence[str]) -> JsonObject:
    return {
        "version": VERSION,
        "listen": f"{ADDRESS}:{PORT}",
        "certificate": place.certificate,
        "key": place.key,
        "log": place.log,
        "keylog": "" if arm.tls == "off" else place.keys,
        "dns": _dns(names),
        "wire": {
            "protocol": arm.protocol,
            "port": PORTS[arm.scheme],
            "tls": arm.tls,
            "tls_resumption": arm.tls_resumption,
            "trust": [] if arm.tls == "off" else list(trusted),
            "keepalive": arm.keepalive,
            "pipelining": arm.pipelining,
            "pipelining_policy": arm.pipelining_policy,
            "connections_per_host": arm.connections_per_host,
            "coalescing": arm.coalescing if arm.multiplexed else "origin",  # connections for several hosts, else none
            "backup_connections": arm.backup_connections,
            "spdy_header_compression": arm.spdy_header_compression,
            "stream_window": arm.stream_window,
            "connection_window": arm.connection_window,
            "max_concurrent_streams": arm.max_concurrent_streams,
            "priorities": arm.priorities,
            "push": arm.push != "off",
            "tls_key_share": arm.tls_key_share,
        },
    }


def _dns(names: Names) -> JsonObject:
    if names.dns == "resolver":
        return {"mode": "resolver", "server": f"{RESOLVER}:{RESOLVER_PORT}", "hosts": list(names.addresses)}
    return {"mode": "instant", "hosts": dict(names.addresses)}
