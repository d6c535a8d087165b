"""An arm and a site as a whole h2o.conf. Pure. docs/reference/server.md says the same for users."""

import json
import re
from collections.abc import Iterable

from lanelab.driver.arm.servers.answers import Answer
from lanelab.driver.arm.servers.directives import directive_of, marked
from lanelab.driver.arm.servers.h2o.fields import H2oSettings
from lanelab.driver.arm.servers.layout import HOSTS, INDEX, Layout
from lanelab.driver.arm.servers.server import NOBODY, TLS_NAMES, Place, listens
from lanelab.driver.arm.wire import WireSettings, own_settings
from lanelab.driver.base.errors import InputError
from lanelab.driver.site.compressed_types import COMPRESSED_TYPES, SMALLEST_COMPRESSED
from lanelab.driver.site.site import Site

CODINGS = {"gzip": "gzip: 6", "brotli": "br: 5"}  # by an arm's `compression`, with the levels that Apache has
ANSWERS, OPENSSL = "answers.rb", "openssl.cnf"
# One line of JSON per request; where there is nothing h2o writes null, within quotes too.
LOG_FORMAT = (
    '{"began_us":%{usec}t,"duration_s":%{duration}x,"host":"%V","method":"%m","path":"%U%q","status":%s,'
    '"body_bytes":%b,"protocol":"%H","remote":"%h:%{remote}p","local":"%A:%{local}p",'
    '"number":%{http1.request-index}x,"encoding":"%{content-encoding}o","tls":"%{ssl.protocol-version}x",'
    '"reused":"%{ssl.session-reused}x"}'
)
_REFUSED = re.compile(r"^\[[^\n]*?:(?P<line>\d+)\] (?P<why>[^\n]+)", re.MULTILINE)


def configuration(
    arm: WireSettings, site: Site, place: Place, layout: Layout, *, log_requests: bool = True, as_root: bool = False
) -> str:
    """The text of h2o.conf, which is YAML; texts are quoted as in JSON. `as_root`: it runs as root, and would make
    itself nobody, who may not read its files."""
    parts = [
        [*_base(arm, place), *(["user: root"] if as_root else [])],
        _connections(arm),
        [line for door in listens(arm) for line in _listen(arm, door, place)],
        _compression(arm),
        _log(place) if log_requests else [],
        marked(arm.server_directives),
        ["hosts:", *_nobody(place)],
        *(_origin(host, arm, place, layout) for host in site.hosts),
    ]
    return "\n".join("".join(line + "\n" for line in part) for part in parts if part)


def _base(arm: WireSettings, place: Place) -> list[str]:
    settings = own_settings(arm, H2oSettings)
    threads = [] if settings.h2o_threads == "auto" else [f"num-threads: {settings.h2o_threads}"]
    return [
        "# Made by lanelab for one arm and one site; docs/reference/server.md explains it.",
        *threads,
        f"max-connections: {settings.max_connections}",
        f"pid-file: {_quoted(f'{place.folder}/h2o.pid')}",
        f"error-log: {_quoted(f'{place.folder}/error.log')}",
        f"temp-buffer-path: {_quoted(place.folder)}",
        "crash-handler: /bin/false",
        f"file.index: [{_quoted(INDEX)}]",
    ]


def _connections(arm: WireSettings) -> list[str]:
    """In clear it takes HTTP/2, by prior knowledge too, where it lets HTTP/1.1 turn into it."""
    seconds = arm.keepalive_timeout.ns // 1_000_000_000
    clear = arm.protocol == "h2" and arm.tls == "off"
    return [
        f"http1-request-timeout: {seconds}",
        f"http2-idle-timeout: {seconds}",
        f"http1-upgrade-to-http2: {'ON' if clear else 'OFF'}",
        *([f"ssl-session-resumption: {{mode: {'all' if arm.tls_resumption else 'off'}}}"] if arm.tls != "off" else []),
    ]


def _listen(arm: WireSettings, door: tuple[str, int, str], place: Place) -> list[str]:
    address, port, scheme = door
    lines = ["listen:", f"  host: {address}", f"  port: {port}"]
    if scheme == "https":
        lines += [
            "  ssl:",
            f"    certificate-file: {_quoted(place.certificate)}",
            f"    key-file: {_quoted(place.key)}",
            f"    minimum-version: {TLS_NAMES[arm.tls]}",
            f"    max-version: {TLS_NAMES[arm.tls]}",
            "    ocsp-update-interval: 0",
        ]
    return lines


