"""The settings that only arms with `server: nginx` have."""

from dataclasses import dataclass, field

from lanelab.driver.arm.servers.server import require_behind
from lanelab.driver.arm.servers.shared import count_or_auto
from lanelab.driver.arm.wire import OwnSettings, WireSettings
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import count, lines
from lanelab.driver.base.settings.setting import ROW, Setting

_LISTENS = "lanelab says where the server listens"
_COMPRESSION = "the setting compression is for that"
_TLS = "the setting tls is for that"
_LOG = "what is asked of the server is recorded"
_REFUSED = {
    "keepalive_requests": "the setting keepalive_requests is for that",
    "keepalive_timeout": "the setting keepalive_timeout is for that",
    "ssl_protocols": _TLS,
    "ssl_session_cache": "the setting tls_resumption is for that",
    "ssl_session_tickets": "the setting tls_resumption is for that",
    "ssl_certificate": "the setting tls_certificate is for that",
    "ssl_certificate_key": "the setting tls_certificate is for that",
    "http2": "the setting protocol is for that",
    "gzip": _COMPRESSION,
    "brotli": _COMPRESSION,
    "listen": _LISTENS,
    "include": "it may name a folder of the system's, which is not recorded; write its lines here",
    "error_log": "what the server complains of is part of a verdict",
    **dict.fromkeys(("access_log", "log_format"), _LOG),
}
DIRECTIVES = lines("directive", r"[a-z][a-z0-9_]*( [^{};]+)?;", "http2_max_concurrent_streams 32;", _REFUSED)


@dataclass(frozen=True)
class NginxSettings(OwnSettings):
    # fmt: off
    worker_processes: int | str = field(metadata={ROW: Setting(
        "worker_processes", count_or_auto("PROCESSES", "processes"), "auto",
        "nginx's processes; `auto`: one for each processor", "4", aliases=("workers",))})
    worker_connections: int = field(metadata={ROW: Setting(
        "worker_connections", count("CONNECTIONS", "connections", 32, 100_000), "512",
        "connections that each of nginx's processes has at most", "2048")})
    # fmt: on


def check(arm: WireSettings) -> None:
    """Raises InputError."""
    require_behind(arm, "nginx", ("http/1.1", "h2"))
    for directive in arm.server_directives:
        if directive.count('"') % 2 or directive.count("'") % 2:
            raise InputError(f"{directive!r} has a quote that is not closed", "Close it", key="server_directives")
