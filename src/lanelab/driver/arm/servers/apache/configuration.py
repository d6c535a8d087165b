"""An arm and a site as a whole httpd.conf. Pure. docs/reference/server.md says the same for users, with the reasons."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from lanelab.driver.arm.servers.apache import pack
from lanelab.driver.arm.servers.apache.fields import ApacheSettings
from lanelab.driver.arm.servers.apache.waiting import streams
from lanelab.driver.arm.servers.directives import directive_of, marked
from lanelab.driver.arm.servers.server import NOBODY, TLS_NAMES, Place, listens
from lanelab.driver.arm.wire import WireSettings, own_settings
from lanelab.driver.base.errors import InputError
from lanelab.driver.site.site import Site

COMPRESSORS = {"gzip": "deflate", "br": "brotli"}  # modules, by what objects are to be compressed with
MOD_SPDYS_SCHEDULING = "priority"
MOD_SPDYS_LEVEL = 9  # its own, unless it is told another: of zlib, for headers
# One line of JSON per request. What Apache escapes in it (\xhh) is no JSON: log.py knows. Not in it: whatever comes
# from this node itself, such as the question whether the server is ready.
ACCESS_FORMAT = (
    r"{\"began_us\":%{begin:usec}t,\"duration_us\":%D,\"host\":\"%{Host}i\",\"request\":\"%r\",\"status\":%>s,"
    r"\"body_bytes\":%B,\"sent_bytes\":%O,\"received_bytes\":%I,\"protocol\":\"%H\",\"remote\":\"%{c}a:%{remote}p\","
    r"\"local\":\"%A:%{local}p\",\"keepalives\":%k,\"connection\":\"%X\",\"encoding\":\"%{Content-Encoding}o\",\"match\":\"%{replay-match}n\""
)
TLS_ACCESS_FORMAT = r",\"tls\":\"%{SSL_PROTOCOL}x\",\"tls_resumed\":\"%{SSL_SESSION_RESUMED}x\""
SPDY_ACCESS_FORMAT = r",\"spdy\":\"%{SPDY_VERSION}e\""
_SYNTAX = re.compile(r"Syntax error on line (\d+) of [^\n]*:\s*(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Modules:
    """Apache's modules on its node."""

    folder: str
    names: frozenset[str]  # of the mod_NAME.so there; a module that is not there is built into the program
    replay: str  # lanelab's own, which answers
    spdy: str  # likewise, for arms that speak SPDY


def configuration(  # noqa: PLR0913 - each is another thing that an assignment says
    arm: WireSettings,
    site: Site,
    place: Place,
    modules: Modules,
    *,
    log_requests: bool = True,
    pushed: Sequence[str] = (),
    hints: Sequence[str] = (),
    waiting: int = 0,
) -> str:
    """Return the text of httpd.conf. `waiting`: how many answers may wait at once."""
    parts = [
        _base(place, modules),
        _modules(arm, site, modules, pushed),
        _workers(arm, waiting),
        _connections(arm),
        _spdy(arm),
        _streams(arm),
        streams(arm, waiting),
        _push(arm, site, pushed),
        _hints(site, hints),
        tls(arm, place),
        [f'ReplayPack "{place.content}/{pack.FILE}"'],
        _logs(arm, log_requests=log_requests),
        marked(arm.server_directives),  # the last of what holds for the whole server: they win over everything above
        *(_everybody(arm, port, scheme) for port, scheme in dict.fromkeys(door[1:] for door in listens(arm))),
    ]
    return "\n".join("".join(line + "\n" for line in part) for part in parts if part)


def _base(place: Place, modules: Modules) -> list[str]:
    return [
        "# Made by lanelab for one arm and one site; docs/reference/server.md explains it.",
        f'Define MODULES "{modules.folder}"',
        f'ServerRoot "{place.folder}"',
        f'DefaultRuntimeDir "{place.folder}"',
        f'PidFile "{place.folder}/httpd.pid"',
        f"ServerName {NOBODY}",
    ]


