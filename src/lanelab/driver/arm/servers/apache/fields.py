"""The settings that only arms with `server: apache` have. Defaults are those of Apache 2.4 (its manual: mpm_common)."""

from dataclasses import dataclass, field

from lanelab.driver.arm.servers.server import require_behind
from lanelab.driver.arm.wire import OwnSettings, WireSettings, own_settings
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import choice, count, lines
from lanelab.driver.base.settings.setting import ROW, DefaultBy, Setting

_REFUSED = {
    "KeepAlive": "the setting keepalive is for that",
    "MaxKeepAliveRequests": "the setting keepalive_requests is for that",
    "KeepAliveTimeout": "the setting keepalive_timeout is for that",
    "Protocols": "the setting protocol is for that",
    "SpdyVersions": "the setting protocol is for that",
    "SpdyCleartext": "the setting protocol is for that",
    "SpdyScheduling": "the setting scheduling is for that",
    "SpdyHeaderCompression": "the setting spdy_header_compression is for that",
    "StartServers": "the setting start_servers is for that",
    "ThreadsPerChild": "the setting threads_per_child is for that",
    "MaxRequestWorkers": "the setting max_workers is for that",
    "MaxClients": "the setting max_workers is for that",
    "Listen": "lanelab says where the server listens",
    **dict.fromkeys(("LogLevel", "ErrorLog", "ErrorLogFormat"), "what the server complains of is part of a verdict"),
    **dict.fromkeys(("CustomLog", "TransferLog", "LogFormat", "GlobalLog"), "what is asked of the server is recorded"),
}
DIRECTIVES = lines("directive", r"</?[A-Za-z].*>|[A-Za-z][A-Za-z0-9]*( .*)?", "Timeout 10", _REFUSED)


@dataclass(frozen=True)
class ApacheSettings(OwnSettings):
    # fmt: off
    mpm: str = field(metadata={ROW: Setting(
        "mpm", choice("NAME", "event", "worker", "prefork"), "event",
        "how Apache divides its work among processes and threads", "prefork")})
    start_servers: int = field(metadata={ROW: Setting(
        "start_servers", count("PROCESSES", "processes", 1, 1000),
        DefaultBy("mpm", {"event": "3", "worker": "3", "prefork": "5"}), "processes at the start", "1")})
    threads_per_child: int = field(metadata={ROW: Setting(
        "threads_per_child", count("THREADS", "threads", 1, 1000),
        DefaultBy("mpm", {"event": "25", "worker": "25", "prefork": "1"}), "threads of each process", "50",
        meaningless_with=(("mpm", "prefork"),))})
    max_workers: int = field(metadata={ROW: Setting(
        "max_workers", count("WORKERS", "workers", 1, 20_000),
        DefaultBy("mpm", {"event": "400", "worker": "400", "prefork": "256"}),
        "requests that are served at once: a multiple of `threads_per_child`", "600",
        aliases=("max_clients", "max_request_workers"))})
    # fmt: on


def check(arm: WireSettings) -> None:
    """Apache would change such settings by itself, with a line in its log. Raises InputError."""
    settings = own_settings(arm, ApacheSettings)
    require_behind(arm, "Apache", ("http/1.1", "h2", "spdy/3", "spdy/3.1"))
    if arm.multiplexed and settings.mpm == "prefork":
        what = f"Apache does not speak {'SPDY' if arm.spdy else 'HTTP/2'} with mpm: prefork"
        raise InputError(what, "Write mpm: event or mpm: worker", key="mpm")
    for directive in arm.server_directives:
        if directive.endswith("\\"):
            raise InputError(f"{directive!r} is not one line", "Write one directive per line", key="server_directives")
    if settings.max_workers % settings.threads_per_child:
        what = f"{settings.max_workers} workers are not a multiple of threads_per_child: {settings.threads_per_child}"
        nearest = max(settings.max_workers // settings.threads_per_child, 1) * settings.threads_per_child
        raise InputError(what, f"Write {nearest}, or set threads_per_child too", key="max_workers")
    if settings.start_servers * settings.threads_per_child > settings.max_workers:
        started = settings.start_servers * settings.threads_per_child
        what = f"{settings.start_servers} processes of {settings.threads_per_child} are {started}, more than "
        what += f"{settings.max_workers}"
        most = settings.max_workers // settings.threads_per_child
        raise InputError(what, f"Write start_servers: {most} or less, or more max_workers", key="start_servers")
