"""The setting of an arm that only Jetty has."""

from dataclasses import dataclass, field

from lanelab.driver.arm.servers.back_ends.fields import BackEndSettings
from lanelab.driver.base.settings.kinds import choice
from lanelab.driver.base.settings.setting import ROW, Setting


@dataclass(frozen=True)
class JettySettings(BackEndSettings):
    # fmt: off
    jetty_version: str = field(metadata={ROW: Setting(
        "jetty_version", choice("VERSION", "12", "9.2", "8.1", also={"9": "9.2", "8": "8.1"}), "12",
        "which Jetty: `12` speaks HTTP/2, `9.2` and `8.1` SPDY in clear", "9.2")})
    # fmt: on
