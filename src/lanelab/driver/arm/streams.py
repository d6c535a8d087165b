"""The settings of arms that are about streams: windows, limits, who goes first, and what the server pushes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import Kind, choice, count
from lanelab.driver.base.settings.setting import ROW, Setting, rows_of
from lanelab.driver.site.push_plan import CRITICAL, OFF, REFERENCED

POLICIES = (CRITICAL, REFERENCED)
_PATTERN = re.compile(r"/[!-~]*")

CHROMIUMS_WINDOW, CHROMIUMS_CONNECTION, CHROMIUMS_STREAMS = 6 << 20, 15 << 20, 256
_LEAST_WINDOW, _MOST_WINDOW, _DRAFTS_WINDOW = 4 << 10, 256 << 20, 64 << 10


def _push(value: object, key: str) -> str:
    """Return one text for one wish: a policy, or patterns in one order."""
    texts = value if isinstance(value, list | tuple) else [value]
    words = [word for text in texts for word in str(text).replace(",", " ").split()]
    if words in (["off"], ["False"], ["false"], ["no"]):
        return OFF
    if len(words) == 1 and words[0] in POLICIES:
        return words[0]
    wrong = [word for word in words if not _PATTERN.fullmatch(word)]
    if wrong or not words:
        what = f"{wrong[0]!r} is neither a policy nor a pattern of paths" if wrong else "it names nothing"
        remedy = f"Write off, {' or '.join(POLICIES)}, or patterns that begin with /, like /css/*"
        raise InputError(what, remedy, key=key)
    return ",".join(sorted(set(words)))


_TEXTS: JsonObject = {
    "anyOf": [{"type": "string"}, {"type": "boolean"}, {"type": "array", "items": {"type": "string"}}]
}
PUSH = Kind("WHAT", "`off`, `critical`, `referenced`, or a list of patterns of paths", _push, _TEXTS)


def _without(*protocols: str) -> tuple[tuple[str, object], ...]:
    return tuple(("protocol", protocol) for protocol in protocols)


@dataclass(frozen=True, kw_only=True)
class StreamSettings:
    # fmt: off
    stream_window: int = field(metadata={ROW: Setting(
        "stream_window", count("BYTES", "bytes", _LEAST_WINDOW, _MOST_WINDOW), str(CHROMIUMS_WINDOW),
        "how much the server may send on a stream before the client has read it, by the gateway where it is not "
        "6 MiB. Chromium had 65536 in SPDY/3 in 2012", "65536",
        meaningless_with=_without("http/1.1", "spdy/2", "h3"),
        aliases=("spdy_stream_window", "window", "initial_window_size"))})
    connection_window: int = field(metadata={ROW: Setting(
        "connection_window", count("BYTES", "bytes", _DRAFTS_WINDOW, _MOST_WINDOW), str(CHROMIUMS_CONNECTION),
        "the same of all streams of a connection together, by the gateway where it is not 15 MiB", "65536",
        meaningless_with=_without("http/1.1", "spdy/2", "spdy/3", "h3"), aliases=("session_window",))})
    max_concurrent_streams: int = field(metadata={ROW: Setting(
        "max_concurrent_streams", count("REQUESTS", "requests", 1, 1000), str(CHROMIUMS_STREAMS),
        "how many requests the client has under way at once on a connection, if the server takes so many; by the "
        "gateway where it is not 256, as in Chromium", "6", meaningless_with=_without("http/1.1", "h3"),
        aliases=("max_streams",))})
    server_max_streams: int = field(metadata={ROW: Setting(
        "server_max_streams", count("REQUESTS", "requests", 0, 1000), "0",
        "how many the server takes at once on a connection; other numbers than 0 (the server's own: Apache and "
        "mod_spdy 100, nginx 128) through the gateway, whose log tells what the server said", "10",
        meaningless_with=_without("http/1.1", "h3"))})
    priorities: str = field(metadata={ROW: Setting(
        "priorities", choice("WHAT", "chromium", "flat", "none"), "chromium",
        "what the client tells the server of the urgency of requests: as Chromium, the same of all (`flat`), or "
        "nothing (`h2` alone: in SPDY each request has a priority)", "flat",
        meaningless_with=_without("http/1.1", "h3"))})
    scheduling: str = field(metadata={ROW: Setting(
        "scheduling", choice("POLICY", "priority", "fifo", "round-robin"), "priority",
        "which stream mod_spdy sends first: the most urgent, equal ones in turn; the oldest; or all in turn",
        "fifo", meaningless_with=_without("http/1.1", "h2", "h3"), aliases=("schedule",))})
    push: str = field(metadata={ROW: Setting(
        "push", PUSH, OFF,
        "what the server [pushes](gateway.md#server-push) with the page, through the gateway: the style sheets "
        "and scripts that its HTML names (`critical`), all that it names (`referenced`), or what has such paths",
        "critical", meaningless_with=_without("http/1.1", "spdy/2", "h3"), aliases=("server_push",))})
    # fmt: on


# The values with which a browser can do it by itself.
USUAL: Mapping[str, object] = {setting.name: setting.default_value() for setting in rows_of(StreamSettings)}
BEYOND_BROWSERS = tuple(name for name in USUAL if name != "scheduling")
