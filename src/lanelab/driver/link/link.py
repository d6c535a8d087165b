"""The link itself: two directions, two hosts. What cannot be is refused, and every effective setting can be printed."""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

from lanelab.driver.base.coded import Coded, decoded_as
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.host_names import DEFAULT
from lanelab.driver.base.settings.setting import Key
from lanelab.driver.base.units import Duration, Rate, Size
from lanelab.driver.bed.addresses import distance_of
from lanelab.driver.link.cross import NO_CROSS, CrossTraffic
from lanelab.driver.link.direction import Delays, Direction, implied, read_direction
from lanelab.driver.link.distances import NO_DISTANCES, Distances
from lanelab.driver.link.fields import DIRECT, ROUTER, SETTINGS
from lanelab.driver.link.hosts.host import Host, read_host
from lanelab.driver.link.kinds import DIRECTIONS, HEADER, MAX_DELAY, MIN_RTT
from lanelab.driver.link.link_values import WrittenLink
from lanelab.driver.link.moving import Radio
from lanelab.driver.link.moving.trace import shortened

# What the router does to packets; the others are the hosts' own.
OF_ROUTER = frozenset(setting.name for setting in SETTINGS.settings if setting.sides is DIRECTIONS) | {
    "rtt",
    "distances",
    "radio",
    "cross",
}


