"""An arm's proxy as a whole nginx.conf. Pure. docs/reference/proxy.md says the same for users, with the reasons."""

from lanelab.driver.arm.proxies.fields import ProxySettings
from lanelab.driver.arm.proxies.proxy import BACK_END, IDLE_S, PATIENCE_S
from lanelab.driver.arm.servers.nginx.configuration import FOREVER, HTTP2_DIRECTIVE_SINCE, TEMPORARY, connections, tls
from lanelab.driver.arm.servers.server import BACK_END_PORT, PORTS, Place

CONNECTIONS = 10_000  # of each process: to clients and to the server behind
KEPT = 512  # connections to the server behind that each process keeps open while nothing is on them
BUFFER = "32k"  # what is read at once from the server behind
LOG_FORMAT = (
    '{"ended_s":$msec,"duration_s":$request_time,"request":"$request","status":$status,"body_bytes":$body_bytes_sent,'
    '"remote":"$remote_addr:$remote_port"}'
)
_INDENT = "    "


def configuration(arm: ProxySettings, place: Place, version: tuple[int, ...], *, log_requests: bool) -> str:
    """Return the text of nginx.conf."""
    inside = [
        _files(place, log_requests=log_requests),
        connections(arm),
        tls(arm, place),
        _to(),
        _server(arm, version),
    ]
    lines = [line for part in inside for line in part]
    return "\n".join([*_base(place), *(_INDENT + line for line in lines), "}", ""])


def _base(place: Place) -> list[str]:
    return [
        "# Made by lanelab for one arm; docs/reference/proxy.md explains it.",
        "daemon off;",
        f'pid "{place.folder}/nginx.pid";',
        f'error_log "{place.folder}/error.log" warn;',
        "worker_processes auto;",
        f"worker_rlimit_nofile {2 * CONNECTIONS};",
        f"events {{ worker_connections {CONNECTIONS}; }}",
        "http {",
    ]


def _files(place: Place, *, log_requests: bool) -> list[str]:
    requests = [
        f"log_format lanelab escape=json '{LOG_FORMAT}';",
        f'access_log "{place.folder}/access.log" lanelab;',
    ]
    return [
        *(f'{name}_temp_path "{place.folder}/{name}";' for name in TEMPORARY),
        *(requests if log_requests else ["access_log off;"]),
    ]


def _to() -> list[str]:
    return [
        "upstream back_end {",
        f"    server {BACK_END}:{BACK_END_PORT} max_fails=0;",
        f"    keepalive {KEPT};",
        f"    keepalive_timeout {IDLE_S}s;",
        f"    keepalive_requests {FOREVER};",
        "}",
    ]


def _server(arm: ProxySettings, version: tuple[int, ...]) -> list[str]:
    """An answer is handed on as it comes, and read no faster than the client takes it."""
    http2 = arm.protocol == "h2"
    old = http2 and version < HTTP2_DIRECTIVE_SINCE
    words = [f"0.0.0.0:{PORTS[arm.scheme]}", *(["ssl"] if arm.scheme == "https" else []), *(["http2"] if old else [])]
    return [
        "server {",
        f"    listen {' '.join(words)};",
        *(["    http2 on;"] if http2 and not old else []),
        "    client_max_body_size 0;",
        "    location / {",
        "        proxy_pass http://back_end;",
        "        proxy_http_version 1.1;",
        '        proxy_set_header Connection "";',
        "        proxy_set_header Host $http_host;",
        "        proxy_buffering off;",
        f"        proxy_buffer_size {BUFFER};",
        f"        proxy_buffers 8 {BUFFER};",  # not used, but checked
        "        proxy_request_buffering off;",
        f"        proxy_read_timeout {PATIENCE_S}s;",
        f"        proxy_send_timeout {PATIENCE_S}s;",
        "    }",
        "}",
    ]
