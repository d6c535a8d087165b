"""Jetty, alone or behind a proxy: today's, the last one with SPDY, and that of 2013."""

from dataclasses import dataclass, field

from lanelab.driver.arm.servers.back_ends import fields
from lanelab.driver.arm.servers.back_ends.fields import BackEndSettings
from lanelab.driver.arm.servers.back_ends.server import BackEnd
from lanelab.driver.arm.wire import WireSettings, own_settings
from lanelab.driver.base.settings.kinds import choice
from lanelab.driver.base.settings.setting import ROW, Setting


@dataclass(frozen=True)
class JettySettings(BackEndSettings):
    # fmt: off
    jetty_version: str = field(metadata={ROW: Setting(
        "jetty_version", choice("VERSION", "12", "9.2", "8.1", also={"9": "9.2", "8": "8.1"}), "12",
        "which Jetty: `12` speaks HTTP/2, `9.2` and `8.1` SPDY in clear", "9.2")})
    # fmt: on


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
    own_kind = JettySettings

    def check(self, arm: WireSettings) -> None:
        version = own_settings(arm, JettySettings).jetty_version
        fields.check(arm, f"Jetty {version}", *SPOKEN[version])

    def back_end(self, arm: WireSettings) -> str:
        return f"jetty-{own_settings(arm, JettySettings).jetty_version}"
