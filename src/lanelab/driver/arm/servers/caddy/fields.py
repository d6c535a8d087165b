"""The settings that only arms with `server: caddy` have."""

from dataclasses import dataclass, field

from lanelab.driver.arm.servers.shared import count_or_auto, require_no_proxy
from lanelab.driver.arm.wire import OwnSettings, WireSettings
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import lines
from lanelab.driver.base.settings.setting import ROW, Setting

DIRECTIVES = lines("directive", r".+", "none")


@dataclass(frozen=True)
class CaddySettings(OwnSettings):
    # fmt: off
    caddy_processors: int | str = field(metadata={ROW: Setting(
        "caddy_processors", count_or_auto("PROCESSORS", "processors"), "auto",
        "processors that Caddy uses at once (`GOMAXPROCS`); `auto`: all", "1")})
    # fmt: on


def check(arm: WireSettings) -> None:
    """Raises InputError."""
    require_no_proxy(arm, "Caddy")
    if arm.server_directives:
        what = "lanelab writes Caddy's configuration as JSON, which takes no further lines"
        raise InputError(what, "Leave server_directives out, or write another server", key="server_directives")
    if arm.keepalive and arm.keepalive_requests and not arm.multiplexed:
        what = "Caddy does not count what a connection carries"
        raise InputError(what, "Write keepalive_requests: 0, or another server", key="keepalive_requests")
