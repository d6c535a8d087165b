"""An arm's proxy as a whole httpd.conf. Pure. docs/reference/proxy.md says the same for users, with the reasons."""

from lanelab.driver.arm.proxies.fields import THREADS_PER_CHILD, ProxySettings
from lanelab.driver.arm.proxies.proxy import BACK_END, IDLE_S, PATIENCE_S
from lanelab.driver.arm.servers.apache.configuration import of_connections, tls
from lanelab.driver.arm.servers.server import BACK_END_PORT, NOBODY, PORTS, Place

# What carries requests to the server behind: the module, and what addresses begin with.
SPOKEN = {"http/1.1": ("proxy_http", "http"), "ajp": ("proxy_ajp", "ajp"), "h2": ("proxy_http2", "h2c")}
START_SERVERS = {"event": 3, "worker": 3, "prefork": 5}
ACCESS_FORMAT = (
    r"{\"began_us\":%{begin:usec}t,\"duration_us\":%D,\"request\":\"%r\",\"status\":%>s,\"body_bytes\":%B,"
    r"\"remote\":\"%{c}a:%{remote}p\"}"
)


def configuration(arm: ProxySettings, place: Place, folder: str, names: frozenset[str], *, log_requests: bool) -> str:
    """Return the text of httpd.conf. `folder`: of Apache's modules; `names`: those that are there."""
    parts = [_base(place), _modules(arm, folder, names), _workers(arm), _connections(arm), tls(arm, place), _to(arm)]
    parts += [_logs(log_requests=log_requests), _everybody(arm)]
    return "\n".join("".join(line + "\n" for line in part) for part in parts if part)


def _base(place: Place) -> list[str]:
    return [
        "# Made by lanelab for one arm; docs/reference/proxy.md explains it.",
        f'ServerRoot "{place.folder}"',
        f'DefaultRuntimeDir "{place.folder}"',
        f'PidFile "{place.folder}/httpd.pid"',
        f"ServerName {NOBODY}",
    ]


def _modules(arm: ProxySettings, folder: str, names: frozenset[str]) -> list[str]:
    wanted = [
        f"mpm_{arm.proxy_mpm}",
        "unixd",
        "log_config",
        "logio",
        "authz_core",
        "proxy",
        SPOKEN[arm.proxy_protocol][0],
    ]
    if arm.tls != "off":
        wanted += ["ssl", *(["socache_shmcb"] if arm.tls_resumption else [])]
    if arm.protocol == "h2":
        wanted.append("http2")
    return [f'LoadModule {name}_module "{folder}/mod_{name}.so"' for name in wanted if name in names]


def _workers(arm: ProxySettings) -> list[str]:
    if arm.proxy_mpm == "prefork":
        lines = [f"ServerLimit {arm.proxy_workers}"]
    else:
        lines = [f"ServerLimit {arm.proxy_workers // THREADS_PER_CHILD}", f"ThreadsPerChild {THREADS_PER_CHILD}"]
    started = START_SERVERS[arm.proxy_mpm]
    if arm.proxy_mpm != "prefork":
        started = min(started, arm.proxy_workers // THREADS_PER_CHILD)
    return [*lines, f"StartServers {started}", f"MaxRequestWorkers {arm.proxy_workers}", "MaxConnectionsPerChild 0"]


def _connections(arm: ProxySettings) -> list[str]:
    return [f"Listen 0.0.0.0:{PORTS[arm.scheme]} {arm.scheme}", *of_connections(arm)]


def _to(arm: ProxySettings) -> list[str]:
    """The server behind is asked for the names that clients ask for, and its answers are handed on as they come."""
    scheme = SPOKEN[arm.proxy_protocol][1]
    # mod_proxy_http hands on by itself what came when nothing more is there; mod_proxy_ajp has to be told.
    flush = " flushpackets=auto" if arm.proxy_protocol == "ajp" else ""
    return [
        "ProxyRequests Off",
        "ProxyPreserveHost On",
        f"ProxyTimeout {PATIENCE_S}",
        f'ProxyPass "/" "{scheme}://{BACK_END}:{BACK_END_PORT}/" nocanon ttl={IDLE_S}{flush}',
    ]


def _logs(*, log_requests: bool) -> list[str]:
    requests = [f'LogFormat "{ACCESS_FORMAT}" lanelab', "CustomLog access.log lanelab"]
    return [
        "ErrorLog error.log",
        "LogLevel warn",
        *(requests if log_requests else []),
    ]


def _everybody(arm: ProxySettings) -> list[str]:
    if arm.scheme != "https":
        return []
    # mod_proxy's settings are taken over from the server around it.
    return [f"<VirtualHost *:{PORTS['https']}>", f"    ServerName {NOBODY}", "    SSLEngine On", "</VirtualHost>"]
