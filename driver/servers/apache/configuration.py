"""An arm and a site as a whole httpd.conf. Pure. docs/reference/server.md says the same for users, with the reasons."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from driver.servers.apache.fields import apache_settings
from driver.servers.apache.object_map import MAP_FILE
from driver.servers.layout import HOSTS, MAPPED, Layout
from driver.servers.server import NOBODY, PORTS, TLS_NAMES, Place, ServerArm
from model.errors import InputError
from model.site.compressed_types import COMPRESSED_TYPES
from model.site.site import Site

COMPRESSORS = {"gzip": "deflate", "brotli": "brotli"}  # modules
DIRECTIVES_BEGIN = "# server_directives of the arm"
DIRECTIVES_END = "# end of server_directives"
# One line of JSON per request. What Apache escapes in it (\xhh) is no JSON: log.py knows. Not in it: whatever comes
# from this node itself, such as the question whether the server is ready.
ACCESS_FORMAT = (
    r"{\"began_us\":%{begin:usec}t,\"duration_us\":%D,\"host\":\"%{Host}i\",\"request\":\"%r\",\"status\":%>s,"
    r"\"body_bytes\":%B,\"sent_bytes\":%O,\"received_bytes\":%I,\"protocol\":\"%H\",\"remote\":\"%{c}a:%{remote}p\","
    r"\"local\":\"%A:%{local}p\",\"keepalives\":%k,\"connection\":\"%X\",\"encoding\":\"%{Content-Encoding}o\""
)
TLS_ACCESS_FORMAT = r",\"tls\":\"%{SSL_PROTOCOL}x\",\"tls_resumed\":\"%{SSL_SESSION_RESUMED}x\""
SPDY_ACCESS_FORMAT = r",\"spdy\":\"%{SPDY_VERSION}e\""
_SYNTAX = re.compile(r"Syntax error on line (\d+) of [^\n]*:\s*(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Modules:
    """Apache's modules on its node."""

    folder: str
    names: frozenset[str]  # of the mod_NAME.so there; a module that is not there is built into the program
    spdy: str  # lanelab's own module, for arms that speak SPDY