def openssl_configuration(arm: WireSettings) -> str:
    """For OpenSSL: h2o itself has no way to say the highest version, or to have no tickets of TLS 1.3."""
    version = TLS_NAMES[arm.tls]
    lines = ["openssl_conf = lanelab", "[lanelab]", "ssl_conf = ssl", "[ssl]", "system_default = server", "[server]"]
    lines += [f"MinProtocol = {version}", f"MaxProtocol = {version}"]
    if not arm.tls_resumption:
        lines += ["Options = -SessionTicket", "NumTickets = 0"]
    return "".join(f"{line}\n" for line in lines)


def _compression(arm: WireSettings) -> list[str]:
    if arm.compression not in CODINGS:
        return []
    return [f"compress: {{{CODINGS[arm.compression]}}}", f"compress-minimum-size: {SMALLEST_COMPRESSED}"]


def _log(place: Place) -> list[str]:
    path = _quoted(f"{place.folder}/access.log")
    return ["access-log:", f"  path: {path}", "  escape: json", f"  format: '{LOG_FORMAT}'"]


def _nobody(place: Place) -> list[str]:
    """The first host is that of every name that no other has. There is no such folder: hosts have theirs."""
    return [f'  "{NOBODY}":', "    paths:", f'      "/": {{file.dir: {_quoted(f"{place.content}/nobody")}}}']


def _origin(host: str, arm: WireSettings, place: Place, layout: Layout) -> list[str]:
    types: dict[str, list[str]] = {}
    for extension, mime in layout.types[host].items():
        types.setdefault(mime, []).append(extension)
    mapped = host in layout.maps
    if mapped and arm.compression in CODINGS:  # so that it knows which of these types it compresses
        types |= {mime: types.get(mime, []) for mime in layout.mapped_types}
    lines = [f"    {_quoted(mime)}: {_type(mime, extensions, arm)}" for mime, extensions in types.items()]
    return [
        f"  {_quoted(host)}:",
        *(["    file.mime.settypes:", *(f"  {line}" for line in lines)] if lines else []),
        "    paths:",
        '      "/":',
        *([f"        mruby.handler-file: {_quoted(f'{place.folder}/{ANSWERS}')}"] if mapped else []),
        f"        file.dir: {_quoted(f'{place.content}/{HOSTS}/{host}')}",
    ]


def _type(mime: str, extensions: list[str], arm: WireSettings) -> str:
    if arm.compression not in CODINGS:
        return json.dumps(extensions)
    compressed = "YES" if mime.partition(";")[0].strip() in COMPRESSED_TYPES else "NO"
    return f"{{extensions: {json.dumps(extensions)}, is_compressible: {compressed}}}"


def answers_rb(answers: Iterable[Answer], place: Place) -> str:
    """The program that answers what a file's name cannot say; for all else it lets h2o go on. mruby 1.3."""
    return "\n".join(
        [
            "# Made by lanelab for one arm and one site; docs/reference/server.md explains it.",
            "read = lambda { |file| File.open(file, 'rb') { |opened| opened.read } }",
            "answers = {",
            *(_entry(each, place) for each in answers),
            "}",
            "Proc.new do |env|",
            "  query = env['QUERY_STRING'].to_s",
            "  path = env['SCRIPT_NAME'].to_s + env['PATH_INFO'].to_s",
            "  host = env['HTTP_HOST'].to_s",
            "  found = answers[host + (query.empty? ? path : path + '?' + query)]",
            "  found ? [found[0], found[1], found[2]] : [399, {}, []]",
            "end",
            "",
        ]
    )


def _entry(each: Answer, place: Place) -> str:
    headers = ", ".join(f"[{_ruby(name.lower())}, {_ruby(value)}]" for name, value in each.headers)
    body = f"[read.call({_ruby(f'{place.content}/{each.file}')})]" if each.file else "[]"
    return f"  {_ruby(each.host + each.path)} => [{each.status}, [{headers}], {body}],"


def _ruby(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _quoted(text: str) -> str:
    return json.dumps(text)


def refused_directive(words: str, text: str) -> InputError | None:
    """Return the arm's own directive that h2o's words are about, if they are about one."""
    for refused in _REFUSED.finditer(words):
        directive = directive_of(text, int(refused["line"]))
        if directive:
            remedy = "See https://h2o.examp1e.net/configure.html; each line is put at the top level"
            return InputError(f"h2o does not take {directive!r}: {refused['why']}", remedy, key="server_directives")
    return None
