"""An arm and a site as a whole nginx.conf. Pure. docs/reference/server.md says the same for users, with the reasons."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from driver.servers.layout import HOSTS, INDEX, MAPPED, Layout
from driver.servers.nginx.fields import nginx_settings
from driver.servers.server import NOBODY, PORTS, TLS_NAMES, Place, ServerArm
from model.errors import InputError
from model.site.compressed_types import COMPRESSED_TYPES, SMALLEST_COMPRESSED
from model.site.site import Site

DIRECTIVES_BEGIN = "# server_directives of the arm"
DIRECTIVES_END = "# end of server_directives"
HTTP2_DIRECTIVE_SINCE = (1, 25, 1)  # before it, http2 was a word of `listen`
FOREVER = 1_000_000_000  # requests on a connection
# Of zlib and of brotli, as Apache has them: arms that differ in `server` alone get answers of the same size.
GZIP_LEVEL, BROTLI_LEVEL = 6, 5
# One line of JSON per request. Requests of this node itself, such as the question whether the server is ready, are left
# out. nginx does not log whether it kept the connection: by then it has forgotten.
LOG_FORMAT = (
    '{"ended_s":$msec,"duration_s":$request_time,"host":"$http_host","method":"$request_method",',
    '"path":"$request_uri","status":$status,"body_bytes":$body_bytes_sent,"sent_bytes":$bytes_sent,',
    '"received_bytes":$request_length,"protocol":"$server_protocol","remote":"$remote_addr:$remote_port",',
    '"local":"$server_addr:$server_port","number":$connection_requests,"completion":"$request_completion",',
    '"encoding":"$sent_http_content_encoding","tls":"$ssl_protocol","reused":"$ssl_session_reused"}',
)
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
USUAL_CONNECTIONS = 512  # what every system's limit of open files allows
LARGEST_BUCKET = 32768
_INDENT = "    "
_REFUSED = re.compile(r"\[emerg\] (?:\d+#\d+: )?(?P<why>[^\n]+) in \S+:(?P<line>\d+)")


@dataclass(frozen=True, slots=True)
class Build:
    """What nginx on its node can do."""

    version: tuple[int, ...]
    brotli_module: str  # a file; empty: not there


def configuration(arm: ServerArm, site: Site, place: Place, build: Build, layout: Layout) -> str:
    """The text of nginx.conf."""
    inside = [
        _files(place),
        _connections(arm),
        _tls(arm, place),
        _compression(arm),
        _map(layout),  # first among the maps: its sizes are for all
        _log(place),
        _directives(arm),
        _nobody(arm, site, build),
        *(_origin(host, arm, layout, build) for host in site.hosts),
    ]
    parts = [_base(arm, place, build), *([_INDENT + line for line in part] for part in inside if part)]
    return "\n".join("".join(line + "\n" for line in part) for part in parts) + "}\n"


def _base(arm: ServerArm, place: Place, build: Build) -> list[str]:
    own = nginx_settings(arm)
    many = own.worker_connections > USUAL_CONNECTIONS
    return [
        "# Made by lanelab for one arm and one site; docs/reference/server.md explains it.",
        *([f'load_module "{build.brotli_module}";'] if arm.compression == "brotli" else []),
        "daemon off;",
        f'pid "{place.folder}/nginx.pid";',
        f'error_log "{place.folder}/error.log" warn;',
        f"worker_processes {own.worker_processes};",
        *([f"worker_rlimit_nofile {2 * own.worker_connections};"] if many else []),
        f"events {{ worker_connections {own.worker_connections}; }}",
        "http {",
    ]


def _files(place: Place) -> list[str]:
    return [
        f'root "{place.content}";',
        "types_hash_max_size 4096;",
        "types_hash_bucket_size 256;",
        *(f'{name}_temp_path "{place.folder}/{name}";' for name in TEMPORARY),
    ]


def _connections(arm: ServerArm) -> list[str]:
    """`keepalive_requests` of an arm is how often HTTP/1.1 keeps a connection; nginx counts what a connection carries,
    and of HTTP/2 too."""
    if not arm.keepalive:
        return ["keepalive_timeout 0;"]
    requests = FOREVER if arm.multiplexed or not arm.keepalive_requests else arm.keepalive_requests + 1
    return [
        f"keepalive_timeout {arm.keepalive_timeout.ns // 1_000_000}ms;",
        f"keepalive_requests {requests};",
    ]


def _tls(arm: ServerArm, place: Place) -> list[str]:
    """Here rather than in each `server`: hosts with the same settings may share an HTTP/2 connection."""
    if arm.tls == "off":
        return []
    if arm.tls_resumption:
        resumption = ["ssl_session_cache shared:lanelab:512k;", "ssl_session_tickets on;"]
    else:
        # NumTickets: without it OpenSSL sends TLS 1.3 tickets of another kind, which Chromium would come back with.
        resumption = ["ssl_session_cache off;", "ssl_session_tickets off;", "ssl_conf_command NumTickets 0;"]
    return [
        f"ssl_protocols {TLS_NAMES[arm.tls]};",
        *resumption,
        f'ssl_certificate "{place.certificate}";',
        f'ssl_certificate_key "{place.key}";',
    ]


def _compression(arm: ServerArm) -> list[str]:
    """HTML is always among nginx's types. `gzip_vary` is for brotli too."""
    if arm.compression in ("recorded", "off"):
        return []
    name, level = ("gzip", GZIP_LEVEL) if arm.compression == "gzip" else ("brotli", BROTLI_LEVEL)
    types = " ".join(each for each in COMPRESSED_TYPES if each != "text/html")
    return [
        f"{name} on;",
        f"{name}_comp_level {level};",
        f"{name}_min_length {SMALLEST_COMPRESSED};",
        f"{name}_types {types};",
        "gzip_vary on;",
    ]


