"""What several servers have in common, and not all."""

import ssl

from lanelab.driver.arm.servers.server import NOBODY
from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import Kind, count
from lanelab.driver.base.settings.setting import DefaultBy, Setting

# lighttpd takes a third of its usual 4096 descriptors. webfs's own 32 are fewer than a browser may open.
MAX_CONNECTIONS = Setting(
    "max_connections",
    count("CONNECTIONS", "connections", 32, 100_000),
    DefaultBy("server", {"lighttpd": "1365", "h2o": "1024", "webfs": "256"}),
    "connections that the server has at most (lighttpd: each of its processes)",
    "8000",
)


def count_or_auto(metavar: str, what: str) -> Kind:
    """Return a kind of numbers for which `auto` leaves it to the server."""
    counted = count(metavar, what, 1, 512)

    def parse(value: object, key: str) -> int | str:
        read: int | str = "auto" if value == "auto" else counted.parse(value, key)
        return read

    return Kind(metavar, f"`auto`, or {counted.written}", parse, {"anyOf": [{"const": "auto"}, counted.schema]})


def require_no_proxy(arm: WireSettings, title: str) -> None:
    """Raises InputError."""
    if arm.behind:
        what = f"lanelab does not put {title} behind a proxy"
        raise InputError(what, "Leave proxy out, or write another server", key="proxy")


def question(arm: WireSettings) -> bytes:
    """Return the bytes with which a client begins TLS: a server that says nothing to HTTP there answers them when it is
    ready."""
    if arm.ports[0] != "https":
        return b""
    out = ssl.MemoryBIO()
    context = ssl.create_default_context()
    client = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=NOBODY)
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        return out.read()
    raise AssertionError("a handshake ended without a server")
