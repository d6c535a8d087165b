"""Distances: the round trip to each origin of a site, where it is another than the link's. Pure.

`cdn.example 10ms, *.ads.example 200ms, default 80ms` is the same as the mapping that a file has.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.host_names import ANY, DEFAULT, is_pattern, matches
from lanelab.driver.base.settings.kinds import Kind
from lanelab.driver.base.units import Duration
from lanelab.driver.bed.addresses import MOST_DISTANCES
from lanelab.driver.link.kinds import MAX_DELAY, MIN_RTT

NONE, RECORDED = "none", "recorded"
EXAMPLE = "{cdn.example: 10ms, '*.ads.example': 200ms, default: 80ms}"
MOST_HOSTS = 1000


@dataclass(frozen=True, slots=True)
class Distances:
    """Round trips by host, or by a pattern like *.ads.example. Where there are none, all hosts are equally far."""

    of: tuple[tuple[str, Duration], ...] = ()  # in the order in which they were written
    default: Duration | None = None  # of all other hosts; None: the link's own round trip
    recorded: bool = False  # those that the site remembers: `of` is empty until the site is known

    def __bool__(self) -> bool:
        return bool(self.of) or self.default is not None or self.recorded

    def __str__(self) -> str:
        if self.recorded:
            return RECORDED
        pairs = [*self.of, *([(DEFAULT, self.default)] if self.default else [])]
        return ", ".join(f"{host} {trip}" for host, trip in pairs) or NONE

    @property
    def all(self) -> tuple[Duration, ...]:
        """Return every round trip that is written here, the shortest first."""
        trips = {trip for _, trip in self.of} | ({self.default} if self.default else set())
        return tuple(sorted(trips))

    def pattern_for(self, host: str) -> str | None:
        """Return the line that decides about a host: its own, else the longest pattern; None: it is like all others."""
        fits = [pattern for pattern, _ in self.of if matches(pattern, host)]
        return max(fits, key=lambda pattern: (not pattern.startswith(ANY), len(pattern)), default=None)

    def to(self, host: str) -> Duration | None:
        """Return the round trip to a host; None: it is that of all others."""
        return dict(self.of).get(self.pattern_for(host) or "", self.default)

    def unused(self, hosts: Iterable[str]) -> list[str]:
        """Return the lines that decide about none of these hosts."""
        used = {self.pattern_for(host) for host in hosts}
        return [pattern for pattern, _ in self.of if pattern not in used]


NO_DISTANCES = Distances()


def of_hosts(trips: Mapping[str, Duration], default: Duration | None = None) -> Distances:
    """Return the distances of these hosts."""
    return Distances(tuple(trips.items()), default)


def _distances(value: object, key: str) -> Distances:
    if isinstance(value, Mapping):
        return _of_pairs([(str(host), str(trip)) for host, trip in value.items()], key)
    text = str(value).strip()
    if text == NONE:
        return NO_DISTANCES
    if text == RECORDED:
        return Distances(recorded=True)
    if text.startswith("{") and text.endswith("}"):  # as a command line has it
        pairs = (part.partition(":") for part in text[1:-1].split(",") if part.strip())
        return _of_pairs([(host.strip(" '\""), trip.strip()) for host, _, trip in pairs], key)
    parts = (part.split() for part in text.split(","))
    pairs_of_text = [(words[0], words[1]) for words in parts if len(words) == 2]
    if len(pairs_of_text) != text.count(",") + 1:
        what = f"{text[:60]!r} is no distances"
        raise InputError(what, f"Write them like {EXAMPLE}, or {RECORDED}, or {NONE}", key=key)
    return _of_pairs(pairs_of_text, key)


def _of_pairs(pairs: list[tuple[str, str]], key: str) -> Distances:
    if not pairs:
        raise InputError("there are no distances", f"Write them like {EXAMPLE}, or leave them out", key=key)
    if len(pairs) > MOST_HOSTS:
        what = f"these are {len(pairs)} hosts, more than {MOST_HOSTS}"
        raise InputError(what, "Write patterns like '*.example'", key=key)
    trips: dict[str, Duration] = {}
    for host, text in pairs:
        name = host.lower()
        place = f"{key}.{host}" if key else host
        if name in trips:
            raise InputError(f"the distance of {name} is there twice", "Remove one of them", key=place)
        trips[name] = _trip(name, text, place)
    default = trips.pop(DEFAULT, None)
    far = len(set(trips.values()) - {default})
    if far > MOST_DISTANCES:
        what = f"these are {far} different distances, more than {MOST_DISTANCES}"
        raise InputError(what, "Write whole milliseconds", key=key)
    return Distances(tuple(trips.items()), default)


def _trip(name: str, text: str, key: str) -> Duration:
    if not is_pattern(name):
        remedy = f"Write a host like cdn.example, a pattern like '*.ads.example', or {DEFAULT}"
        raise InputError(f"{name!r} is no host", remedy, key=key)
    trip = Duration.parse(text, key=key)
    if trip < MIN_RTT:
        what = f"a round trip of {trip} cannot be had: the router itself takes about 0.3ms"
        raise InputError(what, f"Write {MIN_RTT} or more", key=key)
    if trip.ns > 2 * MAX_DELAY.ns:
        raise InputError(f"{trip} is more than {MAX_DELAY} in each direction", "Write a shorter one", key=key)
    return trip


_SCHEMA: JsonObject = {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}]}
DISTANCES = Kind(
    "HOSTS",
    f"`{{HOST: ROUND TRIP, …}}`, where a host may be a pattern like `*.ads.example`, or `{DEFAULT}`; `{RECORDED}`; "
    f"`{NONE}`",
    _distances,
    _SCHEMA,
)
