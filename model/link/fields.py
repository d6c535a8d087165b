"""`FIELDS` is the one table of settings. Reading a mapping, printing one, command line options and the reference in
docs/ all derive from it; adding a setting is adding a row and the attribute that holds it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from model.errors import InputError
from model.link.values import Loss, Queue
from model.settings.kinds import DURATION, FLAG, NUMBER, PERCENT, Kind, choice, count
from model.units import PPB, Rate, Ratio

MIN_RATE = Rate.parse("8kbit")
MAX_RATE = Rate.parse("500mbit")  # the router carries about 1 Gbit/s unshaped
MIN_MTU, MAX_MTU = 576, 1500
MIN_WINDOW, MAX_WINDOW = 1, 1000
HEADER = 14  # of an Ethernet frame: a full-size packet takes MTU + HEADER on the wire
DEFAULT_QUEUE_PACKETS, SMALLEST_DEFAULT_QUEUE_PACKETS = 100, 4

Side = Literal["down", "up", "client", "server"]
Per = Literal["link", "direction", "host"]
SIDES: Mapping[Per, tuple[Side, ...]] = {"link": (), "direction": ("down", "up"), "host": ("client", "server")}


def _name(value: object, key: str) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[a-z0-9_]{1,15}", value):
        raise InputError(f"{value!r} is no name of a congestion control", "Write one like cubic or bbr", key=key)
    return value


def _rate(value: object, key: str) -> Rate | None:
    if value == "unlimited":
        return None
    rate = Rate.parse(value, key=key)
    if not rate:
        raise InputError("a rate of zero lets nothing through", "Write a rate like 10mbit, or unlimited", key=key)
    if rate > MAX_RATE:
        what = f"{rate} is above what the router can carry reliably ({MAX_RATE})"
        raise InputError(what, f"Write {MAX_RATE} or less, or unlimited for no shaping", key=key)
    if rate < MIN_RATE:
        what = f"{rate} is below {MIN_RATE}: one full-size packet would take over 1.5s"
        raise InputError(what, f"Write {MIN_RATE} or more", key=key)
    return rate


def _part(value: object, key: str) -> Ratio:
    ratio = Ratio.parse(value, key=key)
    if ratio.ppb == PPB:
        raise InputError("100% leaves nothing to chance: every packet would fare alike", "Write less", key=key)
    return ratio


_RATES = {"type": "string", "pattern": rf"^\s*(unlimited|{NUMBER}\s*([kKmMgG]?[bB][iI][tT](/[sS])?|[kKMG]?B/s))\s*$"}
KINDS: Mapping[str, Kind] = {
    "duration": DURATION,
    "rate": Kind("RATE", "`bit`, `kbit`, `mbit`, `gbit` (or `Mbit/s`), `MB/s`; `unlimited`", _rate, (), _RATES),
    "loss": Kind("LOSS", "`0.1%`, `random(0.1%)`, `ge(p=1%, r=10%)`", lambda value, key: Loss.parse(value, key=key)),
    "part": Kind("PERCENT", "`%`, below 100%", _part, (), PERCENT.schema),
    "percent": PERCENT,
    "queue": Kind("QUEUE", "`100p`, `64kB`, `50ms`, `1.5bdp`", lambda value, key: Queue.parse(value, key=key)),
    "distribution": choice("NAME", "normal", "uniform", "pareto", "paretonormal"),
    "discipline": choice("NAME", "fifo", "fq_codel", "cake"),
    "flag": FLAG,
    "mtu": count("BYTES", "bytes", MIN_MTU, MAX_MTU),
    "window": count("PACKETS", "packets", MIN_WINDOW, MAX_WINDOW),
    "dns": choice("HOW", "instant", "resolver"),
    "addresses": choice("HOW", "shared", "per-origin"),
    "name": Kind("NAME", "a name that the kernel knows", _name),
}


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that can be set: for the link, for each direction, or for each host."""

    name: str
    per: Per
    kind: str
    default: str  # as a user would write it; "" where it is worked out
    help: str
    example: str
    show: Callable[[Any], str | None]  # the effective value of a Link, Direction or Host; None where there is none
    general: bool = True  # whether the plain name sets both sides
    needs: str = ""  # the field without which this one means nothing
    otherwise: str = ""  # what an absent default comes to

    @property
    def settings(self) -> tuple[Setting, ...]:
        sides = [Setting(f"{self.name}_{side}", self, side) for side in SIDES[self.per]]
        return (Setting(self.name, self, None), *sides) if self.general else tuple(sides)

    def read(self, value: object, key: str) -> Any:  # noqa: ANN401 - what it is depends on the kind
        return KINDS[self.kind].parse(value, key)


