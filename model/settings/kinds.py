"""How values of one kind are written and read: what the tables of settings are made of."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from model.errors import InputError
from model.units import Duration, Ratio


@dataclass(frozen=True, slots=True)
class Kind:
    """How values of one kind are written and read."""

    metavar: str
    written: str
    parse: Callable[[object, str], Any]  # (value, key)
    choices: tuple[str, ...] = ()
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})  # of JSON: a first look, for editors


def near_miss(name: str, known: Iterable[str]) -> str:
    """A question for the remedy, with a blank behind it; nothing where no name is near."""
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

    numbers = [float(one) for one in choices if re.fullmatch(r"[0-9]+[.][0-9]+", one)]  # as editors read 1.2
    return Kind(metavar, " or ".join(f"`{one}`" for one in choices), parse, choices, {"enum": [*choices, *numbers]})


LARGEST_SEED = 4_294_967_295  # 32 bits


def count(metavar: str, what: str, lowest: int, highest: int) -> Kind:
    def parse(value: object, key: str) -> int:
        text = "" if isinstance(value, bool) else str(value).strip()
        if not re.fullmatch(r"[0-9]{1,10}", text) or not lowest <= int(text) <= highest:
            remedy = f"Write a whole number of {what} from {lowest} to {highest}"
            raise InputError(f"{value!r} cannot be used", remedy, key=key)
        return int(text)

    schema = {"type": "integer", "minimum": lowest, "maximum": highest}
    return Kind(metavar, f"{what}, {lowest} to {highest}", parse, (), schema)


def _flag(value: object, key: str) -> bool:
    """`on` and `off` too: `keepalive: off` beside `tls: off`."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or value not in FLAGS:
        meant = {"yes": "true", "no": "false"}.get(str(value).lower())
        remedy = f"Did you mean {meant}? " if meant else near_miss(str(value), FLAGS)
        raise InputError(f"{value!r} is neither true nor false", f"{remedy}Write true or false", key=key)
    return FLAGS[value]


def pattern(regex: str) -> dict[str, Any]:
    """The schema of a quantity, which may be a bare 0."""
    return {"anyOf": [{"type": "string", "pattern": regex}, {"const": 0}]}


NUMBER = r"([0-9]+(\.[0-9]+)?|\.[0-9]+)"
FLAGS = {"true": True, "false": False, "on": True, "off": False}
FLAG = Kind("BOOL", "`true` or `false`", _flag, ("true", "false"), {"enum": [True, False, "on", "off"]})
DURATION = Kind(
    "DURATION",
    "`ns`, `us`, `ms`, `s`",
    lambda value, key: Duration.parse(value, key=key),
    (),
    pattern(rf"^\s*{NUMBER}\s*([nuµμmNUM]?[sS])\s*$"),
)
PERCENT = Kind("PERCENT", "`%`", lambda value, key: Ratio.parse(value, key=key), (), pattern(rf"^\s*{NUMBER}\s*%\s*$"))
