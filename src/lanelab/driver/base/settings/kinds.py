"""Kinds of values: how each is written, read and described. Settings are made of them."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import Duration, Ratio

LARGEST_SEED = 4_294_967_295  # 32 bits
MOST_BEDS = 1000
LONGEST_LINE, MOST_LINES = 1000, 100


@dataclass(frozen=True, slots=True)
class Kind:
    """Says how values of one kind are written and read. `schema` is JSON's: it gives editors a first check."""

    metavar: str
    written: str
    parse: Callable[[object, str], Any]  # (value, key)
    schema: JsonObject = field(default_factory=lambda: {"type": "string"})
    numeric: bool = False  # whether values lie on an axis


def near_miss(name: str, known: Iterable[str]) -> str:
    """Return a question for the remedy, with a blank behind it; nothing where no name is near."""
    names = {other.lower(): other for other in known}
    near = difflib.get_close_matches(name.lower(), names, n=1)
    return f"Did you mean {names[near[0]]}? " if near else ""


def choice(metavar: str, *choices: str, also: Mapping[str, str] | None = None) -> Kind:
    """One of these; `also` are other names that people use, to answer them with the right one."""

    def parse(value: object, key: str) -> str:
        if str(value) in choices:
            return str(value)
        known = (also or {}).get(str(value).lower())
        near = f"Did you mean {known}? " if known else near_miss(str(value), choices)
        remedy = f"{near}Choose {', '.join(choices)}"
        raise InputError(f"{value!r} is not one of them", remedy, key=key)

    # As editors read 12 and 1.2.
    numbers = [float(one) if "." in one else int(one) for one in choices if re.fullmatch(NUMBER, one)]
    return Kind(metavar, " or ".join(f"`{one}`" for one in choices), parse, {"enum": [*choices, *numbers]})


def count(metavar: str, what: str, lowest: int, highest: int) -> Kind:
    def parse(value: object, key: str) -> int:
        text = "" if isinstance(value, bool) else str(value).strip()
        if not re.fullmatch(r"[0-9]{1,10}", text) or not lowest <= int(text) <= highest:
            remedy = f"Write a whole number of {what} from {lowest} to {highest}"
            raise InputError(f"{value!r} cannot be used", remedy, key=key)
        return int(text)

    schema: JsonObject = {"type": "integer", "minimum": lowest, "maximum": highest}
    return Kind(metavar, f"{what}, {lowest} to {highest}", parse, schema, numeric=True)


def _flag(value: object, key: str) -> bool:
    """Read `true` and `false`, and `on` and `off` too: `keepalive: off` beside `tls: off`."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or value not in FLAGS:
        meant = {"yes": "true", "no": "false"}.get(str(value).lower())
        remedy = f"Did you mean {meant}? " if meant else near_miss(str(value), FLAGS)
        raise InputError(f"{value!r} is neither true nor false", f"{remedy}Write true or false", key=key)
    return FLAGS[value]


def pattern(regex: str) -> JsonObject:
    """Return the schema of a quantity, which may be a bare 0."""
    return {"anyOf": [{"type": "string", "pattern": regex}, {"const": 0}]}


NUMBER = r"([0-9]+(\.[0-9]+)?|\.[0-9]+)"
FLAGS = {"true": True, "false": False, "on": True, "off": False}
FLAG = Kind("BOOL", "`true` or `false`", _flag, {"enum": [True, False, "on", "off"]})
DURATION = Kind(
    "DURATION",
    "`ns`, `us`, `ms`, `s`",
    lambda value, key: Duration.parse(value, key=key),
    pattern(rf"^\s*{NUMBER}\s*([nuµμmNUM]?[sS])\s*$"),
    numeric=True,
)
PERCENT = Kind(
    "PERCENT",
    "`%`",
    lambda value, key: Ratio.parse(value, key=key),
    pattern(rf"^\s*{NUMBER}\s*%\s*$"),
    numeric=True,
)


def one_line(value: object, key: str, what: str) -> str:
    """Return one line of text, which can go into a configuration or a command without meaning anything else there."""
    text = str(value).strip()
    if isinstance(value, list | tuple | dict) or value is None or not text:
        raise InputError(f"it is no {what}", f"Write one line of text as the {what}", key=key)
    if not text.isprintable():
        raise InputError(f"{what} {text[:60]!r} has a line break or a control character", "Write one line", key=key)
    if len(text) > LONGEST_LINE:
        raise InputError(f"the {what} is longer than {LONGEST_LINE} characters", "Write less", key=key)
    return text


def prose(value: object, _key: str) -> str:
    return str(value).strip()


PROSE = Kind("TEXT", "text", prose, {"type": ["string", "number", "boolean"]})


def lines(what: str, pattern: str, like: str, refused: dict[str, str] | None = None) -> Kind:
    """Return several lines, or one; those that begin with a key of `refused` are, with its reason."""

    def parse(value: object, key: str) -> tuple[str, ...]:
        entries = list(value) if isinstance(value, list | tuple) else [value]
        if len(entries) > MOST_LINES:
            raise InputError(f"there are more than {MOST_LINES}", "Write fewer", key=key)
        read = tuple(one_line(one, key, what) for one in entries)
        for text in read:
            if not re.fullmatch(pattern, text):
                raise InputError(f"{text[:60]!r} is no {what}", f"Write one like {like}", key=key)
            for start, reason in (refused or {}).items():
                if re.match(rf"{start}(=|\s|$)", text, re.IGNORECASE):
                    raise InputError(f"{start} cannot be given: {reason}", "Leave it out", key=key)
        return read

    schema: JsonObject = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    return Kind("LIST", f"a {what}, or a list of them", parse, schema)


def whole_milliseconds(least: Duration, longest: Duration, refusal: str, *, numeric: bool = False) -> Kind:
    """Return a kind of whole milliseconds. `refusal` is the message about another time, which stands in it as
    {time}."""

    def parse(value: object, key: str) -> Duration:
        time = Duration.parse(value, key=key)
        if not least <= time <= longest or time.ns % 1_000_000:
            remedy = f"Write whole milliseconds from {least} to {longest}"
            raise InputError(refusal.format(time=time), remedy, key=key)
        return time

    return Kind("DURATION", "whole milliseconds", parse, DURATION.schema, numeric=numeric)