class Described(NamedTuple):
    """One effective setting of a link, and what it means."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Link(Coded):
    """The link: everything that lies between client and server. Two equal links are the same link: it can be a key."""

    down: Direction
    up: Direction
    client: Host
    server: Host
    mtu: int
    direct: bool = False  # no router is on the way; both directions add nothing
    cross: CrossTraffic = NO_CROSS
    distances: Distances = NO_DISTANCES
    access: tuple[Duration, Duration] | None = None  # the delays down and up that any host has, where the usual differ

    @classmethod
    def parse(cls, mapping: Mapping[str, object]) -> "Link":
        """Return the link that these settings ask for; a setting for one side wins over one for both."""
        written = WrittenLink(mapping, SETTINGS)
        if written.value("path") != DIRECT:
            for side in DIRECTIONS.words:
                written.values |= {f"{name}_{side}": value for name, value in implied(written, side).items()}
        direct = written.value("path") == DIRECT
        if direct:
            _refuse_of_router(written)
        written.check_needs()
        distances = written.value("distances")
        access = down, up = _delays(written)
        _refuse_too_near(distances, down + up)
        if distances.default:
            down, up = _spread(access, distances.default)
        ways = [(down, up), *(_spread(access, trip) for trip in distances.all)]
        mtu = written.value("mtu")
        cross = written.value("cross")
        if cross and not written.value("rate", cross.way):
            what = f"without a rate {cross.way} there is no queue that flows could share"
            raise InputError(what, "Set a rate too, or leave cross out", key="cross")
        of_down, of_up = (Delays(each[0], min(each), max(each)) for each in zip(*ways, strict=True))
        link = cls(
            down=read_direction(written, "down", of_down, down + up, mtu),
            up=read_direction(written, "up", of_up, down + up, mtu),
            client=read_host(written, "client"),
            server=read_host(written, "server"),
            mtu=mtu,
            direct=direct,
            cross=cross,
            distances=distances,
            access=None if access == (down, up) else access,
        )
        if distances and link.moves:
            what = "on a link that changes over time all hosts are equally far"
            raise InputError(what, "Leave distances out, or what changes", key="distances")
        return link

    @property
    def radio(self) -> Radio | None:
        return self.down.radio

    @property
    def moves(self) -> bool:
        """Return whether anything on it changes over time."""
        return self.down.moves or self.up.moves

    @property
    def adds_nothing(self) -> bool:
        """Return whether the router hands packets on as they are."""
        return not self.direct and not any(SETTINGS[name].setting.name in OF_ROUTER for name in self.changed())

    @property
    def beyond_router(self) -> dict[str, str]:
        """Return the effective settings of all but the router: the hosts' own."""
        return {key.name: text for key, text in self._effective() if key.setting.name not in OF_ROUTER}

    @property
    def still(self) -> "Link":
        """Return the link as it is between trials, when nothing changes."""
        return replace(self, down=self.down.still, up=self.up.still)

    @property
    def rtt(self) -> Duration:
        return self.down.delay + self.up.delay

    # --- distances

    @property
    def far(self) -> tuple[Duration, ...]:
        """Return the round trips that are not the usual one, the shortest first. Their order gives them networks."""
        return tuple(trip for trip in self.distances.all if trip != self.rtt)

    @property
    def usual(self) -> "Link":
        """Return the link to hosts that have no distance of their own."""
        return replace(self, distances=NO_DISTANCES, access=None)

    def at(self, trip: Duration) -> "Link":
        """Return the link to hosts that are so far away."""
        down, up = _spread(self.access or (self.down.delay, self.up.delay), trip)
        usual = self.usual
        return replace(usual, down=replace(self.down, delay=down), up=replace(self.up, delay=up))

    @property
    def by_distance(self) -> "tuple[Link, ...]":
        """Return the link to hosts of each distance, the usual one first."""
        return (self.usual, *map(self.at, self.far))

    def distance_to(self, host: str) -> int | None:
        """Return which of `far` a host has; None: it is as far as all others."""
        trip = self.distances.to(host)
        return None if trip is None or trip == self.rtt else self.far.index(trip)

    def to_host(self, host: str) -> "Link":
        """Return the link to that host."""
        number = self.distance_to(host)
        return self.usual if number is None else self.at(self.far[number])

    def to_address(self, address: str) -> "Link":
        """Return the link to that address of the server."""
        number = distance_of(address) if self.distances else None
        return self.usual if number is None or number >= len(self.far) else self.at(self.far[number])

    def with_distances(self, distances: Distances) -> "Link":
        """Return the link with these distances in place of its own. Raises InputError."""
        return Link.parse({**self.to_mapping(), "distances": str(distances)})

    def to_json(self) -> dict[str, str]:
        return self.to_mapping()

    @classmethod
    def decoded(cls, data: object) -> "Link":
        return cls.parse(decoded_as(Mapping[str, str], data, "link"))

    def to_mapping(self) -> dict[str, str]:
        """Every effective setting in canonical form; parses back to an equal link."""
        return {key.name: text for key, text in self._effective()}

    def changed(self) -> dict[str, str]:
        """Return the effective settings that are not those of a link without any."""
        usual = _usual()
        return {name: text for name, text in self.to_mapping().items() if usual.get(name) != text}

    def describe(self) -> list[Described]:
        return [Described(key.name, shortened(text), self._meaning(key)) for key, text in self._effective()]

    def _effective(self) -> Iterator[tuple[Key, str]]:
        """Yield the keys that would be written, each with its value: the plain name where both sides are alike."""
        down, up = self.access or (self.down.delay, self.up.delay)
        alike = down == up
        path = DIRECT if self.direct else ROUTER
        radio = str(self.radio) if self.radio else None
        plain = {"path": path, "rtt": str(down + up) if alike else None, "mtu": str(self.mtu), "radio": radio}
        plain |= {"cross": str(self.cross), "distances": str(self.distances)}
        of_side = {side: getattr(self, side).texts() for side in ("down", "up", "client", "server")}
        of_side["down"]["delay"], of_side["up"]["delay"] = str(down), str(up)
        for setting in SETTINGS.settings:
            if self.direct and setting.name in OF_ROUTER:
                continue
            if setting.sides is None:
                texts = [plain[setting.name]]
            else:
                texts = [of_side[side][setting.name] for side in setting.sides.words]
                if setting.both_sides:
                    same = len(set(texts)) == 1
                    texts = [texts[0], *(None for _ in texts)] if same else [None, *texts]
                elif alike:
                    continue  # a delay: rtt shows it
            yield from ((key, text) for key, text in zip(setting.keys, texts, strict=True) if text is not None)

    def _meaning(self, key: Key) -> str:
        """Return the help text, with what the value comes to where that is not plain."""
        ways = [getattr(self, side) for side in DIRECTIONS.words if key.side in (None, side)]
        if key.setting.name == "queue":
            notes = {_queue_note(way, way.rate, self.mtu) for way in ways if way.rate}
        elif key.setting.name in ("rate_trace", "delay_trace"):
            notes = {trace.note() for way in ways if (trace := getattr(way, key.setting.name))}
        elif key.setting.name == "radio" and self.radio:
            notes = {self.radio.note()}
        else:
            notes = {each.note() for way in ways for each in way.impairments if key.setting in each.SETTINGS}
        words = "; ".join(sorted(notes - {""}))
        return f"{key.help} ({words})" if words else key.help


