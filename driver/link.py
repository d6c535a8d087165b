"""The link between client and server: what the user asked for, checked and resolved. Knows nothing of tc.

`FIELDS` is the one table of settings. Reading a mapping, printing one, command line options and the reference in
docs/ all derive from it; adding a setting is adding a row and the attribute that holds it.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple, cast

from driver.errors import InputError
from driver.units import LONGEST, NS_PER_S, PPB, Duration, Rate, Ratio, Size

MIN_RTT = Duration.parse("1ms")  # the router itself takes about 0.3 ms: below this the link would not be what was asked
MAX_DELAY = Duration.parse("10s")  # one way
MIN_RATE = Rate.parse("8kbit")
MAX_RATE = Rate.parse("500mbit")  # the router carries about 1 Gbit/s unshaped
MAX_HELD = Size.parse("64MB")  # what a direction may hold in its delay or its queue: the router has 256 MB in all
MIN_MTU, MAX_MTU = 576, 1500
LONGEST_VALUE, MOST = 200, 10**LONGEST  # characters and number that a setting may have: the absurd is not repeated
MIN_WINDOW, MAX_WINDOW = 1, 1000
NONE, ALL = Ratio(0), Ratio(PPB)
HEADER = 14  # of an Ethernet frame: a full-size packet takes MTU + HEADER on the wire
DEFAULT_QUEUE_PACKETS = 100

Side = Literal["down", "up", "client", "server"]
Per = Literal["link", "direction", "host"]
Distribution = Literal["normal", "uniform", "pareto", "paretonormal"]
Discipline = Literal["fifo", "fq_codel", "cake"]
SIDES: Mapping[Per, tuple[Side, ...]] = {"link": (), "direction": ("down", "up"), "host": ("client", "server")}


# ---------------------------------------------------------------------------------------------------- compound values


class Loss:
    """How packets are lost: RandomLoss or GilbertElliott."""

    __slots__ = ()

    @property
    def mean_loss(self) -> float:
        raise NotImplementedError

    @classmethod
    def parse(cls, value: object, *, key: str = "") -> Loss:
        if isinstance(value, Loss):
            return value
        match = re.fullmatch(r"\s*([a-z]+)\s*\((.*)\)\s*", value, re.DOTALL) if isinstance(value, str) else None
        if match is None:
            return RandomLoss(_loss_ratio(value, key))
        model, inside = match.groups()
        if model == "random":
            return RandomLoss(_loss_ratio(inside, key))
        if model == "ge":
            return _read_ge(inside, key)
        raise InputError(f"unknown loss model {model!r}", "Write 0.1%, random(0.1%) or ge(p=1%, r=10%)", key=key)


@dataclass(frozen=True, slots=True)
class RandomLoss(Loss):
    """Every packet is lost with the same probability, whatever happened to the one before."""

    ratio: Ratio

    @property
    def mean_loss(self) -> float:
        return self.ratio.fraction

    def __str__(self) -> str:
        return str(self.ratio)


@dataclass(frozen=True, slots=True)
class GilbertElliott(Loss):
    """Losses in bursts: a good and a bad state, with p from good to bad and r from bad to good, per packet."""

    p: Ratio
    r: Ratio
    bad: Ratio = ALL
    good: Ratio = NONE

    @property
    def mean_loss(self) -> float:
        in_bad = Fraction(self.p.ppb, self.p.ppb + self.r.ppb)
        return float(in_bad * self.bad.ppb + (1 - in_bad) * self.good.ppb) / PPB

    @property
    def mean_burst(self) -> float:
        """How many packets a stay in the bad state lasts."""
        return PPB / self.r.ppb

    def __str__(self) -> str:
        return f"ge(p={self.p}, r={self.r}, bad={self.bad}, good={self.good})"


def _loss_ratio(value: object, key: str) -> Ratio:
    ratio = Ratio.parse(value, key=key)
    if ratio.ppb == PPB:
        raise InputError("100% loses every packet, so nothing could ever load", "Write less than 100%", key=key)
    return ratio


def _read_ge(inside: str, key: str) -> GilbertElliott:
    like = "Write ge(p=1%, r=10%) or ge(p=1%, r=10%, bad=100%, good=0%)"
    given: dict[str, Ratio] = {}
    for part in inside.split(","):
        name, equals, text = (piece.strip() for piece in part.partition("="))
        if not equals or name not in ("p", "r", "bad", "good"):
            raise InputError(f"{part.strip()!r} is not a parameter of ge(...)", like, key=key)
        if name in given:
            raise InputError(f"{name} is given twice in ge(...)", like, key=key)
        given[name] = Ratio.parse(text, key=key)
    for name, why in (("p", "no burst would ever begin"), ("r", "the first burst would never end")):
        if not given.get(name):
            state = "0%" if name in given else "missing"
            raise InputError(f"{name} of ge(...) is {state}: {why}", like, key=key)
    loss = GilbertElliott(**given)
    if loss.bad.ppb == loss.good.ppb == PPB:
        raise InputError("ge(...) with bad=100% and good=100% loses every packet", like, key=key)
    return loss


@dataclass(frozen=True, slots=True)
class Queue:
    """How much may wait before the bottleneck, as written; a Direction holds what it comes to."""

    amount: Fraction
    unit: Literal["packets", "bytes", "seconds", "bdp"]

    @classmethod
    def parse(cls, value: object, *, key: str = "") -> Queue:
        like = "Write packets (100p), bytes (64kB), time (50ms) or a multiple of the bandwidth-delay product (1.5bdp)"
        if isinstance(value, Queue):
            return value
        text = str(value).strip()
        match = _QUEUE.fullmatch(text) if len(text) <= LONGEST else None
        number, unit = (Fraction(match["number"]), (match["unit"] or "").lower()) if match else (Fraction(1), "bytes")
        if number == 0:
            raise InputError("a queue of zero drops every packet that has to wait", like, key=key)
        if unit in ("p", "packet", "packets"):
            if number.denominator != 1:
                raise InputError(f"{text} is not a whole number of packets", like, key=key)
            return cls(number, "packets")
        if unit == "bdp":
            return cls(number, "bdp")
        if unit in ("ns", "us", "µs", "μs", "ms", "s"):
            return cls(Fraction(Duration.parse(text, key=key).ns, NS_PER_S), "seconds")
        if not unit:
            raise InputError(f"{text} has no unit", like, key=key)
        return cls(Fraction(Size.parse(value, key=key).bytes), "bytes")

    def resolve(self, rate: Rate, rtt: Duration) -> tuple[int | None, int | None]:
        """Packets or bytes: exactly one of the two."""
        if self.unit == "packets":
            return int(self.amount), None
        factor = {
            "bytes": Fraction(1),
            "seconds": Fraction(rate.bps, 8),
            "bdp": Fraction(rate.bps * rtt.ns, 8 * NS_PER_S),
        }[self.unit]
        return None, math.ceil(self.amount * factor)


_QUEUE = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*(?P<unit>[a-zµμ]+)?", re.IGNORECASE)


# --------------------------------------------------------------------------------------------------------- the table


@dataclass(frozen=True, slots=True)
class Kind:
    """How values of one kind are written and read."""

    metavar: str
    written: str
    parse: Callable[[object, str], Any]  # (value, key)
    choices: tuple[str, ...] = ()


def _choice(metavar: str, *choices: str) -> Kind:
    def parse(value: object, key: str) -> str:
        if value in choices:
            return str(value)
        near = difflib.get_close_matches(str(value), choices, n=1)
        remedy = f"Did you mean {near[0]}? " if near else ""
        raise InputError(f"{value!r} is not one of them", f"{remedy}Choose {', '.join(choices)}", key=key)

    return Kind(metavar, " or ".join(f"`{choice}`" for choice in choices), parse, choices)


def _count(metavar: str, what: str, lowest: int, highest: int) -> Kind:
    def parse(value: object, key: str) -> int:
        text = "" if isinstance(value, bool) else str(value).strip()
        if not re.fullmatch(r"[0-9]{1,9}", text) or not lowest <= int(text) <= highest:
            remedy = f"Write a whole number of {what} from {lowest} to {highest}"
            raise InputError(f"{value!r} cannot be used", remedy, key=key)
        return int(text)

    return Kind(metavar, f"{what}, {lowest} to {highest}", parse)


def _flag(value: object, key: str) -> bool:
    if isinstance(value, bool):
        return value
    if value not in ("true", "false"):
        raise InputError(f"{value!r} is neither true nor false", "Write true or false", key=key)
    return value == "true"


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


KINDS: Mapping[str, Kind] = {
    "duration": Kind("DURATION", "`ns`, `us`, `ms`, `s`", lambda value, key: Duration.parse(value, key=key)),
    "rate": Kind("RATE", "`bit`, `kbit`, `mbit`, `gbit` (or `Mbit/s`), `MB/s`; `unlimited`", _rate),
    "loss": Kind("LOSS", "`0.1%`, `random(0.1%)`, `ge(p=1%, r=10%)`", lambda value, key: Loss.parse(value, key=key)),
    "part": Kind("PERCENT", "`%`, below 100%", _part),
    "percent": Kind("PERCENT", "`%`", lambda value, key: Ratio.parse(value, key=key)),
    "queue": Kind("QUEUE", "`100p`, `64kB`, `50ms`, `1.5bdp`", lambda value, key: Queue.parse(value, key=key)),
    "distribution": _choice("NAME", "normal", "uniform", "pareto", "paretonormal"),
    "discipline": _choice("NAME", "fifo", "fq_codel", "cake"),
    "flag": Kind("BOOL", "`true` or `false`", _flag, ("true", "false")),
    "mtu": _count("BYTES", "bytes", MIN_MTU, MAX_MTU),
    "window": _count("PACKETS", "packets", MIN_WINDOW, MAX_WINDOW),
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
    Field("reorder_correlation", "direction", "part", "0%", "how likely overtaking follows overtaking", "25%",
          lambda way: str(way.reorder_correlation) if way.reorder else None, needs="reorder"),
    Field("duplicate", "direction", "percent", "0%", "packets that arrive twice", "0.1%",
          lambda way: str(way.duplicate)),
    Field("queue", "direction", "queue", "", "how much may wait before the bottleneck", "1.5bdp",
          lambda way: way.queue, needs="rate",
          otherwise=f"`1bdp`, but not less than {DEFAULT_QUEUE_PACKETS} full-size packets"),
    Field("discipline", "direction", "discipline", "fifo", "how the queue is served", "fq_codel",
          lambda way: way.discipline if way.rate else None, needs="rate"),
    Field("mtu", "link", "mtu", "1500", "largest IP packet", "1400",
          lambda link: str(link.mtu)),
    Field("congestion_control", "host", "name", "cubic", "TCP congestion control", "bbr",
          lambda host: host.congestion_control),
    Field("initial_window", "host", "window", "10", "TCP initial congestion window", "3",
          lambda host: str(host.initial_window)),
)
# fmt: on
_FIELD: Mapping[str, Field] = {field.name: field for field in FIELDS}
_ALSO_CALLED = {
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


# ---------------------------------------------------------------------------------------------------------- the link


@dataclass(frozen=True, slots=True)
class Direction:
    """One way through the router. Where there is no rate there is no bottleneck, and no queue."""

    delay: Duration
    rate: Rate | None
    loss: Loss
    jitter: Duration
    jitter_distribution: Distribution
    jitter_correlation: Ratio
    jitter_reorders: bool
    reorder: Ratio
    reorder_correlation: Ratio
    duplicate: Ratio
    queue_packets: int | None
    queue_bytes: int | None
    discipline: Discipline

    @property
    def queue(self) -> str | None:
        """The queue as a user would write it."""
        if self.queue_packets is not None:
            return f"{self.queue_packets}p"
        return None if self.queue_bytes is None else str(Size(self.queue_bytes))


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

    @classmethod
    def parse(cls, mapping: Mapping[str, object]) -> Link:
        """The link that these settings ask for; a setting for one side wins over one for both."""
        given = _Given(mapping)
        given.check_needs()
        down, up = _delays(given)
        mtu = given.value("mtu")
        return cls(
            down=_direction(given, "down", down, down + up, mtu),
            up=_direction(given, "up", up, down + up, mtu),
            client=_host(given, "client"),
            server=_host(given, "server"),
            mtu=mtu,
        )

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


def _queue_note(way: Direction, rate: Rate, mtu: int) -> str:
    size = Size(way.queue_bytes or (way.queue_packets or 0) * (mtu + HEADER))
    full = size.bytes // (mtu + HEADER)
    return f"{full} full-size packets, {rate.time_for(size).milliseconds:.4g} ms when full"


def _loss_note(loss: Loss) -> str:
    if isinstance(loss, GilbertElliott):
        return f"{loss.mean_loss:.3%} on average, bursts of {loss.mean_burst:.4g} packets"
    return ""


# ------------------------------------------------------------------------------------------------ from what was written


class _Given:
    """What the user wrote, each value read: finds the setting for a side, else the one for both, else the default."""

    def __init__(self, mapping: Mapping[str, object]) -> None:
        self.values: dict[str, Any] = {}
        for key, value in mapping.items():
            setting = SETTINGS.get(key)
            if setting is None:
                raise _unknown_setting(key if key.isprintable() else repr(key))
            like = f"Write one like {setting.field.example}"
            if value is None:
                raise InputError("it has no value", f"{like}, or leave it out", key=key)
            if (isinstance(value, str) and len(value) > LONGEST_VALUE) or (
                isinstance(value, int) and abs(value) > MOST
            ):
                raise InputError("its value is far too long", like, key=key)
            self.values[key] = setting.field.read(value, key)

    def key(self, name: str, side: Side | None = None) -> str:
        """The key that decides: the one to name in an error."""
        specific = f"{name}_{side}"
        return specific if specific in self.values else name

    def value(self, name: str, side: Side | None = None) -> Any:  # noqa: ANN401 - what it is depends on the field
        field, key = _FIELD[name], self.key(name, side)
        if key in self.values and not (field.needs and not self.value(field.needs, side)):
            return self.values[key]
        return field.read(field.default, name) if field.default else None

    def check_needs(self) -> None:
        """A setting that could have no effect is a mistake."""
        for key, value in self.values.items():
            setting, field = SETTINGS[key], SETTINGS[key].field
            sides: tuple[Side, ...] = (setting.side,) if setting.side else SIDES[field.per]
            if not field.needs or any(self.value(field.needs, side) for side in sides):
                continue
            if not field.default or value != field.read(field.default, key):
                where = f" {setting.side}" if setting.side else ""
                what = f"it means nothing without a {field.needs}{where}"
                raise InputError(what, f"Set {field.needs} too, or leave {key} out", key=key)


def _unknown_setting(key: str) -> InputError:
    name = key.lower().replace("-", "_")
    near = _ALSO_CALLED.get(name) or next(iter(difflib.get_close_matches(name, SETTINGS, n=1)), "")
    names = (field.settings[0].key if field.general else f"{field.name}_down, {field.name}_up" for field in FIELDS)
    remedy = f"Did you mean {near}?" if near else f"Settings are {', '.join(names)}"
    return InputError("there is no such setting", remedy, key=key)


def _delays(given: _Given) -> tuple[Duration, Duration]:
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


def _direction(given: _Given, side: Side, delay: Duration, rtt: Duration, mtu: int) -> Direction:
    jitter, reorder, rate = given.value("jitter", side), given.value("reorder", side), given.value("rate", side)
    if jitter > delay:
        what = f"a jitter of {jitter} is more than the delay {side} of {delay}: packets cannot arrive before they left"
        remedy = f"Write a jitter_{side} of {delay} or less, or a longer delay_{side} or rtt"
        if not delay:
            remedy = f"Set rtt or delay_{side} too"
        raise InputError(what, remedy, key=given.key("jitter", side))
    if reorder and not delay:
        what = f"packets cannot overtake {side}, where there is no delay to skip"
        raise InputError(what, f"Set rtt or delay_{side} too", key=given.key("reorder", side))
    if rate and rate.carries(delay) > MAX_HELD:
        what = f"{rate} over a delay of {delay} is {rate.carries(delay)} on its way, more than {MAX_HELD} in the router"
        raise InputError(what, "Write a lower rate or a shorter delay", key=given.key("rate", side))
    packets, held = _queue(given, side, rtt, mtu)
    return Direction(
        delay=delay,
        rate=rate,
        loss=given.value("loss", side),
        jitter=jitter,
        jitter_distribution=given.value("jitter_distribution", side),
        jitter_correlation=given.value("jitter_correlation", side),
        jitter_reorders=given.value("jitter_reorders", side),
        reorder=reorder,
        reorder_correlation=given.value("reorder_correlation", side),
        duplicate=given.value("duplicate", side),
        queue_packets=packets,
        queue_bytes=held,
        discipline=given.value("discipline", side),
    )


def _queue(given: _Given, side: Side, rtt: Duration, mtu: int) -> tuple[int | None, int | None]:
    """The queue in packets or in bytes, neither where there is no rate."""
    rate: Rate | None = given.value("rate", side)
    asked: Queue | None = given.value("queue", side)
    frame, key = mtu + HEADER, given.key("queue", side)
    if rate is None:
        return None, None
    if asked is None:
        return None, _default_queue(rate, rtt, frame, key)
    if asked.unit == "bdp" and not rtt:
        remedy = "Set rtt too, or write the queue in packets (100p), bytes (64kB) or time (50ms)"
        raise InputError("the bandwidth-delay product is zero where rtt is 0", remedy, key=key)
    packets, held = asked.resolve(rate, rtt)
    taken = Size((packets or 0) * frame + (held or 0))
    if taken.bytes < frame:
        what = f"a queue of {taken} does not hold one full-size packet of {frame}B"
        raise InputError(what, "Write 1p or more", key=key)
    if taken > MAX_HELD:
        what = f"a queue of {taken} is more than the router can hold ({MAX_HELD})"
        raise InputError(what, f"Write a queue of {MAX_HELD} or less", key=key)
    return packets, held


def _default_queue(rate: Rate, rtt: Duration, frame: int, key: str) -> int:
    size = max(rate.carries(rtt), Size(DEFAULT_QUEUE_PACKETS * frame))
    if size > MAX_HELD:
        what = f"the default of 1bdp is {size} here, more than the router can hold ({MAX_HELD})"
        raise InputError(what, "Write a smaller queue, or a lower rate or rtt", key=key)
    return size.bytes


def _host(given: _Given, side: Side) -> Host:
    return Host(given.value("congestion_control", side), given.value("initial_window", side))