def configuration(arm: ServerArm, site: Site, place: Place, modules: Modules, layout: Layout) -> str:
    """The text of httpd.conf."""
    parts = [
        _base(place, modules),
        _modules(arm, modules, layout),
        _workers(arm),
        _connections(arm),
        _spdy(arm),
        _tls(arm, place),
        _compression(arm),
        _files(place, layout),
        _logs(arm),
        _directives(arm),
        _nobody(arm),
        *(_origin(host, arm, place, layout) for host in site.hosts),
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


def _modules(arm: ServerArm, modules: Modules, layout: Layout) -> list[str]:
    wanted = [f"mpm_{apache_settings(arm).mpm}", "unixd", "log_config", "logio", "authz_core", "mime", "dir", "alias"]
    if arm.tls != "off":
        wanted += ["ssl", *(["socache_shmcb"] if arm.tls_resumption else [])]
    if arm.protocol == "h2":
        wanted.append("http2")
    if arm.compression in COMPRESSORS:
        wanted += ["filter", COMPRESSORS[arm.compression]]
    if layout.maps:
        wanted.append("rewrite")
    lines = [f'LoadModule {name}_module "${{MODULES}}/mod_{name}.so"' for name in wanted if name in modules.names]
    return [*lines, *([f'LoadModule spdy_module "{modules.spdy}"'] if arm.spdy else [])]


def _workers(arm: ServerArm) -> list[str]:
    own = apache_settings(arm)
    if own.mpm == "prefork":
        lines = [f"ServerLimit {max(own.max_workers, own.start_servers)}"]
    else:
        processes = max(math.ceil(own.max_workers / own.threads_per_child), 1)
        lines = [
            f"ServerLimit {processes}",
            f"ThreadLimit {max(64, own.threads_per_child)}",
            f"ThreadsPerChild {own.threads_per_child}",
        ]
    return [
        *lines,
        f"StartServers {own.start_servers}",
        f"MaxRequestWorkers {own.max_workers}",
        "MaxConnectionsPerChild 0",
    ]


def _connections(arm: ServerArm) -> list[str]:
    ms = arm.keepalive_timeout.ns // 1_000_000
    return [
        f"Listen 0.0.0.0:{PORTS[arm.scheme]} {arm.scheme}",
        "AcceptFilter http data",
        "AcceptFilter https data",
        "Timeout 60",
        f"KeepAlive {'On' if arm.keepalive else 'Off'}",
        f"MaxKeepAliveRequests {arm.keepalive_requests}",
        f"KeepAliveTimeout {ms // 1000 if ms % 1000 == 0 else f'{ms}ms'}",
        f"Protocols {_offered(arm)}",
        "HostnameLookups Off",
        "EnableSendfile Off",
        "EnableMMAP On",
    ]


def _offered(arm: ServerArm) -> str:
    """SPDY is not among Apache's own protocols: its module offers it beside them."""
    if arm.protocol != "h2":
        return "http/1.1"
    return "h2c http/1.1" if arm.tls == "off" else "h2 http/1.1"


def _spdy(arm: ServerArm) -> list[str]:
    """By ALPN in TLS. In clear the client begins with it, without asking."""
    if not arm.spdy:
        return []
    if arm.tls == "off":
        return [f"SpdyCleartext {arm.spdy}"]
    return ["SpdyEnabled on", f"SpdyVersions {arm.spdy}"]


def _tls(arm: ServerArm, place: Place) -> list[str]:
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


def _compression(arm: ServerArm) -> list[str]:
    if arm.compression not in COMPRESSORS:
        return []
    name = {"gzip": "DEFLATE", "brotli": "BROTLI_COMPRESS"}[arm.compression]
    return [f"AddOutputFilterByType {name} {each}" for each in COMPRESSED_TYPES]


def _files(place: Place, layout: Layout) -> list[str]:
    lines = [
        "TypesConfig /dev/null",
        "DirectoryIndex index.html",
        "DirectorySlash Off",
        '<Directory "/">',
        "    AllowOverride None",
        "    Options FollowSymLinks",
        "    Require all denied",
        "</Directory>",
        f'<Directory "{place.content}">',
        "    Require all granted",
        "</Directory>",
    ]
    return [*lines, *(f'AddType "{mime}" .type{number}' for number, mime in enumerate(layout.mapped_types))]


def _logs(arm: ServerArm) -> list[str]:
    access = ACCESS_FORMAT + (TLS_ACCESS_FORMAT if arm.tls != "off" else "")
    access += (SPDY_ACCESS_FORMAT if arm.spdy else "") + "}"
    return [
        "ErrorLog error.log",
        "LogLevel warn",
        f'LogFormat "{access}" lanelab',
        "CustomLog access.log lanelab \"expr=%{REMOTE_ADDR} != '127.0.0.1'\"",
    ]


def _directives(arm: ServerArm) -> list[str]:
    """Last of what holds for the whole server, so that they win over everything above."""
    return [DIRECTIVES_BEGIN, *arm.server_directives, DIRECTIVES_END] if arm.server_directives else []


def _open(arm: ServerArm, name: str) -> list[str]:
    tls = ["    SSLEngine On"] if arm.tls != "off" else []
    return [f"<VirtualHost *:{PORTS[arm.scheme]}>", f"    ServerName {name}", *tls]


def _nobody(arm: ServerArm) -> list[str]:
    """The first virtual host answers to every name that no other has."""
    return [*_open(arm, NOBODY), "    RedirectMatch 404 .*", "</VirtualHost>"]


def _origin(host: str, arm: ServerArm, place: Place, layout: Layout) -> list[str]:
    lines = [*_open(arm, host), f'    DocumentRoot "{place.content}/{HOSTS}/{host}"']
    lines += [f'    AddType "{mime}" {extension}' for extension, mime in layout.types[host].items()]
    if host in layout.maps:
        lines += [
            "    RewriteEngine On",
            f'    RewriteMap objects "txt:{place.folder}/{MAP_FILE}"',
            r'    RewriteCond "%{THE_REQUEST}" "^\S+ (\S+)"',
            f'    RewriteCond "${{objects:{host}%1}}" "^(.+)$"',
            # The folder stands here and not in the map: newer Apaches take no folder from outside the configuration.
            f'    RewriteRule "^" "{place.content}/{MAPPED}/%1" [L]',
        ]
    return [*lines, "</VirtualHost>"]


def directive_of(text: str, number: int) -> str | None:
    """Which of the arm's own directives line `number` of a configuration is."""
    lines = text.splitlines()
    if DIRECTIVES_BEGIN not in lines or not 1 <= number <= len(lines):
        return None
    inside = lines.index(DIRECTIVES_BEGIN) + 1 < number < lines.index(DIRECTIVES_END) + 1
    return lines[number - 1] if inside else None


def refused_directive(words: str, text: str) -> InputError | None:
    """Which of the arm's own directives Apache's words are about."""
    syntax = _SYNTAX.search(words)
    directive = directive_of(text, int(syntax[1])) if syntax else None
    if not syntax or not directive:
        return None
    first = syntax[2].strip().splitlines()[0]
    remedy = (
        "See https://httpd.apache.org/docs/2.4/mod/directives.html; a directive of a module that lanelab does not load "
        "needs 'LoadModule NAME_module ${MODULES}/mod_NAME.so' before it"
    )
    return InputError(f"Apache does not take {directive.strip()!r}: {first}", remedy, key="server_directives")
