"""An arm and a site as Caddy's whole configuration, in JSON. Pure. docs/reference/server.md says the same for users."""

import json
from collections.abc import Iterable, Iterator, Sequence

from lanelab.driver.arm.servers.answers import Answer
from lanelab.driver.arm.servers.layout import HOSTS, INDEX, Layout
from lanelab.driver.arm.servers.server import PORTS, Place, listens
from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.base.coded import Json, JsonObject
from lanelab.driver.site.compressed_types import COMPRESSED_TYPES, SMALLEST_COMPRESSED
from lanelab.driver.site.site import Site

COMPRESSORS = ("gzip",)  # of an arm's `compression`
GZIP_LEVEL = 6
TLS_NAMES = {"1.2": "tls1.2", "1.3": "tls1.3"}
LOGGER = "lanelab"
# Of loads by HTTP/3, the first of each second: what was spoken has no other witness on the server. Where one has, there
# is no log, since Caddy puts each line together before it leaves it out.
SAMPLED = frozenset({"h3"})
SAMPLING: JsonObject = {"interval": 1_000_000_000, "first": 5, "thereafter": 1 << 30}
ALT_SVC = f'h3=":{PORTS["https"]}"; ma=2592000'


def configuration(
    arm: WireSettings,
    site: Site,
    place: Place,
    layout: Layout,
    answers: Iterable[Answer],
    *,
    hints: Sequence[str] = (),
    log_requests: bool = True,
) -> str:
    """Return the text of caddy.json."""
    listed = list(answers)
    routes = [_origin(host, place, layout, [each for each in listed if each.host == host]) for host in site.hosts]
    routes = [*_hints(site, hints), *routes, {"handle": [{"handler": "static_response", "status_code": 404}]}]
    routes = [*_everywhere(arm), *routes]
    logged = log_requests or arm.protocol in SAMPLED
    servers = {scheme: _server(arm, scheme, routes, logged=logged) for scheme in arm.ports}
    apps: dict[str, Json] = {"http": {"grace_period": "1ms", "servers": servers}}
    if arm.tls != "off":
        apps["tls"] = {
            "certificates": {"load_files": [{"certificate": place.certificate, "key": place.key}]},
            "disable_ocsp_stapling": True,
            "session_tickets": {"disabled": not arm.tls_resumption},
        }
    whole = {
        "admin": {"disabled": True, "config": {"persist": False}},
        "logging": {"logs": _logs(place, logged=logged, each=log_requests)},
        "apps": apps,
    }
    return json.dumps(whole, indent=1) + "\n"


def _server(arm: WireSettings, scheme: str, routes: list[JsonObject], *, logged: bool) -> JsonObject:
    """In clear beside TLS it is HTTP/1.1: browsers speak nothing else there."""
    h3 = arm.protocol == "h3" and scheme == arm.scheme
    h2 = h3 or (arm.protocol == "h2" and scheme == arm.scheme)
    protocols = ["h1", *([("h2" if scheme == "https" else "h2c")] if h2 else []), *(["h3"] if h3 else [])]
    server: dict[str, Json] = {
        "listen": [f"{address}:{port}" for address, port, each in listens(arm) if each == scheme],
        "protocols": protocols,
        "idle_timeout": arm.keepalive_timeout.ns,
        "automatic_https": {"disable": True},
        "routes": routes,
    }
    if logged:
        server["logs"] = {"default_logger_name": LOGGER}
    if scheme == "https":
        version = TLS_NAMES[arm.tls]
        alpn = ["h2", "http/1.1"] if h2 else ["http/1.1"]
        server["tls_connection_policies"] = [{"protocol_min": version, "protocol_max": version, "alpn": alpn}]
    return server


def _logs(place: Place, *, logged: bool, each: bool) -> JsonObject:
    logs: dict[str, Json] = {
        "default": {
            "writer": {"output": "file", "filename": f"{place.folder}/error.log", "roll": False},
            "level": "WARN",
            "encoder": {"format": "json"},
            "exclude": ["http.log.access"],
        }
    }
    requests: dict[str, Json] = {
        "writer": {"output": "file", "filename": f"{place.folder}/access.log", "roll": False},
        "include": [f"http.log.access.{LOGGER}"],
        "encoder": {
            "format": "filter",
            "wrap": {"format": "json", "time_format": "unix_nano"},
            "fields": {"request>headers": {"filter": "delete"}},
        },
    }
    if not each:
        requests["sampling"] = SAMPLING
    return {**logs, "requests": requests} if logged else logs