@functools.cache
def _usual() -> Mapping[str, str]:
    return Link.parse({}).to_mapping()


def _queue_note(way: Direction, rate: Rate, mtu: int) -> str:
    size = Size(way.queue_bytes or (way.queue_packets or 0) * (mtu + HEADER))
    full = size.bytes // (mtu + HEADER)
    return f"{full} full-size packets, {rate.time_for(size).milliseconds:.4g} ms when full"


def _refuse_of_router(written: WrittenLink) -> None:
    for key in written.values:
        if SETTINGS[key].setting.name in OF_ROUTER:
            what = "a direct link has no router, which alone could do this"
            raise InputError(what, f"Leave {key} out, or path: {DIRECT}", key=key)


def _spread(access: tuple[Duration, Duration], trip: Duration) -> tuple[Duration, Duration]:
    """Return the delays down and up of so long a round trip: what is beyond the link's own, half in each direction."""
    beyond = trip.ns - access[0].ns - access[1].ns
    return Duration(access[0].ns + beyond // 2), Duration(access[1].ns + beyond - beyond // 2)


def _refuse_too_near(distances: Distances, rtt: Duration) -> None:
    named = [*distances.of, *([(DEFAULT, distances.default)] if distances.default else [])]
    for host, trip in named:
        if trip < rtt:
            what = (
                f"{trip} to {host} is less than the {rtt} that the link alone takes: a distance is the whole round trip"
            )
            raise InputError(what, f"Write {rtt} or more, or a shorter rtt", key="distances")


def _delays(written: WrittenLink) -> tuple[Duration, Duration]:
    """Return one-way delays, down and up."""
    rtt, down, up = (cast("Duration | None", written.values.get(key)) for key in ("rtt", "delay_down", "delay_up"))
    if rtt is not None:
        down, up = _split(rtt, down, up)
    down, up = down or Duration(0), up or Duration(0)
    for side, delay in (("down", down), ("up", up)):
        if delay > MAX_DELAY:
            key = f"delay_{side}" if f"delay_{side}" in written.values else "rtt"
            what = f"a delay of {delay} in one direction is more than {MAX_DELAY}"
            raise InputError(what, f"Write {MAX_DELAY} or less for each direction", key=key)
    total = down + up
    if total and total < MIN_RTT:
        key = next(key for key in ("rtt", "delay_down", "delay_up") if key in written.values)
        what = f"a round trip of {total} cannot be had: the router itself takes about 0.3ms"
        raise InputError(what, f"Ask for {MIN_RTT} or more, or 0 for no added delay", key=key)
    return down, up


def _split(rtt: Duration, down: Duration | None, up: Duration | None) -> tuple[Duration, Duration]:
    for key, delay in (("delay_down", down), ("delay_up", up)):
        if delay is not None and delay > rtt:
            what = f"rtt {rtt} is below what {key} {delay} alone takes"
            raise InputError(what, f"Write an rtt of {delay} or more, or leave rtt out", key="rtt")
    if down is not None and up is not None:
        if down + up != rtt:
            what = f"rtt {rtt} is not delay_down {down} and delay_up {up}, which make {down + up}"
            raise InputError(what, "Leave one of the three out", key="rtt")
        return down, up
    if down is not None:
        return down, rtt - down
    if up is not None:
        return rtt - up, up
    half = Duration(rtt.ns // 2)
    return half, rtt - half
