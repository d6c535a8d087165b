"""Jetty, alone or behind a proxy: today's, the last one with SPDY, and that of 2013."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lanelab.driver.arm.servers.back_ends import fields
from lanelab.driver.arm.servers.back_ends.server import BackEnd
from lanelab.driver.arm.servers.jetty.fields import JETTY_VERSION
from lanelab.driver.arm.servers.server import ServerArm

# What each version speaks in clear, and with TLS. SPDY over TLS would need changes to Java that only Java 7 and 8 took;
# with TLS the old ones are not offered at all.
HTTP, SPDY = frozenset({"http/1.1"}), frozenset({"spdy/3", "spdy/2"})
SPOKEN = {
    "12": (HTTP | {"h2"}, HTTP | {"h2"}),
    "9.2": (HTTP | SPDY, frozenset[str]()),
    "8.1": (HTTP | SPDY, frozenset[str]()),
}


class Jetty(BackEnd):
    name = "jetty"
    title = "Jetty"
    protocols = frozenset({"http/1.1", "h2", "spdy/3", "spdy/2"})
    settings = (JETTY_VERSION, fields.THREADS, fields.HEAP)

    def values(self, values: Mapping[str, Any]) -> object:
        return fields.BackEndSettings(**values)

    def check(self, arm: ServerArm) -> None:
        version = fields.settings_of(arm).jetty_version
        fields.check(arm, f"Jetty {version}", *SPOKEN[version])

    def back_end(self, arm: ServerArm) -> str:
        return f"jetty-{fields.settings_of(arm).jetty_version}"
