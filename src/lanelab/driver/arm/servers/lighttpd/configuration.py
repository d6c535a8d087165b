"""An arm and a site as a whole lighttpd.conf. Pure. docs/reference/server.md says the same for users."""

import re
from collections.abc import Iterable

from lanelab.driver.arm.servers.answers import Answer
from lanelab.driver.arm.servers.directives import directive_of, marked
from lanelab.driver.arm.servers.layout import HOSTS, INDEX, Layout
from lanelab.driver.arm.servers.lighttpd.fields import MOST_KEPT, LighttpdSettings
from lanelab.driver.arm.servers.server import TLS_NAMES, Place, listens
from lanelab.driver.arm.wire import WireSettings, own_settings
from lanelab.driver.base.errors import InputError
from lanelab.driver.site.compressed_types import COMPRESSED_TYPES, SMALLEST_COMPRESSED
from lanelab.driver.site.site import Site

ENCODINGS = {"gzip": "gzip", "brotli": "br"}  # by an arm's `compression`: with which lighttpd compresses
LEVEL = 6  # of zlib; of brotli it is lighttpd's own
ANSWERS = "answers.lua"
# One line of JSON per request. lighttpd writes "-" where there is nothing. What it was asked at it says as the address
# that it listens at, and nothing of TLS.
LOG_FORMAT = (
    '{"began_us":%{begin:usec}t,"duration_us":%D,"host":"%V","request":"%r","status":%s,"body_bytes":"%b",'
    '"sent_bytes":"%O","received_bytes":"%I","protocol":"%H","remote":"%a:%{remote}p","port":%{local}p,'
    '"keepalives":%k,"connection":"%X","encoding":"%{Content-Encoding}o"}'
)
_REFUSED = re.compile(r"source: [^\n]*?line: (?P<line>\d+) pos: \d+ (?P<why>[^\n]*)")
_UNKNOWN = re.compile(r"unknown config-key: (?P<key>[^\s(]+)")


def configuration(arm: WireSettings, site: Site, place: Place, layout: Layout, *, log_requests: bool = True) -> str:
    """Return the text of lighttpd.conf."""
    parts = [
        _base(arm, place, log_requests=log_requests),
        _listen(arm, place),
        _connections(arm),
        _compression(arm),
        _log(place) if log_requests else [],
        marked(arm.server_directives),
        *(_origin(host, place, layout) for host in site.hosts),
    ]
    return "\n".join("".join(line + "\n" for line in part) for part in parts if part)


def _base(arm: WireSettings, place: Place, *, log_requests: bool) -> list[str]:
    settings = own_settings(arm, LighttpdSettings)
    modules = ["mod_accesslog"] if log_requests else []
    modules += ["mod_magnet", *(["mod_deflate"] if arm.compression in ENCODINGS else [])]
    modules += ["mod_openssl"] if arm.tls != "off" else []
    return [
        "# Made by lanelab for one arm and one site; docs/reference/server.md explains it.",
        f"server.modules = ({', '.join(map(_quoted, modules))})",
        f"server.document-root = {_quoted(f'{place.content}/nobody')}",  # there is no such folder: hosts have theirs
        f"server.errorlog = {_quoted(f'{place.folder}/error.log')}",
        f"server.upload-dirs = ({_quoted(place.folder)})",
        f"server.max-worker = {settings.lighttpd_workers}",
        f"server.max-connections = {settings.max_connections}",
        f"server.max-fds = {2 * settings.max_connections}",  # a connection, and the file that it is sent
        f"index-file.names = ({_quoted(INDEX)})",
    ]


def _listen(arm: WireSettings, place: Place) -> list[str]:
    """The first address and port are those of the whole server."""
    (address, port, scheme), *more = listens(arm)
    lines = [f"server.bind = {_quoted(address)}", f"server.port = {port}", _protocol(arm)]
    lines += _tls(arm, place) if scheme == "https" else []
    for address, port, scheme in more:
        secured = (f"    {line}" for line in _tls(arm, place)) if scheme == "https" else ()
        lines += [f'$SERVER["socket"] == "{address}:{port}" {{', *secured, "}"]
    return lines


def _protocol(arm: WireSettings) -> str:
    """In clear beside TLS it is HTTP/1.1: browsers speak nothing else there."""
    h2 = arm.protocol == "h2"
    words = {"server.h2proto": h2, "server.h2c": h2 and arm.tls == "off"}
    listed = (f'"{name}" => "{"enable" if on else "disable"}"' for name, on in words.items())
    return f"server.feature-flags = ({', '.join(listed)})"


