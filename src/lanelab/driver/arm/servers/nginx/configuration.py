"""An arm and a site as a whole nginx.conf. Pure. docs/reference/server.md says the same for users, with the reasons."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lanelab.driver.arm.servers.directives import directive_of, marked
from lanelab.driver.arm.servers.layout import HOSTS, INDEX, MAPPED, OK, Layout
from lanelab.driver.arm.servers.nginx.fields import NginxSettings
from lanelab.driver.arm.servers.nginx.recorded_answers import PAGES, Recorded, recorded
from lanelab.driver.arm.servers.server import NOBODY, TLS_NAMES, Assignment, Place, listens
from lanelab.driver.arm.wire import WireSettings, own_settings
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import NS_PER_S, Duration
from lanelab.driver.site.compressed_types import COMPRESSED_TYPES, SMALLEST_COMPRESSED
from lanelab.driver.site.site import Site

COMPRESSORS = ("gzip", "brotli")  # of an arm's `compression`: those with which nginx compresses
HTTP2_DIRECTIVE_SINCE = (1, 25, 1)  # before it, http2 was a word of `listen`
PUSH_UNTIL = (1, 25, 1)  # from it on http2_push does nothing
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
FIRST_ERROR, MOST_ERROR = 400, 599  # of what nginx has error pages for
# Before anything else is done with a request, and without keeping others of its process waiting.
WAIT = "rewrite_by_lua_block { local s = tonumber(ngx.var.answer_delay) if s then ngx.sleep(s) end }"
_INDENT = "    "
_REFUSED = re.compile(r"\[emerg\] (?:\d+#\d+: )?(?P<why>[^\n]+) in \S+:(?P<line>\d+)")


@dataclass(frozen=True, slots=True)
class Build:
    """What nginx on its node can do."""

    version: tuple[int, ...]
    brotli_module: str  # a file; empty: not there
    lua_modules: tuple[str, ...] = ()  # files, in the order in which they are loaded; none: not there


def configuration(assignment: Assignment, place: Place, build: Build, layout: Layout) -> str:
    """Return the text of nginx.conf."""
    arm, site, delays = assignment.arm, assignment.site, assignment.delays
    sent = recorded(layout)
    waiting = {url.partition("/")[0] for url in delays}
    inside = [
        _files(place),
        connections(arm),
        _streams(arm),
        tls(arm, place),
        _compression(arm),
        _map(layout, sent, delays),  # first among the maps: its sizes are for all
        _push(site, assignment.pushed),
        _log(arm, place) if assignment.log_requests else ["access_log off;"],
        marked(arm.server_directives),
        _nobody(arm, site, build),
        *(_origin(host, arm, layout, build, sent, waits=host in waiting) for host in site.hosts),
    ]
    parts = [
        _base(arm, place, build, waits=bool(delays)),
        *([_INDENT + line for line in part] for part in inside if part),
    ]
    return "\n".join("".join(line + "\n" for line in part) for part in parts) + "}\n"


def _base(arm: WireSettings, place: Place, build: Build, *, waits: bool) -> list[str]:
    settings = own_settings(arm, NginxSettings)
    many = settings.worker_connections > USUAL_CONNECTIONS
    return [
        "# Made by lanelab for one arm and one site; docs/reference/server.md explains it.",
        *([f'load_module "{build.brotli_module}";'] if arm.compression == "brotli" else []),
        *([f'load_module "{module}";' for module in build.lua_modules] if waits else []),
        "daemon off;",
        f'pid "{place.folder}/nginx.pid";',
        f'error_log "{place.folder}/error.log" warn;',
        f"worker_processes {settings.worker_processes};",
        *([f"worker_rlimit_nofile {2 * settings.worker_connections};"] if many else []),
        f"events {{ worker_connections {settings.worker_connections}; }}",
        "http {",
    ]


def _files(place: Place) -> list[str]:
    return [
        f'root "{place.content}";',
        "types_hash_max_size 4096;",
        "types_hash_bucket_size 256;",
        *(f'{name}_temp_path "{place.folder}/{name}";' for name in TEMPORARY),
    ]


def connections(arm: WireSettings) -> list[str]:
    """`keepalive_requests` of an arm is how often HTTP/1.1 keeps a connection; nginx counts what a connection carries,
    and of HTTP/2 too."""
    if not arm.keepalive:
        return ["keepalive_timeout 0;"]
    requests = FOREVER if arm.multiplexed or not arm.keepalive_requests else arm.keepalive_requests + 1
    return [
        f"keepalive_timeout {arm.keepalive_timeout.ns // 1_000_000}ms;",
        f"keepalive_requests {requests};",
    ]


def _streams(arm: WireSettings) -> list[str]:
    return [f"http2_max_concurrent_streams {arm.server_max_streams};"] if arm.server_max_streams else []


def _push(site: Site, pushed: Sequence[str]) -> list[str]:
    """With the page alone: what is empty is not pushed."""
    if not pushed:
        return []
    page = _quoted(f"~^{re.escape(site.entry_host + site.entry_path)}$")
    maps = [
        f'map $host$request_uri $push{number} {{ {page} {_quoted(path)}; default ""; }}'
        for number, path in enumerate(pushed)
    ]
    uses = [f"http2_push $push{number};" for number in range(len(pushed))]
    return [*maps, f"http2_max_concurrent_pushes {len(pushed)};", *uses]


def tls(arm: WireSettings, place: Place) -> list[str]:
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


def _compression(arm: WireSettings) -> list[str]:
    """HTML is always among nginx's types. `gzip_vary` is for brotli too."""
    if arm.compression not in COMPRESSORS:
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


