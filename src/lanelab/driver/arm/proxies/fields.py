"""The settings of an arm that are about a proxy in front of its server, and what of them cannot be together. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import choice, count
from lanelab.driver.base.settings.setting import ROW, Setting

NONE = "none"
# What each proxy can speak to the server behind it.
SPOKEN: Mapping[str, tuple[str, ...]] = {
    "apache": ("http/1.1", "ajp", "h2"),
    "nginx": ("http/1.1",),
    "haproxy": ("http/1.1", "h2"),
    "gateway": ("http/1.1", "h2", "spdy/3", "spdy/3.1"),
}
# What each can speak to clients.
OFFERED: Mapping[str, tuple[str, ...]] = {
    "apache": ("http/1.1", "h2"),
    "nginx": ("http/1.1", "h2"),
    "haproxy": ("http/1.1", "h2"),
    "gateway": ("http/1.1", "h2"),
}
_BACK_END = {"http": "http/1.1", "h1": "http/1.1", "http1": "http/1.1", "http2": "h2", "h2c": "h2"}
_BACK_END |= {"spdy": "spdy/3.1", "spdy3": "spdy/3", "spdy3.1": "spdy/3.1"}
_WITHOUT = ("proxy", NONE)
_OTHERS = tuple(("proxy", name) for name in (NONE, *SPOKEN) if name != "gateway")
_NOT_APACHE = tuple(("proxy", name) for name in (NONE, *SPOKEN) if name != "apache")
_ONE_AT_A_TIME = (("proxy_protocol", "http/1.1"), ("proxy_protocol", "ajp"))
THREADS_PER_CHILD = 25  # of Apache as a proxy


@dataclass(frozen=True, kw_only=True)
class ProxySettings(WireSettings):
    # fmt: off
    proxy: str = field(metadata={ROW: Setting(
        "proxy", choice("NAME", NONE, *SPOKEN), NONE,
        "the [proxy](proxy.md) between clients and the server, on the server's node", "haproxy",
        aliases=("reverse_proxy",))})
    proxy_protocol: str = field(metadata={ROW: Setting("proxy_protocol",
        choice("NAME", "http/1.1", "ajp", "h2", "spdy/3", "spdy/3.1", also=_BACK_END), "http/1.1",
        "what the proxy speaks to the server behind it, in clear", "h2", meaningless_with=(_WITHOUT,))})
    proxy_window: int = field(metadata={ROW: Setting(
        "proxy_window", count("BYTES", "bytes", 64 << 10, 6 << 20), str(64 << 10),
        "with `proxy: gateway`: how much the server behind it may send on a stream before the client has taken it",
        "131072", meaningless_with=(*_OTHERS, *_ONE_AT_A_TIME))})
    proxy_connections: int = field(metadata={ROW: Setting(
        "proxy_connections", count("CONNECTIONS", "connections", 1, 256), "1",
        "with `proxy: gateway`: connections to the server behind it, over which requests are spread", "2",
        meaningless_with=(*_OTHERS, *_ONE_AT_A_TIME))})
    proxy_mpm: str = field(metadata={ROW: Setting(
        "proxy_mpm", choice("NAME", "event", "worker", "prefork"), "event",
        "with `proxy: apache`: how it divides its work among processes and threads", "worker",
        meaningless_with=_NOT_APACHE)})
    proxy_workers: int = field(metadata={ROW: Setting(
        "proxy_workers", count("WORKERS", "workers", 25, 20_000), "400",
        "with `proxy: apache`: requests that it carries at once; of `event` and `worker` a multiple of 25", "1000",
        meaningless_with=_NOT_APACHE)})
    # fmt: on


def check(arm: ProxySettings) -> None:
    """Raises InputError for what the arm's proxy cannot do."""
    spoken, offered = SPOKEN[arm.proxy], OFFERED[arm.proxy]
    if arm.proxy_protocol not in spoken:
        able = [name for name, protocols in SPOKEN.items() if arm.proxy_protocol in protocols]
        what = f"proxy: {arm.proxy} does not speak {arm.proxy_protocol} to the server behind it"
        remedy = f"Write proxy_protocol: {' or '.join(spoken)}, or proxy: {' or '.join(able)}"
        raise InputError(what, remedy, key="proxy_protocol")
    if arm.protocol not in offered:
        what = f"proxy: {arm.proxy} does not speak {arm.protocol} to clients"
        raise InputError(what, f"Write protocol: {' or '.join(offered)}, or leave proxy out", key="protocol")
    if arm.schemes != "arm":
        what = "a proxy listens for one scheme, so addresses cannot stay as they were recorded"
        raise InputError(what, "Leave schemes out, or leave proxy out", key="schemes")
    if arm.proxy_mpm == "prefork" and "h2" in (arm.protocol, arm.proxy_protocol):
        what = "Apache does not speak HTTP/2 with proxy_mpm: prefork"
        raise InputError(what, "Write proxy_mpm: event or proxy_mpm: worker", key="proxy_mpm")
    if arm.proxy_mpm != "prefork" and arm.proxy_workers % THREADS_PER_CHILD:
        what = f"{arm.proxy_workers} workers are not a multiple of {THREADS_PER_CHILD}"
        nearest = arm.proxy_workers // THREADS_PER_CHILD * THREADS_PER_CHILD
        raise InputError(what, f"Write proxy_workers: {nearest}", key="proxy_workers")
