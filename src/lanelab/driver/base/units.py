"""Quantities with units: exact inside, strict when read, canonical when printed.

A number without its unit is refused: `100` could be milliseconds or seconds, and a testbed that guesses measures the
wrong thing. Nothing is rounded on the way in: what cannot be held exactly is refused too.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from lanelab.driver.base.errors import InputError

NS_PER_S = 1_000_000_000
PPB = 1_000_000_000
LONGEST = 64  # characters of a quantity: no real one needs more, and int() of a huge text is slow

_NUMBER = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*(?P<unit>[^0-9.\s].*)?", re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Kind:
    """Says how one kind of quantity is written."""

    name: str  # "a duration"
    example: str
    units: Mapping[str, int]  # canonical spelling -> how many of the smallest unit; smallest first
    aliases: Mapping[str, str]  # other spellings, lower case -> canonical
    finest: str
    fold: bool  # upper and lower case mean the same
    traps: Mapping[str, str]  # spellings that people read in two ways -> what to write instead

    def unit(self, text: str) -> str | None:
        """Return the canonical spelling of a unit, None where there is none."""
        if text in self.units:
            return text
        if text in self.aliases:
            return self.aliases[text]
        if not self.fold:
            return None
        low = text.lower()
        return low if low in self.units else self.aliases.get(low)


_DURATION = _Kind(
    name="a duration",
    example="20ms",
    units={"ns": 1, "us": 1_000, "ms": 1_000_000, "s": NS_PER_S},
    aliases={"µs": "us", "μs": "us"},
    finest="1ns",
    fold=True,
    traps={"m": "{n}ms (milliseconds) or {n}s (seconds)"},
)
_BITS_OR_BYTES = "{n}{p}bit (bits per second) or {n}{b}B/s (bytes per second)"
_RATE = _Kind(
    name="a rate",
    example="10mbit",
    units={"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9},
    aliases={f"{p}bit/s": f"{p}bit" for p in ("", "k", "m", "g")},
    finest="1bit",
    fold=True,
    traps={
        p + suffix: _BITS_OR_BYTES.replace("{p}", p).replace("{b}", p if p == "k" else p.upper())
        for p in ("", "k", "m", "g")
        for suffix in ("bps", "b", "b/s", "")
        if p + suffix
    },
)
# bytes per second: the case of the B is what tells them from bits, so these are never folded
_BYTE_RATES = {"B/s": 8, "kB/s": 8 * 10**3, "KB/s": 8 * 10**3, "MB/s": 8 * 10**6, "GB/s": 8 * 10**9}
_SIZE = _Kind(
    name="a size",
    example="64kB",
    units={"B": 1, "kB": 10**3, "KiB": 2**10, "MB": 10**6, "MiB": 2**20, "GB": 10**9, "GiB": 2**30},
    aliases={"KB": "kB", "kiB": "KiB"},
    finest="1B",
    fold=False,
    traps={
        "b": "{n}B (bytes)",
        **{
            spelling: f"{{n}}{p.lower() if p == 'K' else p}B or {{n}}{p}iB (bytes)"
            for p in ("K", "M", "G")
            for spelling in (p, p.lower(), f"{p.lower()}b", f"{p}b")
        },
    },
)
_RATIO = _Kind(
    name="a percentage",
    example="0.1%",
    units={"%": PPB // 100},
    aliases={},
    finest="0.0000001%",
    fold=False,
    traps={},
)
_KINDS = (_DURATION, _RATE, _SIZE, _RATIO)


def _text_of(value: object, kind: _Kind, key: str) -> str:
    """Return as text what the user wrote: numbers from YAML and JSON are judged by the same rules."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"{value!r} is not {kind.name}", f"Write it like {kind.example}", key=key)
    try:
        text = str(value).strip()
    except ValueError:  # an integer of thousands of digits
        text = "0" * (LONGEST + 1)
    if not text:
        raise InputError("it is empty", f"Write {kind.name} like {kind.example}", key=key)
    if not text.isprintable():
        raise InputError(f"{text[:LONGEST]!r} is not {kind.name}", f"Write it like {kind.example}", key=key)
    if len(text) > LONGEST:
        raise InputError(f"it is longer than {LONGEST} characters", f"Write {kind.name} like {kind.example}", key=key)
    return text