def _log(arm: WireSettings, place: Place) -> list[str]:
    first, *rest = LOG_FORMAT
    which = "" if arm.behind else " if=$from_elsewhere"  # a proxy asks from this node
    return [
        *([] if arm.behind else ["map $remote_addr $from_elsewhere { default 1; 127.0.0.1 0; }"]),
        f"log_format lanelab escape=json '{first}'",
        *(f"    '{line}'" for line in rest[:-1]),
        f"    '{rest[-1]}';",
        f'access_log "{place.folder}/access.log" lanelab{which};',
    ]


def _map(layout: Layout, sent: Recorded, delays: Mapping[str, Duration]) -> list[str]:
    """Map what is asked for to its file, its status and its headers, for objects that a file name cannot say, and to
    the time that its answer waits."""
    if not layout.maps and not delays:
        return []
    names = {f"{host}{path}": name for host, named in layout.maps.items() for path, name in named.items()}
    files = {key: f"/{MAPPED}/{name}" for key, name in names.items()}
    keys = {*names, *delays}
    alike = frozenset(key for key, count in Counter(key.lower() for key in keys).items() if count > 1)
    lines = [*_hash("map", keys), "variables_hash_max_size 4096;", "variables_hash_bucket_size 128;"]
    if names:
        lines += _one_map("$mapped", files, alike)
    if delays:
        seconds = {key: f"{wait.ns / NS_PER_S:.3f}" for key, wait in delays.items()}
        lines += [*_one_map("$answer_delay", seconds, alike), "rewrite_by_lua_no_postpone on;"]
    if sent.statuses:
        lines += _one_map("$status_of", {key: str(status) for key, status in sent.statuses.items()}, alike)
        lines += [f'map $mapped $page {{ "" /{MAPPED}/none; default $mapped; }}']
    for number, (_, values) in enumerate(sent.headers):
        lines += _one_map(f"$header{number}", {key: _quoted(value) for key, value in values.items()}, alike)
    return lines


def _one_map(variable: str, values: Mapping[str, str], alike: frozenset[str]) -> list[str]:
    lines = (f"    {_key(key, exact=key.lower() in alike)} {value};" for key, value in sorted(values.items()))
    return [f"map $server_name$request_uri {variable} {{", *lines, "}"]


def _key(key: str, *, exact: bool) -> str:
    """A key of a map, quoted. nginx compares plain keys without regard to case; where two would be the same key, each
    is a regular expression."""
    return _quoted(f"~^{re.escape(key)}$" if exact else key)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _hash(kind: str, keys: Iterable[str]) -> list[str]:
    """Sizes with which nginx can hold these keys: it refuses longer ones, and warns where they are crowded."""
    listed = list(keys)
    longest = max(len(key.encode()) for key in listed)
    bucket = 256
    while bucket < min(4 * (longest + 32), LARGEST_BUCKET):
        bucket *= 2
    return [f"{kind}_hash_bucket_size {bucket};", f"{kind}_hash_max_size {max(2048, 8 * len(listed))};"]


