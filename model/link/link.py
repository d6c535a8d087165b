"""The link itself: two directions, two hosts. What cannot be is refused, and every effective setting can be printed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

from model.errors import InputError
from model.link.direction import Direction, read_direction
from model.link.fields import FIELD, FIELDS, HEADER, SIDES, Setting, Side
from model.link.given import Given
from model.link.values import GilbertElliott, Loss
from model.units import Duration, Rate, Size

MIN_RTT = Duration.parse("1ms")  # the router itself takes about 0.3 ms: below this the link would not be what was asked
MAX_DELAY = Duration.parse("10s")  # one way


@dataclass(frozen=True, slots=True)
class Host:
    congestion_control: str
    initial_window: int


class Described(NamedTuple):
    """One effective setting of a link, and what it means."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Link:
    """What lies between client and server. Two equal links are the same link: it can be a key."""

    down: Direction
    up: Direction
    client: Host
    server: Host
    mtu: int
    dns: str = "instant"
    addresses: str = "shared"

    @classmethod
    def parse(cls, mapping: Mapping[str, object]) -> Link:
        """The link that these settings ask for; a setting for one side wins over one for both."""
        given = Given(mapping)
        given.check_needs()
        down, up = _delays(given)
        mtu = given.value("mtu")
        return cls(
            down=read_direction(given, "down", down, down + up, mtu),
            up=read_direction(given, "up", up, down + up, mtu),
            client=_host(given, "client"),
            server=_host(given, "server"),
            mtu=mtu,
            dns=given.value("dns"),
            addresses=given.value("addresses"),
        )

    def wire(self) -> Link:
        """The same link as packets see it: what the self-test is about, whatever pages do with names."""
        return dataclasses.replace(self, dns=FIELD["dns"].default, addresses=FIELD["addresses"].default)

    @property
    def rtt(self) -> Duration:
        return self.down.delay + self.up.delay

    def bdp(self, direction: Direction) -> Size | None:
        """What is on its way when that direction is full, None where it has no rate."""
        return direction.rate.carries(self.rtt) if direction.rate else None

    def to_mapping(self) -> dict[str, str]:
        """Every effective setting in canonical form; parses back to an equal link."""
        return {setting.key: text for setting, text in self._effective()}

    def describe(self) -> list[Described]:
        return [Described(setting.key, text, self._meaning(setting)) for setting, text in self._effective()]

    def _effective(self) -> Iterator[tuple[Setting, str]]:
        for field in FIELDS:
            if field.per == "link":
                texts = [field.show(self)]
            else:
                texts = [field.show(getattr(self, side)) for side in SIDES[field.per]]
            if field.name == "delay" and self.down.delay == self.up.delay:
                continue  # rtt has said it
            if field.general and len(set(texts)) == 1:
                texts = [texts[0], *(None for _ in SIDES[field.per])]
            elif field.general:
                texts = [None, *texts]
            yield from (
                (setting, text) for setting, text in zip(field.settings, texts, strict=True) if text is not None
            )

    def _meaning(self, setting: Setting) -> str:
        """The help text, with what the value comes to where that is not plain."""
        ways = [getattr(self, side) for side in SIDES["direction"] if setting.side in (None, side)]
        notes: list[str] = []
        if setting.field.name == "queue":
            notes = [_queue_note(way, way.rate, self.mtu) for way in ways if way.rate]
        elif setting.field.name == "loss":
            notes = [_loss_note(way.loss) for way in ways]
        notes = sorted({note for note in notes if note})
        return f"{setting.help} ({'; '.join(notes)})" if notes else setting.help


def _queue_note(way: Direction, rate: Rate, mtu: int) -> str:
    size = Size(way.queue_bytes or (way.queue_packets or 0) * (mtu + HEADER))
    full = size.bytes // (mtu + HEADER)
    return f"{full} full-size packets, {rate.time_for(size).milliseconds:.4g} ms when full"


def _loss_note(loss: Loss) -> str:
    if isinstance(loss, GilbertElliott):
        return f"{loss.mean_loss:.3%} on average, bursts of {loss.mean_burst:.4g} packets"
    return ""


def _delays(given: Given) -> tuple[Duration, Duration]:
    """One-way delays, down and up."""
    rtt, down, up = (cast("Duration | None", given.values.get(key)) for key in ("rtt", "delay_down", "delay_up"))
    if rtt is not None:
        down, up = _split(rtt, down, up)
    down, up = down or Duration(0), up or Duration(0)
    for side, delay in (("down", down), ("up", up)):
        if delay > MAX_DELAY:
            key = f"delay_{side}" if f"delay_{side}" in given.values else "rtt"
            what = f"a delay of {delay} in one direction is more than {MAX_DELAY}"
            raise InputError(what, f"Write {MAX_DELAY} or less for each direction", key=key)
    total = down + up
    if total and total < MIN_RTT:
        key = next(key for key in ("rtt", "delay_down", "delay_up") if key in given.values)
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


def _host(given: Given, side: Side) -> Host:
    return Host(given.value("congestion_control", side), given.value("initial_window", side))
