"""Kinds of values that only experiments have: texts, lists of lines, a viewport."""

from __future__ import annotations

import re
from typing import Any

from model.errors import InputError
from model.settings.kinds import Kind

LONGEST_LINE, MOST_LINES = 1000, 100
SMALLEST_SIDE, LARGEST_SIDE = 100, 10_000


def _line_of(value: object, key: str, what: str) -> str:
    """One line of text, which can go into a configuration or a command without meaning anything else there."""
    text = str(value).strip()
    if isinstance(value, list | tuple | dict) or value is None or not text:
        raise InputError(f"it is no {what}", f"Write one line of text as the {what}", key=key)
    if not text.isprintable():
        raise InputError(f"{what} {text[:60]!r} has a line break or a control character", "Write one line", key=key)
    if len(text) > LONGEST_LINE:
        raise InputError(f"the {what} is longer than {LONGEST_LINE} characters", "Write less", key=key)
    return text


def line(metavar: str, what: str) -> Kind:
    return Kind(metavar, f"one line: a {what}", lambda value, key: _line_of(value, key, what))


def prose(value: object, _key: str) -> str:
    return str(value).strip()


PROSE = Kind("TEXT", "text", prose, (), {"type": ["string", "number", "boolean"]})


def _user_agent(value: object, key: str) -> str | None:
    if value is None or value == "default":
        return None
    text = _line_of(value, key, "user agent")
    if not text.isascii():
        raise InputError("a user agent has ASCII characters only", "Write it as browsers send it", key=key)
    return text


USER_AGENT = Kind("TEXT", "one line; `default` is the browser's own", _user_agent, (), {"type": ["string", "null"]})


def lines(what: str, pattern: str, like: str, refused: dict[str, str] | None = None) -> Kind:
    """Several lines, or one; those that begin with a key of `refused` are, with its reason."""

    def parse(value: object, key: str) -> tuple[str, ...]:
        given = list(value) if isinstance(value, list | tuple) else [value]
        if len(given) > MOST_LINES:
            raise InputError(f"there are more than {MOST_LINES}", "Write fewer", key=key)
        read = tuple(_line_of(one, key, what) for one in given)
        for text in read:
            if not re.fullmatch(pattern, text):
                raise InputError(f"{text[:60]!r} is no {what}", f"Write one like {like}", key=key)
            for start, reason in (refused or {}).items():
                if re.match(rf"{start}(=|\s|$)", text, re.IGNORECASE):
                    raise InputError(f"{start} cannot be given: {reason}", "Leave it out", key=key)
        return read

    schema: dict[str, Any] = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    return Kind("LIST", f"a {what}, or a list of them", parse, (), schema)


def _viewport(value: object, key: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,6})x([0-9]{1,6})", str(value).strip())
    if not match:
        raise InputError(f"{str(value)[:60]!r} is no viewport", "Write width and height, like 1366x768", key=key)
    width, height = int(match[1]), int(match[2])
    if not all(SMALLEST_SIDE <= side <= LARGEST_SIDE for side in (width, height)):
        what = f"{width}x{height} cannot be shown"
        raise InputError(what, f"Write sides from {SMALLEST_SIDE} to {LARGEST_SIDE} pixels", key=key)
    return width, height


VIEWPORT = Kind("WxH", "width x height in pixels", _viewport, (), {"type": "string", "pattern": "^[0-9]+x[0-9]+$"})