def _not_a_number(text: str, kind: _Kind, key: str) -> InputError:
    like = f"Write {kind.name} like {kind.example}"
    if text.startswith(("-", "\N{MINUS SIGN}")):
        return InputError(f"{text} is negative", f"{kind.name.capitalize()} is 0 or more, like {kind.example}", key=key)
    if re.match(r"[0-9]+[,_'][0-9]", text):
        return InputError(f"{text!r} has a separator in its number", f"{like}, with a point for decimals", key=key)
    if re.match(r"[0-9.]+e[+-]?[0-9]", text, re.IGNORECASE):
        return InputError(f"{text!r} has an exponent", f"{like}, with all digits", key=key)
    return InputError(f"{text!r} is not {kind.name}", like, key=key)


def _bare(number: str, kind: _Kind, key: str) -> InputError:
    """A number with no unit, and what it may have meant."""
    if kind is _RATIO and Fraction(number) < 1:
        meant = f"{_decimal(*(Fraction(number) * 100).as_integer_ratio())}% (as a fraction) or {number}%"
    elif kind is _SIZE:
        meant = f"{number}B or {number}kB"
    else:
        meant = number + kind.example.lstrip("0123456789.")
    return InputError(f"{number} has no unit", f"Write {meant}", key=key)


def _wrong_unit(number: str, unit: str, kind: _Kind, key: str) -> InputError:
    trap = kind.traps.get(unit if not kind.fold else unit.lower())
    if trap:
        return InputError(f"{number}{unit} can be read in two ways", f"Write {trap.replace('{n}', number)}", key=key)
    for other in _KINDS:
        if other.unit(unit):
            what = f"{number}{unit} is {other.name}, not {kind.name}"
            return InputError(what, f"Write it like {kind.example}", key=key)
    near = difflib.get_close_matches(unit.lower(), [u.lower() for u in kind.units], n=1, cutoff=0.5)
    canonical = next((u for u in kind.units if near and u.lower() == near[0]), None)
    remedy = f"Did you mean {number}{canonical}? " if canonical else ""
    return InputError(f"{unit!r} is not a unit of {kind.name}", f"{remedy}Units are {', '.join(kind.units)}", key=key)


def _read(value: object, kind: _Kind, key: str, extra: Mapping[str, int] | None = None) -> int:
    """Return how many of the smallest unit `value` is, exactly."""
    text = _text_of(value, kind, key)
    match = _NUMBER.fullmatch(text)
    unit = (match["unit"] or "") if match else ""
    if not match or re.match(r"[,_']|e[+-]?[0-9]", unit, re.IGNORECASE):
        raise _not_a_number(text, kind, key)
    number = match["number"]
    if not unit:
        if Fraction(number) == 0:
            return 0
        raise _bare(number, kind, key)
    if extra and unit in extra:
        factor = extra[unit]
    else:
        canonical = kind.unit(unit)
        if canonical is None:
            raise _wrong_unit(number, unit, kind, key)
        factor = kind.units[canonical]
    exact = Fraction(number) * factor
    if exact.denominator != 1:
        raise InputError(f"{text} is finer than {kind.finest}", "Write it with fewer decimals", key=key)
    return exact.numerator


def _decimal(amount: int, factor: int) -> str:
    """The exact decimal form of their quotient; every factor here divides a power of ten."""
    whole, rest = divmod(amount, factor)
    digits = ""
    while rest:
        digit, rest = divmod(rest * 10, factor)
        digits += str(digit)
    return f"{whole}.{digits}" if digits else str(whole)