def _modules(arm: WireSettings, site: Site, modules: Modules, pushed: Sequence[str]) -> list[str]:
    wanted = [f"mpm_{own_settings(arm, ApacheSettings).mpm}", "unixd", "log_config", "logio", "authz_core", "alias"]
    if arm.tls != "off":
        wanted += ["ssl", *(["socache_shmcb"] if arm.tls_resumption else [])]
    if arm.protocol == "h2":
        wanted.append("http2")
    if pushed:
        wanted.append("headers")
    compressed = {each.compressed for each in site.objects}
    wanted += [module for coding, module in COMPRESSORS.items() if coding in compressed]
    lines = [f'LoadModule {name}_module "${{MODULES}}/mod_{name}.so"' for name in wanted if name in modules.names]
    spdy = [f'LoadModule spdy_module "{modules.spdy}"'] if arm.spdy else []
    return [*lines, *spdy, f'LoadModule replay_module "{modules.replay}"']


def _workers(arm: WireSettings, waiting: int) -> list[str]:
    """Return how many there are, and as many processes more as hold the answers that wait."""
    settings = own_settings(arm, ApacheSettings)
    more = math.ceil(waiting / settings.threads_per_child)
    start, most = settings.start_servers + more, settings.max_workers + more * settings.threads_per_child
    if settings.mpm == "prefork":
        lines = [f"ServerLimit {max(most, start)}"]
    else:
        processes = max(math.ceil(most / settings.threads_per_child), 1)
        lines = [
            f"ServerLimit {processes}",
            f"ThreadLimit {max(64, settings.threads_per_child)}",
            f"ThreadsPerChild {settings.threads_per_child}",
        ]
    spare = (
        f"MaxSpare{'Servers' if settings.mpm == 'prefork' else 'Threads'} {most}"  # it would end those that are idle
    )
    return [
        *lines,
        f"StartServers {start}",
        f"MaxRequestWorkers {most}",
        *([spare] if waiting else []),
        "MaxConnectionsPerChild 0",
    ]


def _connections(arm: WireSettings) -> list[str]:
    listen = [f"Listen {address}:{port} {scheme}" for address, port, scheme in listens(arm)]
    return [*listen, *of_connections(arm), "EnableSendfile Off", "EnableMMAP On"]


def of_connections(arm: WireSettings) -> list[str]:
    """Return how long connections with clients are kept, and what is spoken on them."""
    ms = arm.keepalive_timeout.ns // 1_000_000
    return [
        "AcceptFilter http data",
        "AcceptFilter https data",
        "Timeout 60",
        f"KeepAlive {'On' if arm.keepalive else 'Off'}",
        f"MaxKeepAliveRequests {arm.keepalive_requests}",
        f"KeepAliveTimeout {ms // 1000 if ms % 1000 == 0 else f'{ms}ms'}",
        f"Protocols {offered(arm)}",
        "HostnameLookups Off",
    ]


def offered(arm: WireSettings) -> str:
    """SPDY is not among Apache's own protocols: its module offers it beside them."""
    if arm.protocol != "h2":
        return "http/1.1"
    return "h2c http/1.1" if arm.tls == "off" else "h2 http/1.1"


def _spdy(arm: WireSettings) -> list[str]:
    """Return the lines for SPDY, by ALPN in TLS. In clear the client begins with it, without asking."""
    if not arm.spdy:
        return []
    level = arm.spdy_header_compression
    headers = [f"SpdyHeaderCompression {level}"] if level != MOD_SPDYS_LEVEL else []
    if arm.tls == "off":
        return [f"SpdyCleartext {arm.spdy}", *headers]
    return ["SpdyEnabled on", f"SpdyVersions {arm.spdy}", *headers]


def _streams(arm: WireSettings) -> list[str]:
    """Return how many at once, and which first, where the arm does not leave it to the module."""
    most = "SpdyMaxStreamsPerConnection" if arm.spdy else "H2MaxSessionStreams"
    return [
        *([f"{most} {arm.server_max_streams}"] if arm.server_max_streams else []),
        *([f"SpdyScheduling {arm.scheduling}"] if arm.scheduling != MOD_SPDYS_SCHEDULING else []),
    ]