def _tls(arm: WireSettings, place: Place) -> list[str]:
    """NumTickets: without it OpenSSL sends TLS 1.3 tickets of another kind, which clients would come back with."""
    version = TLS_NAMES[arm.tls]
    words = {"MinProtocol": version, "MaxProtocol": version}
    if not arm.tls_resumption:
        words |= {"Options": "-SessionTicket", "NumTickets": "0"}
    listed = (f"{_quoted(name)} => {_quoted(value)}" for name, value in words.items())
    return [
        'ssl.engine = "enable"',
        f"ssl.pemfile = {_quoted(place.certificate)}",
        f"ssl.privkey = {_quoted(place.key)}",
        f"ssl.openssl.ssl-conf-cmd = ({', '.join(listed)})",
    ]


def _connections(arm: WireSettings) -> list[str]:
    """lighttpd counts how often a connection is kept, as the setting does."""
    most = MOST_KEPT if arm.multiplexed else arm.keepalive_requests
    seconds = max(arm.keepalive_timeout.ns // 1_000_000_000, 1)
    return [
        f"server.max-keep-alive-requests = {most if arm.keepalive else 0}",
        f"server.max-keep-alive-idle = {seconds}",
    ]


def _compression(arm: WireSettings) -> list[str]:
    if arm.compression not in ENCODINGS:
        return []
    return [
        f"deflate.allowed-encodings = ({_quoted(ENCODINGS[arm.compression])})",
        f"deflate.mimetypes = ({', '.join(map(_quoted, COMPRESSED_TYPES))})",
        f"deflate.min-compress-size = {SMALLEST_COMPRESSED}",
        *([f"deflate.compression-level = {LEVEL}"] if arm.compression == "gzip" else []),
    ]


def _log(place: Place) -> list[str]:
    """Through a pipe: into a file it writes its lines up to four seconds late."""
    written = f"exec cat >>'{place.folder}/access.log'"
    return [
        'accesslog.escaping = "json"',
        f"accesslog.format = {_quoted(LOG_FORMAT)}",
        f"accesslog.filename = {_quoted(f'|{written}')}",
    ]


def _origin(host: str, place: Place, layout: Layout) -> list[str]:
    types = ", ".join(f"{_quoted(extension)} => {_quoted(mime)}" for extension, mime in layout.types[host].items())
    asks = f"magnet.attract-raw-url-to = ({_quoted(f'{place.folder}/{ANSWERS}')})"
    return [
        f'$HTTP["host"] == {_quoted(host)} {{',
        f"    server.document-root = {_quoted(f'{place.content}/{HOSTS}/{host}')}",
        f"    mimetype.assign = ({types})",
        *([f"    {asks}"] if host in layout.maps else []),
        "}",
    ]


def answers_lua(answers: Iterable[Answer], place: Place) -> str:
    """The program that answers what a file's name cannot say; for all else it lets lighttpd go on."""
    return "\n".join(
        [
            "-- Made by lanelab for one arm and one site; docs/reference/server.md explains it.",
            "local answers = {",
            *(_entry(each, place) for each in answers),
            "}",
            "local asked = lighty.r.req_attr",
            'local found = answers[asked["uri.authority"] .. asked["request.orig-uri"]]',
            "if not found then return 0 end",
            "local headers = lighty.r.resp_header",
            "for name, value in pairs(found.headers) do headers[name] = value end",
            "if found.file then lighty.r.resp_body.set({{filename = found.file}}) end",
            "return found.status",
            "",
        ]
    )


def _entry(each: Answer, place: Place) -> str:
    """Several header fields of one name are one, with line ends within: lighttpd sends them as several."""
    joined: dict[str, list[str]] = {}
    for name, value in each.headers:
        joined.setdefault(name.title(), []).append(value)
    lines = {name: f"\r\n{name}: ".join(values) for name, values in joined.items()}
    headers = ", ".join(f"[{_lua(name)}]={_lua(value)}" for name, value in lines.items())
    file = f", file={_lua(f'{place.content}/{each.file}')}" if each.file else ""
    return f"    [{_lua(each.host + each.path)}] = {{status={each.status}{file}, headers={{{headers}}}}},"


def _lua(text: str) -> str:
    return '"' + re.sub(r'[\\"\r\n]', lambda match: f"\\{ord(match[0]):03d}", text) + '"'


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def refused_directive(words: str, text: str) -> InputError | None:
    """Return the arm's own directive that lighttpd's words are about, if they are about one."""
    refused, unknown = _REFUSED.search(words), _UNKNOWN.search(words)
    directive, why = None, ""
    if refused:  # it says where it stood when it gave up, which may be the line after
        number, why = int(refused["line"]), refused["why"]
        directive = directive_of(text, number) or directive_of(text, number - 1)
    elif unknown:
        numbers = (number for number, line in enumerate(text.splitlines(), 1) if line.startswith(unknown["key"]))
        directive = next((setting for number in numbers if (setting := directive_of(text, number))), None)
        why = "it knows no such key"
    if directive is None:
        return None
    remedy = "See https://redmine.lighttpd.net/projects/lighttpd/wiki/Docs_ConfigurationOptions"
    return InputError(f"lighttpd does not take {directive!r}: {why}", remedy, key="server_directives")
