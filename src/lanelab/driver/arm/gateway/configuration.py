"""An arm as the gateway's configuration. Pure. docs/reference/gateway.md explains each key."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.gateway.browser_side import browser_addresses
from lanelab.driver.arm.groups import groups
from lanelab.driver.arm.servers.resolver import ADDRESS as RESOLVER
from lanelab.driver.arm.servers.resolver import PORT as RESOLVER_PORT
from lanelab.driver.arm.servers.server import PORTS
from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.base.coded import JsonObject
from lanelab.driver.site.site import Site

VERSION = 1
PORT = 443


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


@dataclass(frozen=True, slots=True)
class Beside:
    """Says what is spoken with some of the hosts in place of what the others have."""

    hosts: tuple[str, ...]
    arm: WireSettings


@dataclass(frozen=True, slots=True)
class Spoken:
    """Says what the gateway speaks, and with whom."""

    arm: WireSettings
    names: Names
    listen: tuple[str, ...]  # addresses at which the browser finds the site's hosts
    beside: tuple[Beside, ...] = ()

    @classmethod
    def of(cls, arm: Arm, site: Site, addresses: Mapping[str, str]) -> "Spoken":
        """Return what an arm asks for with this site."""
        page, *others = groups(arm, site)
        beside = tuple(Beside(each.site.hosts, each.arm) for each in others)
        listen = tuple(dict.fromkeys(browser_addresses(site).values()))
        return cls(page.arm, Names(addresses, arm.dns), listen, beside)


def configuration(spoken: Spoken, place: Place, trusted: Sequence[str]) -> str:
    """Return the text of its configuration. `trusted`: SHA-256 of the public keys that a server may have, base64."""
    return json.dumps(_settings(spoken, place, trusted), indent=1) + "\n"


def _settings(spoken: Spoken, place: Place, trusted: Sequence[str]) -> JsonObject:
    beside: list[JsonObject] = [
        {"hosts": list(each.hosts), "wire": wire_settings(each.arm, trusted)} for each in spoken.beside
    ]
    return {
        "version": VERSION,
        "listen": [f"{address}:{PORT}" for address in spoken.listen],
        "certificate": place.certificate,
        "key": place.key,
        "log": place.log,
        "keylog": "" if spoken.arm.tls == "off" else place.keys,
        "dns": dns_settings(spoken.names),
        "wire": wire_settings(spoken.arm, trusted),
        **({"beside": beside} if beside else {}),
    }


def wire_settings(arm: WireSettings, trusted: Sequence[str]) -> JsonObject:
    """Return what is spoken on the link, and how. `trusted` is as above."""
    return {
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
    }


def dns_settings(names: Names) -> JsonObject:
    """Return where the hosts are found."""
    if names.dns == "resolver":
        return {"mode": "resolver", "server": f"{RESOLVER}:{RESOLVER_PORT}", "hosts": list(names.addresses)}
    return {"mode": "instant", "hosts": dict(names.addresses)}