@dataclass(frozen=True, slots=True)
class Setting:
    """One key that a user may write: a field for one side, or for all of it."""

    key: str
    field: Field
    side: Side | None

    @property
    def kind(self) -> Kind:
        return KINDS[self.field.kind]

    @property
    def help(self) -> str:
        both = {"link": "", "direction": ", in each direction", "host": ", on both hosts"}[self.field.per]
        return self.field.help + (_SIDE_WORDS[self.side] if self.side else both)


_SIDE_WORDS: Mapping[Side, str] = {
    "down": ", towards the client",
    "up": ", towards the server",
    "client": ", on the client",
    "server": ", on the server",
}

# fmt: off
FIELDS: tuple[Field, ...] = (
    Field("rtt", "link", "duration", "0ms", "round trip that the link adds, half in each direction", "100ms",
          lambda link: str(link.rtt) if link.down.delay == link.up.delay else None),
    Field("delay", "direction", "duration", "", "one-way delay", "40ms",
          lambda way: str(way.delay), general=False, otherwise="half of `rtt`, or what the other leaves of it"),
    Field("rate", "direction", "rate", "unlimited", "rate of the bottleneck", "1.5mbit",
          lambda way: str(way.rate or "unlimited")),
    Field("loss", "direction", "loss", "0%", "packets that are lost", "ge(p=1%, r=10%)",
          lambda way: str(way.loss)),
    Field("jitter", "direction", "duration", "0ms", "variation of the delay, at most the delay itself", "5ms",
          lambda way: str(way.jitter)),
    Field("jitter_distribution", "direction", "distribution", "normal", "how the variation is distributed", "pareto",
          lambda way: way.jitter_distribution if way.jitter else None, needs="jitter"),
    Field("jitter_correlation", "direction", "part", "0%", "how much one variation is like the one before", "25%",
          lambda way: str(way.jitter_correlation) if way.jitter else None, needs="jitter"),
    Field("jitter_reorders", "direction", "flag", "false", "whether variation may put packets out of order", "true",
          lambda way: str(way.jitter_reorders).lower() if way.jitter else None, needs="jitter"),
    Field("reorder", "direction", "part", "0%", "packets that skip the delay and so overtake others", "1%",
          lambda way: str(way.reorder)),
    Field("duplicate", "direction", "percent", "0%", "packets that arrive twice", "0.1%",
          lambda way: str(way.duplicate)),
    Field("queue", "direction", "queue", "", "how much may wait before the bottleneck", "1.5bdp",
          lambda way: way.queue, needs="rate",
          otherwise=f"`1bdp` in full-size packets; at least {DEFAULT_QUEUE_PACKETS}, or a second's worth if less"),
    Field("discipline", "direction", "discipline", "fifo", "how the queue is served", "fq_codel",
          lambda way: way.discipline if way.rate else None, needs="rate"),
    Field("mtu", "link", "mtu", "1500", "largest IP packet", "1400",
          lambda link: str(link.mtu)),
    Field("congestion_control", "host", "name", "cubic", "TCP congestion control", "bbr",
          lambda host: host.congestion_control),
    Field("initial_window", "host", "window", "10", "TCP initial congestion window", "3",
          lambda host: str(host.initial_window)),
    Field("dns", "link", "dns", "instant", "of a page load, how names become addresses: at once, or asked of a "
          "resolver beyond the link", "resolver",
          lambda link: link.dns),
    Field("addresses", "link", "addresses", "shared", "of a page load, one address for every host name of the site, or "
          "one for each", "per-origin",
          lambda link: link.addresses),
)
# fmt: on
FIELD: Mapping[str, Field] = {field.name: field for field in FIELDS}
ALSO_CALLED = {
    "address": "addresses",
    "bandwidth": "rate",
    "cc": "congestion_control",
    "delay": "rtt",
    "iw": "initial_window",
    "latency": "rtt",
    "rtt_down": "delay_down",
    "rtt_up": "delay_up",
    "speed": "rate",
}
SETTINGS: Mapping[str, Setting] = {setting.key: setting for field in FIELDS for setting in field.settings}


def settings_table() -> str:
    """The reference of every setting, in Markdown."""
    rows = ["| setting | written as | default | meaning | example |", "| --- | --- | --- | --- | --- |"]
    for field in FIELDS:
        keys = ", ".join(f"`{setting.key}`" for setting in field.settings)
        default = f"`{field.default}`" if field.default else field.otherwise
        needs = f"; needs `{field.needs}`" if field.needs else ""
        written, first = KINDS[field.kind].written, field.settings[0].key
        rows.append(f"| {keys} | {written} | {default} | {field.help}{needs} | `{first}: {field.example}` |")
    return "\n".join(rows)