def _log(place: Place) -> list[str]:
    first, *rest = LOG_FORMAT
    return [
        "map $remote_addr $from_elsewhere { default 1; 127.0.0.1 0; }",
        f"log_format lanelab escape=json '{first}'",
        *(f"    '{line}'" for line in rest[:-1]),
        f"    '{rest[-1]}';",
        f'access_log "{place.folder}/access.log" lanelab if=$from_elsewhere;',
    ]


def _map(layout: Layout) -> list[str]:
    """From what is asked for to its file, for objects that a file name cannot say."""
    if not layout.maps:
        return []
    names = {f"{host}{path}": name for host, named in layout.maps.items() for path, name in named.items()}
    alike = Counter(key.lower() for key in names)
    return [
        *_hash("map", names),
        "map $server_name$request_uri $mapped {",
        *(f"    {_key(key, exact=alike[key.lower()] > 1)} /{MAPPED}/{name};" for key, name in sorted(names.items())),
        "}",
    ]


def _key(key: str, *, exact: bool) -> str:
    """A key of a map, quoted. nginx compares plain keys without regard to case; where two would be the same key, each
    is a regular expression."""
    text = f"~^{re.escape(key)}$" if exact else key
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _hash(kind: str, keys: Iterable[str]) -> list[str]:
    """Sizes with which nginx can hold these keys: it refuses longer ones, and warns where they are crowded."""
    listed = list(keys)
    longest = max(len(key.encode()) for key in listed)
    bucket = 256
    while bucket < min(4 * (longest + 32), LARGEST_BUCKET):
        bucket *= 2
    return [f"{kind}_hash_bucket_size {bucket};", f"{kind}_hash_max_size {max(2048, 8 * len(listed))};"]


def _directives(arm: ServerArm) -> list[str]:
    if not arm.server_directives:
        return []
    return [DIRECTIVES_BEGIN, *arm.server_directives, DIRECTIVES_END]


def _listen(arm: ServerArm, build: Build, *, first: bool = False) -> list[str]:
    words = [f"0.0.0.0:{PORTS[arm.scheme]}", *(["default_server"] if first else [])]
    words += ["ssl"] if arm.tls != "off" else []
    http2 = arm.protocol == "h2"
    if http2 and build.version < HTTP2_DIRECTIVE_SINCE:
        return [f"    listen {' '.join([*words, 'http2'])};"]
    return [f"    listen {' '.join(words)};", *(["    http2 on;"] if http2 else [])]


def _nobody(arm: ServerArm, site: Site, build: Build) -> list[str]:
    """The `server` that answers to every name that no other has."""
    return [
        *_hash("server_names", site.hosts),
        "server {",
        *_listen(arm, build, first=True),
        f"    server_name {NOBODY};",
        "    return 404;",
        "}",
    ]


def _origin(host: str, arm: ServerArm, layout: Layout, build: Build) -> list[str]:
    """No listing of folders, and no redirect from a folder without its slash: only files are tried."""
    types = [f'        "{mime}" "{extension.removeprefix(".")}";' for extension, mime in layout.types[host].items()]
    types += [f'        "{mime}" type{number};' for number, mime in enumerate(layout.mapped_types)]
    mapped = "$mapped " if host in layout.maps else ""
    return [
        "server {",
        *_listen(arm, build),
        f"    server_name {host};",
        "    types {",
        *types,
        "    }",
        f"    location / {{ try_files {mapped}/{HOSTS}/{host}$uri /{HOSTS}/{host}${{uri}}{INDEX} =404; }}",
        "}",
    ]


def directive_of(text: str, number: int) -> str | None:
    """The arm's own directive in line `number` of a configuration."""
    lines = [line.strip() for line in text.splitlines()]
    if DIRECTIVES_BEGIN not in lines or not 1 <= number <= len(lines):
        return None
    inside = lines.index(DIRECTIVES_BEGIN) + 1 < number < lines.index(DIRECTIVES_END) + 1
    return lines[number - 1] if inside else None


def refused_directive(words: str, text: str) -> InputError | None:
    """The arm's own directive that nginx's words are about, if they are about one."""
    refused = _REFUSED.search(words)
    directive = directive_of(text, int(refused["line"])) if refused else None
    if not refused or not directive:
        return None
    remedy = "See https://nginx.org/en/docs/dirindex.html; each line is put into the context http"
    return InputError(f"nginx does not take {directive!r}: {refused['why']}", remedy, key="server_directives")
