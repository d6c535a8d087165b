"""The settings of an arm that Tomcat and Jetty have alike."""

import re
from dataclasses import dataclass, field

from lanelab.driver.arm.wire import OwnSettings, WireSettings
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import Kind, count
from lanelab.driver.base.settings.setting import ROW, Setting

LEAST_HEAP_MB, MOST_HEAP_MB = 64, 65536
LEAST_THREADS, MOST_THREADS = 16, 5000  # with fewer, acceptors and selectors might leave none for requests
RESERVED = "/lanelab/"
_HEAP = re.compile(r"(?P<number>[0-9]{1,6})\s?(?P<unit>[MG]B)", re.IGNORECASE)


def _heap(value: object, key: str) -> str:
    written = _HEAP.fullmatch(str(value).strip())
    megabytes = int(written["number"]) * (1024 if written["unit"].upper() == "GB" else 1) if written else 0
    if not LEAST_HEAP_MB <= megabytes <= MOST_HEAP_MB:
        remedy = f"Write MB or GB, from {LEAST_HEAP_MB}MB to {MOST_HEAP_MB // 1024}GB, like 512MB"
        raise InputError(f"{value!r} is no size of a heap", remedy, key=key)
    return f"{megabytes}MB"


def _no_directives(value: object, key: str) -> tuple[str, ...]:
    if value not in ((), []):
        raise InputError("Tomcat and Jetty are programs here, and read no directives", "Leave it out", key=key)
    return ()


DIRECTIVES = Kind("LIST", "none", _no_directives, {"type": "array", "maxItems": 0})


@dataclass(frozen=True)
class BackEndSettings(OwnSettings):
    # fmt: off
    threads: int = field(metadata={ROW: Setting(
        "threads", count("THREADS", "threads", LEAST_THREADS, MOST_THREADS), "200",
        "the size of its thread pool. Jetty's acceptors and selectors are in it", "400")})
    heap: str = field(metadata={ROW: Setting(
        "heap", Kind("SIZE", f"`MB` or `GB`, {LEAST_HEAP_MB}MB to {MOST_HEAP_MB // 1024}GB", _heap,
                     {"type": "string", "pattern": r"^\s*[0-9]+\s?([mMgG][bB])\s*$"}),
        "512MB", "the heap of Java's virtual machine, from its start to its end", "2GB")})
    # fmt: on
    jetty_version: str = ""  # of Jetty alone


def heap_mb(settings: BackEndSettings) -> int:
    return int(settings.heap.removesuffix("MB"))


def spoken(arm: WireSettings) -> str:
    """Return the protocol at its port."""
    return arm.behind or arm.protocol


def secured(arm: WireSettings) -> bool:
    """Behind a proxy everything is in clear."""
    return arm.tls != "off" and not arm.behind


def check(arm: WireSettings, title: str, clear: frozenset[str], tls: frozenset[str]) -> None:
    """Refuse an arm with a protocol that is not among `clear` and `tls`, which say what the server speaks. Raises
    InputError."""
    protocol, key = spoken(arm), "proxy_protocol" if arm.behind else "protocol"
    able = tls if secured(arm) else clear
    if protocol not in able:
        with_tls = " with TLS" if secured(arm) else ""
        remedy = f"Choose {', '.join(sorted(able))}" if able else "Write tls: off"
        raise InputError(f"{title} does not speak {protocol}{with_tls} here", remedy, key=key)
    if len(arm.ports) > 1:
        raise InputError(f"{title} listens at one port here", "Leave schemes out", key="schemes")
    if secured(arm) and not arm.tls_resumption:
        remedy = "Leave tls_resumption out"
        raise InputError(f"{title} always lets sessions of TLS be resumed here", remedy, key="tls_resumption")