def _listen(arm: WireSettings, build: Build, *, first: bool = False) -> list[str]:
    http2 = arm.protocol == "h2"
    old = http2 and build.version < HTTP2_DIRECTIVE_SINCE
    lines = []
    for address, port, scheme in listens(arm):
        words = [f"{address}:{port}", *(["default_server"] if first else [])]
        # In clear beside TLS it is HTTP/1.1: browsers speak nothing else there.
        words += (["ssl"] if scheme == "https" else []) + (["http2"] if old and scheme == arm.scheme else [])
        lines.append(f"    listen {' '.join(words)};")
    return [*lines, *(["    http2 on;"] if http2 and not old else [])]


def _nobody(arm: WireSettings, site: Site, build: Build) -> list[str]:
    """Return the `server` that answers to every name that no other has."""
    return [
        *_hash("server_names", site.hosts),
        "server {",
        *_listen(arm, build, first=True),
        f"    server_name {NOBODY};",
        "    return 404;",
        "}",
    ]


def _origin(host: str, arm: WireSettings, layout: Layout, build: Build, sent: Recorded, *, waits: bool) -> list[str]:
    """No listing of folders, and no redirect from a folder without its slash: only files are tried."""
    types = [f'        "{mime}" "{extension.removeprefix(".")}";' for extension, mime in layout.types[host].items()]
    types += [f'        "{mime}" type{number};' for number, mime in enumerate(layout.mapped_types)]
    statuses = sorted({status for url, status in sent.statuses.items() if layout.answers[url].host == host})
    codes = _codes(statuses)
    mapped = host in layout.maps
    return [
        "server {",
        *_listen(arm, build),
        f"    server_name {host};",
        "    types {",
        *types,
        "    }",
        *(f"    error_page {code} ={status} $page;" for status, code in codes.items() if status in PAGES),
        "    location / {",
        *([f"        {WAIT}"] if waits else []),
        *(f"        if ($status_of = {status}) {{ return {code}; }}" for status, code in codes.items()),
        *(["        if ($mapped) { rewrite ^ $mapped last; }"] if mapped else []),
        f"        try_files /{HOSTS}/{host}$uri /{HOSTS}/{host}${{uri}}{INDEX} =404;",
        *([f"        {line}" for line in _headers(sent)] if set(statuses) - PAGES else []),
        "    }",
        *(_mapped(sent) if mapped else []),
        "}",
    ]


def _codes(statuses: Iterable[int]) -> dict[int, int]:
    """Return what nginx has to `return` to get to a status's page. With that of a redirect it would send a Location of
    its own beside the recorded one, and with 300 no page: for these a code stands in that the host does not answer
    with."""
    listed = list(statuses)
    free = (code for code in range(MOST_ERROR, 0, -1) if code not in listed)
    return {status: next(free) if OK < status < FIRST_ERROR and status in PAGES else status for status in listed}


def _mapped(sent: Recorded) -> list[str]:
    """Its headers are the record's."""
    lines = ["internal;", "log_not_found off;", "etag off;", *_headers(sent)]
    return [f"    location ^~ /{MAPPED}/ {{", *(f"        {line}" for line in lines), "    }"]


def _headers(sent: Recorded) -> list[str]:
    return [f"add_header {name} $header{number} always;" for number, (name, _) in enumerate(sent.headers)]


def refused_directive(words: str, text: str) -> InputError | None:
    """Return the arm's own directive that nginx's words are about, if they are about one."""
    refused = _REFUSED.search(words)
    directive = directive_of(text, int(refused["line"])) if refused else None
    if not refused or not directive:
        return None
    remedy = "See https://nginx.org/en/docs/dirindex.html; each line is put into the context http"
    return InputError(f"nginx does not take {directive!r}: {refused['why']}", remedy, key="server_directives")
