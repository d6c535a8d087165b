"""What an arm with `server: webfs` can say. webfs has few options, and no configuration."""

from dataclasses import dataclass, field

from lanelab.driver.arm.servers.shared import MAX_CONNECTIONS, require_no_proxy
from lanelab.driver.arm.wire import OwnSettings, WireSettings, own_settings
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import lines
from lanelab.driver.base.settings.setting import ROW
from lanelab.driver.base.units import Duration

DIRECTIVES = lines("directive", r".+", "none")
KEPT_FOR = Duration.parse("5s")
MOST_CONNECTIONS = 500  # each may have a file too, and webfs waits by select(), which knows 1024 of both


@dataclass(frozen=True)
class WebfsSettings(OwnSettings):
    # fmt: off
    max_connections: int = field(metadata={ROW: MAX_CONNECTIONS})
    # fmt: on


def check(arm: WireSettings) -> None:
    """Raises InputError."""
    settings = own_settings(arm, WebfsSettings)
    require_no_proxy(arm, "webfs")
    if arm.server_directives:
        what = "webfs has no configuration to which lines could be added"
        raise InputError(what, "Leave server_directives out, or write another server", key="server_directives")
    if not arm.keepalive:
        what = "webfs has no switch for keepalive"
        raise InputError(what, "Leave keepalive out, or write another server", key="keepalive")
    if arm.keepalive_requests:
        what = "webfs does not count what a connection carries"
        raise InputError(what, "Write keepalive_requests: 0, or another server", key="keepalive_requests")
    if arm.keepalive_timeout != KEPT_FOR:
        what = f"webfs waits {KEPT_FOR} for the next request, and has no option for it"
        raise InputError(what, f"Write keepalive_timeout: {KEPT_FOR}, or another server", key="keepalive_timeout")
    if settings.max_connections > MOST_CONNECTIONS:
        what = f"webfs cannot have {settings.max_connections} connections at once"
        raise InputError(what, f"Write {MOST_CONNECTIONS} or less, or another server", key="max_connections")
