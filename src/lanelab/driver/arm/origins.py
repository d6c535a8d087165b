"""The setting of an arm that gives hosts servers of their own, and which hosts of a site it means. Pure.

A server answers at the addresses of its hosts alone, so each host has an address of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import MOST_LINES, Kind, choice, near_miss
from lanelab.driver.base.settings.setting import ROW, Setting, rows_of
from lanelab.driver.site.site import Site
from lanelab.driver.site.third_parties import Pairs, is_host, means, read_pattern, require_some

ORIGINS = "origins"
OwnServer = Pairs[str]  # server, protocol, or both: what hosts have that is not the arm's
_PROTOCOL = next(row.kind for row in rows_of(WireSettings) if row.name == "protocol")
_KINDS: Mapping[str, Kind | None] = {"server": choice("NAME", *SERVERS), "protocol": _PROTOCOL}
_LIKE = "{'*.ads.example': {server: nginx, protocol: http/1.1}}"


def _origins(value: object, key: str) -> Pairs[OwnServer]:
    if value in ([], ()):  # as none is stored
        return ()
    if not isinstance(value, Mapping):
        raise InputError("it says what servers hosts have", f"Write a mapping like {_LIKE}", key=key)
    named = {read_pattern(str(name), key): service for name, service in value.items()}
    if len(named) < len(value) or len(named) > MOST_LINES:
        what = f"a host is there twice, or there are more than {MOST_LINES}"
        raise InputError(what, "Write each once, or fewer with * in them", key=key)
    for pattern in named:
        if not is_host(pattern):
            what = f"{pattern[:80]} is an address, and servers are of hosts"
            raise InputError(what, f"Write {pattern.partition('/')[0]}", key=key)
    return tuple((pattern, _service(pattern, service, key)) for pattern, service in named.items())


def _service(pattern: str, value: object, key: str) -> OwnServer:
    if not isinstance(value, Mapping) or not value:
        raise InputError(f"{pattern} has no server and no protocol", f"Write one like {_LIKE}", key=key)
    for name in value:
        if name not in _KINDS:
            what = f"{pattern}: a host has a server and a protocol of its own, and no {str(name)[:40]}"
            raise InputError(what, near_miss(str(name), list(_KINDS)) + "Write it for the arm", key=key)
    try:
        return tuple((name, kind.parse(value[name], name)) for name, kind in _KINDS.items() if kind and name in value)
    except InputError as error:
        raise InputError(f"{pattern}: {error.key}: {error.what}", error.remedy, key=key) from None


_SCHEMA: JsonObject = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": False,
        "properties": {name: kind.schema for name, kind in _KINDS.items() if kind},
    },
}
_ORIGINS = Kind("MAPPING", "a mapping of hosts to `{server: …, protocol: …}`", _origins, _SCHEMA)


@dataclass(frozen=True, kw_only=True)
class OriginSettings:
    # fmt: off
    origins: Pairs[OwnServer] = field(metadata={ROW: Setting(
        ORIGINS, _ORIGINS, "", "[hosts with a server of their own](origins.md), and what that speaks: all else is as "
        "the arm says; needs `addresses: per-origin`", "{'*.ads.example': {server: nginx, protocol: http/1.1}}",
        default_words="none", aliases=("origin", "servers", "hosts", "third_parties"))})
    # fmt: on


def hosts_by_origin(origins: Pairs[OwnServer], site: Site) -> dict[str, tuple[str, ...]]:
    """Return the hosts that each pattern means. Raises InputError where it means none, or a host that it cannot."""
    patterns = [pattern for pattern, _ in origins]
    require_some(patterns, site, ORIGINS)
    by_pattern: dict[str, list[str]] = {pattern: [] for pattern in patterns}
    for host in site.hosts:
        fitting = [pattern for pattern in patterns if means(pattern, host)]
        _require_one(host, fitting, site)
        for pattern in fitting:
            by_pattern[pattern].append(host)
    return {pattern: tuple(hosts) for pattern, hosts in by_pattern.items()}


def _require_one(host: str, fitting: Sequence[str], site: Site) -> None:
    if len(fitting) > 1:
        what = f"{host} is meant by {fitting[0]} and by {fitting[1]}, and one server answers for it"
        raise InputError(what, "Write patterns of which one alone means it", key=ORIGINS)
    if fitting and host == site.entry_host:
        what = f"{fitting[0]} means {host}, from which the page of {site.name} comes: that is the arm's own server"
        raise InputError(what, "Name other hosts alone, and write server and protocol of the arm", key=ORIGINS)
