"""The settings that only arms with `server: lighttpd` have."""

from dataclasses import dataclass, field

from lanelab.driver.arm.servers.shared import MAX_CONNECTIONS, require_no_proxy
from lanelab.driver.arm.wire import OwnSettings, WireSettings
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import count, lines
from lanelab.driver.base.settings.setting import ROW, Setting

MOST_KEPT = 65_535
_LISTENS = "lanelab says where the server listens"
_KEEPALIVE = "the settings keepalive, keepalive_requests and keepalive_timeout are for that"
_COMPLAINTS = "what the server complains of is part of a verdict"
_REFUSED = {
    "server.max-keep-alive-requests": _KEEPALIVE,
    "server.max-keep-alive-idle": _KEEPALIVE,
    "server.max-worker": "the setting lighttpd_workers is for that",
    "server.max-connections": "the setting max_connections is for that",
    "server.max-fds": "the setting max_connections is for that",
    "server.feature-flags": "the setting protocol is for that",
    "server.port": _LISTENS,
    "server.bind": _LISTENS,
    "include": "it may name a folder of the system's, which is not recorded; write its lines here",
    "include_shell": "what a shell says is not recorded; write its lines here",
    **dict.fromkeys(("server.errorlog", "server.breakagelog"), _COMPLAINTS),
    **dict.fromkeys(("accesslog.filename", "accesslog.format"), "what is asked of the server is recorded"),
}
_LINE = r"[a-z][a-z0-9_.-]*( ?\+?=.*| \".*\")"
DIRECTIVES = lines("directive", _LINE, 'server.network-backend = "writev"', _REFUSED)


@dataclass(frozen=True)
class LighttpdSettings(OwnSettings):
    # fmt: off
    lighttpd_workers: int = field(metadata={ROW: Setting(
        "lighttpd_workers", count("PROCESSES", "processes", 0, 512), "0",
        "lighttpd's worker processes (`server.max-worker`); 0: one process does everything, as it is by default",
        "2")})
    max_connections: int = field(metadata={ROW: MAX_CONNECTIONS})
    # fmt: on


def check(arm: WireSettings) -> None:
    """Raises InputError."""
    require_no_proxy(arm, "lighttpd")
    if arm.keepalive and not arm.multiplexed and arm.keepalive_timeout.ns % 1_000_000_000:
        what = f"lighttpd waits whole seconds for the next request, not {arm.keepalive_timeout}"
        raise InputError(what, "Write keepalive_timeout: 1s, 2s, …", key="keepalive_timeout")
    if arm.keepalive and not arm.multiplexed and not 1 <= arm.keepalive_requests <= MOST_KEPT:
        what = f"lighttpd keeps a connection 1 to {MOST_KEPT} times"
        raise InputError(what, f"Write keepalive_requests: {MOST_KEPT}", key="keepalive_requests")
