"""An arm and a site as what native/servlet/common/Configuration.java reads, and the command line. Pure."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping

from lanelab.driver.arm.servers.answers import undated
from lanelab.driver.arm.servers.back_ends.fields import RESERVED, BackEndSettings, heap_mb, secured, spoken
from lanelab.driver.arm.servers.layout import answered, content_type
from lanelab.driver.arm.servers.server import (
    BACK_END_PORT,
    CONNECTION_HEADERS,
    OWN_HEADERS,
    PORTS,
    TLS_NAMES,
    Place,
)
from lanelab.driver.arm.wire import WireSettings, own_settings
from lanelab.driver.base.errors import InputError
from lanelab.driver.site.site import Site, SiteObject

JARS = "lanelab-back-end"  # folder, beside the objects
OBJECTS = "objects"
STREAMS = 1000  # requests at once on a connection of HTTP/2 or SPDY: the thread pool is to be the limit
BACKLOG = 511  # as Apache and nginx have it
BEHIND_IDLE_MS = 600_000  # a proxy decides when its connections to the back end end
BEFORE_SLF4J = ("9.2", "8.1")  # versions of Jetty that have a log of their own
_NAMED = re.compile(r"(?P<which>tomcat-embed-core|jetty-server)-(?P<version>[0-9][\w.]*)\.jar")
_AJP_PING = b"\x12\x34\x00\x01\x0a"  # CPing, which every AJP connector answers


def objects(site: Site) -> Iterator[tuple[SiteObject, str]]:
    """Yield what is answered, and the name of its file. What minify rewrote is put there compressed, as nginx has
    it."""
    for each in answered(site.objects):
        coding = f".{each.compressed}" if each.compressed else ""
        yield each, f"{OBJECTS}/{each.sha256}{coding}"


def digest(site: Site, back_end: bytes) -> str:
    """The same for the same files in the same places. `back_end`: the zip of its jars."""
    names = sorted({name for _, name in objects(site)})
    return hashlib.sha256("\n".join([hashlib.sha256(back_end).hexdigest(), *names]).encode()).hexdigest()[:16]


def configuration(arm: WireSettings, site: Site, place: Place, version: str) -> str:
    """Return the configuration. `version` is what the server calls itself."""
    lines = ["# Made by lanelab for one arm and one site; docs/reference/back-ends.md explains it."]
    lines += ["\t".join((key, str(value))) for key, value in _settings(arm, place, version).items()]
    for each, name in objects(site):
        if each.path.startswith(RESERVED):
            what = f"{each.url} cannot be served: addresses below {RESERVED} are the back end's own"
            raise InputError(what, "Use another site, or server: apache")
        lines.append("\t".join(("object", each.host, each.path, str(each.status), name)))
        lines += ["\t".join(("header", *header)) for header in headers(each)]
    return "".join(f"{line}\n" for line in lines)


def _settings(arm: WireSettings, place: Place, version: str) -> Mapping[str, object]:
    settings = {
        "version": version,
        "listen": "127.0.0.1" if arm.behind else "0.0.0.0",  # noqa: S104 - the node's addresses are the bed's own
        "port": BACK_END_PORT if arm.behind else PORTS[arm.scheme],
        "protocol": spoken(arm),
        "tls": TLS_NAMES[arm.tls] if secured(arm) else "off",
        "threads": own_settings(arm, BackEndSettings).threads,
        "streams": STREAMS,
        "backlog": BACKLOG,
        "idle_ms": BEHIND_IDLE_MS if arm.behind else arm.keepalive_timeout.ns // 1_000_000,
        "requests_per_connection": _requests(arm),
        "folder": place.folder,
        "content": place.content,
        "access_log": f"{place.folder}/access.log",
        "error_log": f"{place.folder}/error.log",
    }
    return {**settings, **({"certificate": place.certificate, "key": place.key} if secured(arm) else {})}


def _requests(arm: WireSettings) -> int:
    """Return what a connection of HTTP/1.1 carries; 0: as many as come. The setting is how often it is kept."""
    if arm.behind or spoken(arm) != "http/1.1":
        return 0
    if not arm.keepalive:
        return 1
    return arm.keepalive_requests + 1 if arm.keepalive_requests else 0


def headers(each: SiteObject) -> Iterator[tuple[str, str]]:
    yield "Content-Type", content_type(each)
    if each.compressed:
        yield "Content-Encoding", each.compressed
        yield "Vary", "Accept-Encoding"
    yield from undated(each)
    for name, value in each.headers:
        left_out = name.lower() in CONNECTION_HEADERS | OWN_HEADERS
        if not left_out and name.isascii() and value.isascii() and value.isprintable():
            yield name, value


def command(java: str, arm: WireSettings, place: Place, jars: Iterable[str]) -> list[str]:
    """Return the command without what Main reads: `--check`, and the configuration."""
    settings = own_settings(arm, BackEndSettings)
    own_log = settings.jetty_version in BEFORE_SLF4J
    heap = heap_mb(settings)
    return [
        java,
        f"-Xms{heap}m",
        f"-Xmx{heap}m",
        "-XX:+UseG1GC",  # else the virtual machine chooses by the size of the machine
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-UsePerfData",  # a file in /tmp, which a kill would leave
        f"-XX:ErrorFile={place.folder}/crash.log",
        f"-Djava.io.tmpdir={place.folder}",
        "-Djava.awt.headless=true",
        "-Duser.language=en",
        "-Dfile.encoding=UTF-8",
        *(["-Dorg.eclipse.jetty.util.log.class=org.eclipse.jetty.util.log.JavaUtilLog"] if own_log else []),
        "-cp",
        ":".join(f"{place.content}/{JARS}/{jar}" for jar in sorted(jars)),
        "lanelab.Main",
    ]


def question(arm: WireSettings) -> bytes:
    """Return what shows that it is ready. Empty: HTTP/1.1, which its HTTP/2 in clear understands too."""
    protocol = spoken(arm)
    if protocol == "ajp":
        return _AJP_PING
    if protocol.startswith("spdy/"):
        version = int(protocol.removeprefix("spdy/"))
        return bytes((0x80, version, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1))  # PING 1
    return b""


def version_of(jars: Iterable[str]) -> str:
    """Return the version as it calls itself, by the jar that it is in: Jetty/12.0.16."""
    jar = next(match for match in map(_NAMED.fullmatch, sorted(jars)) if match)
    return f"{'Tomcat' if jar['which'] == 'tomcat-embed-core' else 'Jetty'}/{jar['version']}"
