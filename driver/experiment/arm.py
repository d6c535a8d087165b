"""An arm: one treatment of the server and the browser, every setting resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from driver.browser.chromium.fields import CONNECTIONS_PER_HOST
from driver.experiment.arm_fields import ARM, MULTIPLEXED, shown
from model.errors import InputError
from model.units import Duration


@dataclass(frozen=True, slots=True)
class Arm:
    """One treatment. Settings that mean nothing beside the others have their default, so that equal arms are equal."""

    name: str
    server: str
    protocol: str
    tls: str
    tls_resumption: bool
    tls_certificate: str
    keepalive: bool
    keepalive_requests: int
    keepalive_timeout: Duration
    compression: str
    mpm: str
    start_servers: int
    threads_per_child: int
    max_workers: int
    server_directives: tuple[str, ...]
    dns: str
    addresses: str
    start: str
    display: str
    user_agent: str | None
    viewport: tuple[int, int]
    via: str  # browser or gateway: "automatic" is resolved
    pipelining: int
    connections_per_host: int
    coalescing: str
    browser_flags: tuple[str, ...]

    @classmethod
    def parse(cls, name: str, mapping: Mapping[str, object], defaults: Mapping[str, object] | None = None) -> Arm:
        """The arm that these settings ask for, laid over `defaults`.

        A setting that could do nothing is a mistake in `mapping`, but not in `defaults`, which are for several arms.
        """
        values = {key: ARM.read(key, value) for key, value in {**(defaults or {}), **mapping}.items()}
        for setting in ARM.settings:
            default = setting.default_value(values)
            for other, value in setting.meaningless_with:
                if _resolved(values, other) != value:
                    continue
                if setting.name in mapping and values[setting.name] != default:
                    remedy = f"Change {other}, or leave {setting.name} out"
                    raise InputError(f"it means nothing with {other}: {str(value).lower()}", remedy, key=setting.name)
                values[setting.name] = default
            values.setdefault(setting.name, default)
        if values["via"] == "automatic":
            values["via"] = "gateway" if _beyond_browser(values) else "browser"
        arm = cls(name=name, **values)
        _check(arm)
        return arm

    @property
    def scheme(self) -> str:
        return "http" if self.tls == "off" else "https"

    @property
    def page_scheme(self) -> str:
        """Of the addresses that the browser is given: with the gateway it always speaks TLS."""
        return "https" if self.via == "gateway" else self.scheme

    @property
    def multiplexed(self) -> bool:
        return self.protocol in MULTIPLEXED

    @property
    def spdy(self) -> str | None:
        """The version of SPDY; None where it is another protocol."""
        return self.protocol.removeprefix("spdy/") if self.protocol.startswith("spdy/") else None

    def settings(self) -> dict[str, Any]:
        """Every effective setting, as JSON; two arms with the same ones do the same."""
        return {name: shown(getattr(self, name)) for name in ARM.by_name}

    def to_mapping(self) -> dict[str, Any]:
        """The name and every effective setting, as JSON."""
        return {"name": self.name, **self.settings()}

    def changed(self) -> dict[str, Any]:
        """The settings that are not the default ones: what makes this arm what it is."""
        plain = Arm.parse(self.name, {"mpm": self.mpm})
        return {
            key: value
            for key, value in self.settings().items()
            if (key == "mpm" and value != ARM.by_name["mpm"].default)
            or (key != "mpm" and value != plain.settings()[key])
        }


def _resolved(values: Mapping[str, Any], name: str) -> object:
    return values[name] if name in values else ARM.by_name[name].default_value()


def _beyond_browser(values: Mapping[str, Any]) -> bool:
    """Whether only the gateway can do it."""
    return bool(
        values["protocol"].startswith("spdy/")
        or (values["protocol"] == "h2" and values["tls"] == "off")
        or values["pipelining"] > 1
        or values["connections_per_host"] != CONNECTIONS_PER_HOST
        or values["coalescing"] != "address"
    )


def _check(arm: Arm) -> None:
    """Combinations that cannot be."""
    if arm.via == "browser":
        _check_browser(arm)
    if arm.multiplexed:
        name = "HTTP/2" if arm.protocol == "h2" else "SPDY"
        if not arm.keepalive:
            what = f"{name} carries all requests on one connection, so it has no keepalive to switch off"
            raise InputError(what, "Leave keepalive out, or write protocol: http/1.1", key="keepalive")
        if arm.mpm == "prefork":
            what = f"Apache does not speak {name} with mpm: prefork"
            raise InputError(what, "Write mpm: event or mpm: worker", key="mpm")
    _check_workers(arm)


def _check_browser(arm: Arm) -> None:
    """What no browser of today can do by itself."""
    remedy = "Leave via out, or write via: gateway"
    if arm.spdy:
        raise InputError("no browser of today speaks SPDY", remedy, key="protocol")
    if arm.protocol == "h2" and arm.tls == "off":
        what = "browsers speak HTTP/2 over TLS only: without it Chromium would fall back to HTTP/1.1"
        raise InputError(what, f"Set tls: 1.3 too. {remedy}", key="protocol")
    if arm.pipelining > 1:
        raise InputError("no browser of today sends requests ahead of answers", remedy, key="pipelining")
    if arm.connections_per_host != CONNECTIONS_PER_HOST:
        what = f"Chromium opens at most {CONNECTIONS_PER_HOST} HTTP/1.1 connections to a host, and has no switch for it"
        raise InputError(what, remedy, key="connections_per_host")
    if arm.coalescing != "address":
        what = "Chromium lets hosts at one address share a connection, and has no switch for it"
        raise InputError(what, remedy, key="coalescing")
    if arm.compression == "brotli" and arm.tls == "off":
        what = "Chromium accepts brotli over TLS only"
        raise InputError(what, "Set tls: 1.3 too, or write compression: gzip, or via: gateway", key="compression")


def _check_workers(arm: Arm) -> None:
    """Apache would change such numbers by itself, with a line in its log."""
    if arm.max_workers % arm.threads_per_child:
        what = f"{arm.max_workers} workers are not a multiple of threads_per_child: {arm.threads_per_child}"
        nearest = max(arm.max_workers // arm.threads_per_child, 1) * arm.threads_per_child
        raise InputError(what, f"Write {nearest}, or set threads_per_child too", key="max_workers")
    if arm.start_servers * arm.threads_per_child > arm.max_workers:
        started = arm.start_servers * arm.threads_per_child
        what = f"{arm.start_servers} processes of {arm.threads_per_child} are {started}, more than {arm.max_workers}"
        most = arm.max_workers // arm.threads_per_child
        raise InputError(what, f"Write start_servers: {most} or less, or more max_workers", key="start_servers")
