"""The settings that only arms with `server: h2o` have."""

from dataclasses import dataclass, field

from lanelab.driver.arm.servers.shared import MAX_CONNECTIONS, count_or_auto, require_no_proxy
from lanelab.driver.arm.wire import OwnSettings, WireSettings
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import lines
from lanelab.driver.base.settings.setting import ROW, Setting

_LISTENS = "lanelab says where the server listens"
_REFUSED = {
    "num-threads": "the setting h2o_threads is for that",
    "max-connections": "the setting max_connections is for that",
    "http1-request-timeout": "the setting keepalive_timeout is for that",
    "http2-idle-timeout": "the setting keepalive_timeout is for that",
    "http1-upgrade-to-http2": "the setting protocol is for that",
    "ssl-session-resumption": "the setting tls_resumption is for that",
    "compress": "the setting compression is for that",
    "gzip": "the setting compression is for that",
    "listen": _LISTENS,
    "hosts": "lanelab says what the server answers",
    "user": "the server runs as the node's only user",
    "error-log": "what the server complains of is part of a verdict",
    "access-log": "what is asked of the server is recorded",
}
_NAMES = {f"{name}:": why for name, why in _REFUSED.items()}
DIRECTIVES = lines("directive", r"[a-z][a-z0-9.-]*: .+", "http2-max-concurrent-requests-per-connection: 50", _NAMES)


@dataclass(frozen=True)
class H2oSettings(OwnSettings):
    # fmt: off
    h2o_threads: int | str = field(metadata={ROW: Setting(
        "h2o_threads", count_or_auto("THREADS", "threads"), "auto",
        "h2o's threads (`num-threads`); `auto`: one for each processor", "4")})
    max_connections: int = field(metadata={ROW: MAX_CONNECTIONS})
    # fmt: on


def check(arm: WireSettings) -> None:
    """Raises InputError."""
    require_no_proxy(arm, "h2o")
    if not arm.keepalive:
        what = "h2o keeps every connection: it has no switch for that"
        raise InputError(what, "Leave keepalive out, or write another server", key="keepalive")
    if arm.keepalive_requests and not arm.multiplexed:
        what = "h2o does not count what a connection carries"
        raise InputError(what, "Write keepalive_requests: 0, or another server", key="keepalive_requests")
    if arm.keepalive_timeout.ns % 1_000_000_000:
        what = f"h2o waits whole seconds for the next request, not {arm.keepalive_timeout}"
        raise InputError(what, "Write keepalive_timeout: 1s, 2s, …", key="keepalive_timeout")