def _show(amount: int, kind: _Kind, zero: str) -> str:
    """Return the shortest exact text; of equally short ones the largest decimal unit."""
    if amount == 0:
        return zero
    texts = [
        _decimal(amount, factor) + unit
        for unit, factor in sorted(kind.units.items(), key=lambda item: -item[1])
        if amount >= factor or factor == min(kind.units.values())
    ]
    return min(texts, key=lambda text: (len(text), "iB" in text))


def _whole(amount: int, name: str) -> None:
    if amount < 0:
        raise ValueError(f"{name} must not be negative: {amount}")


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A time, in whole nanoseconds."""

    ns: int

    def __post_init__(self) -> None:
        _whole(self.ns, "a duration")

    @classmethod
    def parse(cls, value: object, *, key: str = "") -> "Duration":
        return value if isinstance(value, Duration) else cls(_read(value, _DURATION, key))

    @property
    def seconds(self) -> float:
        return self.ns / NS_PER_S

    @property
    def milliseconds(self) -> float:
        return self.ns / 1_000_000

    def __add__(self, other: "Duration") -> "Duration":
        return Duration(self.ns + other.ns)

    def __sub__(self, other: "Duration") -> "Duration":
        return Duration(self.ns - other.ns)

    def __bool__(self) -> bool:
        return self.ns != 0

    def __str__(self) -> str:
        return _show(self.ns, _DURATION, "0ms")


@dataclass(frozen=True, slots=True, order=True)
class Size:
    """An amount of data, in bytes."""

    bytes: int

    def __post_init__(self) -> None:
        _whole(self.bytes, "a size")

    @classmethod
    def parse(cls, value: object, *, key: str = "") -> "Size":
        return value if isinstance(value, Size) else cls(_read(value, _SIZE, key))

    def __bool__(self) -> bool:
        return self.bytes != 0

    def __str__(self) -> str:
        return _show(self.bytes, _SIZE, "0B")


@dataclass(frozen=True, slots=True, order=True)
class Rate:
    """A rate, in bits per second."""

    bps: int

    def __post_init__(self) -> None:
        _whole(self.bps, "a rate")

    @classmethod
    def parse(cls, value: object, *, key: str = "") -> "Rate":
        return value if isinstance(value, Rate) else cls(_read(value, _RATE, key, _BYTE_RATES))

    @property
    def mbit(self) -> float:
        return self.bps / 1_000_000

    def carries(self, time: Duration) -> Size:
        """Return how many bytes pass in that time, rounded up."""
        return Size(-(-self.bps * time.ns // (8 * NS_PER_S)))

    def time_for(self, size: Size) -> Duration:
        """Return how long that much takes to pass, rounded up to a nanosecond. The rate must not be 0."""
        return Duration(-(-size.bytes * 8 * NS_PER_S // self.bps))

    def __bool__(self) -> bool:
        return self.bps != 0

    def __str__(self) -> str:
        return _show(self.bps, _RATE, "0bit")


@dataclass(frozen=True, slots=True, order=True)
class Ratio:
    """A part of a whole, in parts per billion; written in percent, never above 100%."""

    ppb: int

    def __post_init__(self) -> None:
        _whole(self.ppb, "a ratio")
        if self.ppb > PPB:
            raise ValueError(f"a ratio must not be above 100%: {self.ppb} ppb")

    @classmethod
    def parse(cls, value: object, *, key: str = "") -> "Ratio":
        if isinstance(value, Ratio):
            return value
        ppb = _read(value, _RATIO, key)
        if ppb > PPB:
            raise InputError(f"{value} is above 100%: there is no more than all", "Write it like 0.1%", key=key)
        return cls(ppb)

    @property
    def fraction(self) -> float:
        return self.ppb / PPB

    @property
    def percent(self) -> float:
        return self.ppb / (PPB // 100)

    def __bool__(self) -> bool:
        return self.ppb != 0

    def __str__(self) -> str:
        return _decimal(self.ppb, PPB // 100) + "%"