def _everywhere(arm: WireSettings) -> Iterator[JsonObject]:
    if arm.compression in COMPRESSORS:
        types = [f"{mime}*" for mime in COMPRESSED_TYPES]
        encode: JsonObject = {
            "handler": "encode",
            "encodings": {"gzip": {"level": GZIP_LEVEL}},
            "minimum_length": SMALLEST_COMPRESSED,
            "match": {"headers": {"Content-Type": types}},
        }
        yield {"handle": [encode]}
    if arm.protocol == "h3":
        # By HTTP/3 too, where Caddy does not say it: without it Chromium asks for no more than six images at a time.
        yield {"handle": [{"handler": "headers", "response": {"set": {"Alt-Svc": [ALT_SVC]}}}]}
    if not arm.keepalive:
        yield {"handle": [{"handler": "headers", "response": {"set": {"Connection": ["close"]}}}]}


def _hints(site: Site, hints: Sequence[str]) -> Iterator[JsonObject]:
    """Yield a 103 ahead of the page, whose headers Caddy would send again with the page."""
    if hints:
        page: JsonObject = {"host": [site.entry_host], "vars": {"{http.request.orig_uri}": [_plain(site.entry_path)]}}
        handler: JsonObject = {"handler": "headers", "response": {"set": {"Link": list(hints)}}}
        gone: JsonObject = {"handler": "headers", "response": {"delete": ["Link"]}}
        yield {"match": [page], "handle": [handler, {"handler": "static_response", "status_code": 103}, gone]}


def _origin(host: str, place: Place, layout: Layout, answers: list[Answer]) -> JsonObject:
    """What a file's name cannot say is compared first, one after the other. No listing of folders, and no redirect."""
    routes: list[JsonObject] = [_mapped(each, place) for each in answers]
    routes += [_type(extension, mime) for extension, mime in layout.types[host].items()]
    files: JsonObject = {
        "handler": "file_server",
        "root": f"{place.content}/{HOSTS}/{host}",
        "index_names": [INDEX],
        "canonical_uris": False,
    }
    routes.append({"handle": [files]})
    return {
        "match": [{"host": [host]}],
        "handle": [{"handler": "subroute", "routes": routes}],
        "terminal": True,
    }


def _type(extension: str, mime: str) -> JsonObject:
    """Return the types of files. Without it Caddy takes types from the system's tables."""
    paths = [f"*{extension}", *(["*/"] if INDEX.endswith(extension) else [])]
    return {
        "match": [{"path": paths}],
        "handle": [{"handler": "headers", "response": {"set": {"Content-Type": [mime]}}}],
    }


def _mapped(each: Answer, place: Place) -> JsonObject:
    by_name: dict[str, list[str]] = {}
    for name, value in each.headers:
        by_name.setdefault(name.title(), []).append(_plain(value))
    once = {name: values for name, values in by_name.items() if len(values) == 1}
    several = {name: values for name, values in by_name.items() if len(values) > 1}
    response: JsonObject = {"deferred": True, "set": once, **({"add": several} if several else {})}
    handle: list[JsonObject] = [{"handler": "headers", "response": response}]
    if each.file:
        folder, _, name = each.file.rpartition("/")
        handle += [
            {"handler": "rewrite", "uri": f"/{name}"},
            {
                "handler": "file_server",
                "root": f"{place.content}/{folder}",
                "status_code": str(each.status),
                "canonical_uris": False,
            },
        ]
    else:
        handle.append({"handler": "static_response", "status_code": each.status})
    return {
        "match": [{"vars": {"{http.request.orig_uri}": [_plain(each.path)]}}],
        "handle": handle,
        "terminal": True,
    }


def _plain(text: str) -> str:
    """Caddy takes words in braces for names of values."""
    return text.replace("\\", "\\\\").replace("{", "\\{") if "{" in text else text