def _push(arm: WireSettings, site: Site, pushed: Sequence[str]) -> list[str]:
    """With the answer of the page alone, and in both protocols by a header that names what belongs to it. mod_spdy does
    not send its header; that of HTTP/2 the gateway does not pass on."""
    if not pushed:
        return []
    page = _page(site)
    if arm.spdy:
        named = ", ".join(f'\\"{each}\\"' for each in pushed)
        return ["SpdyPush on", f'Header always set X-Associated-Content "{named}" "expr={page}"']
    links = (f'Header always add Link "<{each}>; rel=preload" "expr={page}"' for each in pushed)
    return ["H2Push on", *links]


def _page(site: Site) -> str:
    """Return Apache's expression for a request for the page."""
    path, _, query = site.entry_path.partition("?")
    return f"%{{HTTP_HOST}} == '{site.entry_host}' && %{{REQUEST_URI}} == '{path}' && %{{QUERY_STRING}} == '{query}'"


def _hints(site: Site, hints: Sequence[str]) -> list[str]:
    """Return the lines for hints, which go ahead of the page alone."""
    if not hints:
        return []
    return ["H2EarlyHints on", f'<If "{_page(site)}">', *(f'    H2EarlyHint Link "{each}"' for each in hints), "</If>"]


def tls(arm: WireSettings, place: Place) -> list[str]:
    """Here rather than in each virtual host: hosts with one setting among them may share an HTTP/2 connection."""
    if arm.tls == "off":
        return []
    if arm.tls_resumption:
        resumption = [f'SSLSessionCache "shmcb:{place.folder}/tls-sessions(512000)"', "SSLSessionTickets On"]
    else:
        # NumTickets: without it OpenSSL hands out TLS 1.3 tickets of another kind, which Chromium would come back with.
        resumption = ["SSLSessionCache none", "SSLSessionTickets Off", "SSLOpenSSLConfCmd NumTickets 0"]
    return [
        f"SSLProtocol -all +{TLS_NAMES[arm.tls]}",
        *resumption,
        f'SSLCertificateFile "{place.certificate}"',
        f'SSLCertificateKeyFile "{place.key}"',
    ]


def _logs(arm: WireSettings, *, log_requests: bool) -> list[str]:
    access = ACCESS_FORMAT + (TLS_ACCESS_FORMAT if arm.tls != "off" else "")
    access += (SPDY_ACCESS_FORMAT if arm.spdy else "") + "}"
    # A proxy asks from this node, and so does the question whether the server is ready.
    which = "" if arm.behind else " \"expr=%{REMOTE_ADDR} != '127.0.0.1'\""
    requests = [
        f'LogFormat "{access}" lanelab',
        f"CustomLog access.log lanelab{which}",
    ]
    return ["ErrorLog error.log", "LogLevel warn", *(requests if log_requests else [])]


def _everybody(arm: WireSettings, port: int, scheme: str) -> list[str]:
    """One virtual host for every name: which of them have answers is in the pack."""
    return [
        f"<VirtualHost *:{port}>",
        f"    ServerName {NOBODY}",
        "    ServerAlias *",
        *(["    SSLEngine On"] if scheme == "https" else []),
        # Browsers speak HTTP/2 in TLS alone, so in clear there is none to offer.
        *(["    Protocols http/1.1"] if scheme == "http" and arm.tls != "off" and arm.protocol == "h2" else []),
        "</VirtualHost>",
    ]


def refused_directive(words: str, text: str) -> InputError | None:
    """Return which of the arm's own directives Apache's words are about."""
    syntax = _SYNTAX.search(words)
    directive = directive_of(text, int(syntax[1])) if syntax else None
    if not syntax or not directive:
        return None
    first = syntax[2].strip().splitlines()[0]
    remedy = (
        "See https://httpd.apache.org/docs/2.4/mod/directives.html; a directive of a module that lanelab does not load "
        "needs 'LoadModule NAME_module ${MODULES}/mod_NAME.so' before it"
    )
    return InputError(f"Apache does not take {directive!r}: {first}", remedy, key="server_directives")
