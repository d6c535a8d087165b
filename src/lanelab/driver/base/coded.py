"""Dataclasses that are written as JSON and read back strictly: with every key, no other, and the right types.

    @dataclass(frozen=True, slots=True)
    class Point(Coded):
        x: float
        name: str | None

`Point.from_json({"x": 1})` raises RecordError, which names the key: "name is missing". In JSON no key has a default.

What other programs say is read as a TypedDict of the keys that are used (`parsed`): those are checked as strictly.
The whole is passed on as it is, since such programs say more with each version.
"""

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar

from lanelab.driver.base.errors import RecordError

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"  # that is written
JsonObject: TypeAlias = Mapping[str, Json]
Decoder = Callable[[object], Any]
Value = TypeVar("Value")
UNIONS = (types.UnionType, typing.Union)
PLAIN = frozenset((str, int, float, bool, type(None)))
SHORT = 60  # characters of a wrong value that are shown


class Coded:
    """Makes a dataclass readable from JSON, and writable as JSON."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """Return this value as JSON has it."""
        kind: Any = type(self)
        return {name: encoded(getattr(self, name)) for name in _field_names(kind)}

    @classmethod
    def from_json(cls, data: object, where: str = "") -> Self:
        """Return the value that this JSON stands for; `where`: the path to it, for RecordError."""
        try:
            return cls.decoded(data)
        except _WrongError as wrong:
            raise wrong.as_record_error(where) from None

    @classmethod
    def decoded(cls, data: object) -> Self:
        """Return a value from its JSON within another value. A class whose fields alone do not say what they hold has
        its own."""
        value: Self = _decode_dataclass(cls, data)
        return value


def with_later(data: object, **later: object) -> object:
    """Return the JSON of a value with the keys that records did not have once, and what stands for them."""
    return {**later, **data} if isinstance(data, Mapping) else data


class _WrongError(Exception):
    """Something in the JSON is wrong. The path to it is put together on the way up, so that it costs nothing else."""

    def __init__(self, words: str, *rest: tuple[str, str]) -> None:
        """Keep `words` about this place, and `rest`: the keys below it, each with words of its own."""
        super().__init__(words)
        self.words, self.rest = words, rest
        self.path = ""

    def below(self, step: str | int) -> "_WrongError":
        """Return the same error as it is seen from one level above."""
        here = f"[{step}]" if isinstance(step, int) else step
        dot = "." if self.path and not self.path.startswith("[") else ""
        self.path = f"{here}{dot}{self.path}"
        return self

    def as_record_error(self, where: str, within: str = "the record") -> RecordError:
        path = f"{where}.{self.path}" if where and self.path else where or self.path
        named = [(f"{path}.{key}" if path else key, words) for key, words in self.rest]
        parts = [f"{key} {words}" for key, words in named] or [f"{path or 'the whole'} {self.words}"]
        return RecordError(f"in {within}, {', '.join(parts)}", key=named[0][0] if named else path)


def decoded_as(hint: Any, data: object, where: str = "") -> Any:  # noqa: ANN401 - a type, and a value of it
    """Return a value of this type from its JSON. RecordError."""
    if hint is type(None):
        return None
    try:
        return decoder(hint)(data)
    except _WrongError as wrong:
        raise wrong.as_record_error(where) from None


def parsed(kind: type[Value], data: object, within: str) -> Value:
    """Return what another program said, as a TypedDict or another type. `within`: whose words, for RecordError."""
    try:
        hint: Any = kind
        value: Value = decoder(hint)(data)
    except _WrongError as wrong:
        raise wrong.as_record_error("", within) from None
    return value


@functools.cache
def _field_names(kind: Any) -> tuple[str, ...]:  # noqa: ANN401 - a dataclass
    return tuple(field.name for field in dataclasses.fields(kind))


def encoded(value: object) -> Any:  # noqa: ANN401 - JSON
    """Return a value as JSON has it."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, Coded):
        return value.to_json()
    if isinstance(value, tuple | list):
        return [encoded(each) for each in value]
    if isinstance(value, Mapping):
        return {key: encoded(each) for key, each in value.items()}
    return value.value if isinstance(value, StrEnum) else str(value) if isinstance(value, Path) else value


def _decode_dataclass(kind: type, data: object) -> Any:  # noqa: ANN401
    if not isinstance(data, Mapping):
        raise _WrongError(f"is not a mapping but {_short(data)}")
    decoders = _fields(kind)
    if data.keys() != decoders.keys():
        missing, unknown = sorted(decoders.keys() - data.keys()), sorted(map(str, data.keys() - decoders.keys()))
        if missing or unknown:
            raise _WrongError("", *((key, "is missing") for key in missing), *((key, "is unknown") for key in unknown))
    return kind(**_values(decoders, data))


def _values(decoders: Mapping[str, Decoder], data: Mapping[str, object]) -> dict[str, object]:
    """Return by key what is there."""
    values = {}
    for key, decode in decoders.items():
        if key in data:
            try:
                values[key] = decode(data[key])
            except _WrongError as wrong:
                raise wrong.below(key) from None
    return values


@functools.cache
def _fields(kind: type) -> Mapping[str, Decoder]:
    hints = typing.get_type_hints(kind)
    return {name: decoder(hints[name]) for name in _field_names(kind)}


@functools.cache
def decoder(hint: Any) -> Decoder:  # noqa: ANN401, C901, PLR0911 - a type; one line for each kind of type
    """Return what reads a value of this type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in (Any, object):
        return lambda data: data
    if origin in UNIONS:
        return _optional(hint, arguments)
    if origin is typing.Literal:
        return _check(lambda data: data in arguments, f"one of {', '.join(map(str, arguments))}")
    if origin in (Sequence, list):
        return _list(decoder(arguments[0]))
    if origin is tuple:
        return _list(decoder(arguments[0])) if arguments[1:] == (Ellipsis,) else _row([decoder(a) for a in arguments])
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(decoder(arguments[1]))
    if typing.is_typeddict(hint):
        return _typed_dict(hint)
    if issubclass(hint, Coded):
        return hint.decoded  # type: ignore[no-any-return]
    if issubclass(hint, StrEnum):
        return _enum(hint)
    if hint is Path:
        return lambda data: Path(decoder(str)(data))
    return _plain(hint)


def _optional(hint: object, arguments: tuple[Any, ...]) -> Decoder:
    rest = [each for each in arguments if each is not type(None)]
    if len(rest) != 1:
        raise TypeError(f"{hint} has no form in JSON: a union may only be of a type and None")
    inner = decoder(rest[0])
    return lambda data: None if data is None else inner(data)


def _list(inner: Decoder) -> Decoder:
    def read(data: object) -> tuple[Any, ...]:
        if not isinstance(data, list | tuple):
            raise _WrongError(f"is not a list but {_short(data)}")
        values: tuple[Any, ...] = _row([inner] * len(data))(data)
        return values

    return read


def _row(decoders: list[Decoder]) -> Decoder:
    """Return a list of so many values, each of a type of its own."""

    def read(data: object) -> tuple[Any, ...]:
        if not isinstance(data, list | tuple) or len(data) != len(decoders):
            raise _WrongError(f"is not a list of {len(decoders)} but {_short(data)}")
        values: list[Any] = []
        try:
            for one, each in zip(decoders, data, strict=True):
                values.append(one(each))
        except _WrongError as wrong:
            raise wrong.below(len(values)) from None
        return tuple(values)

    return read


def _mapping(inner: Decoder) -> Decoder:
    def read(data: object) -> dict[str, Any]:
        if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):
            raise _WrongError(f"is not a mapping by name but {_short(data)}")
        values = {}
        for key, each in data.items():
            try:
                values[key] = inner(each)
            except _WrongError as wrong:
                raise wrong.below(key) from None
        return values

    return read


def _typed_dict(kind: Any) -> Decoder:  # noqa: ANN401 - a TypedDict
    """Read types that JSON has by itself."""
    hints = typing.get_type_hints(kind, include_extras=True)
    required = {name for name, hint in hints.items() if _is_required(kind, name, typing.get_origin(hint))}
    decoders = {name: decoder(hint) for name, hint in typing.get_type_hints(kind).items()}

    def read(data: object) -> object:
        if not isinstance(data, Mapping):
            raise _WrongError(f"is not a mapping but {_short(data)}")
        missing = sorted(required - data.keys())
        if missing:
            raise _WrongError("", *((key, "is missing") for key in missing))
        _values(decoders, data)
        return data

    return read


def _is_required(kind: Any, name: str, mark: object) -> bool:  # noqa: ANN401 - a TypedDict
    """Say whether this key has to be there. Python knows of each key whether the class that it comes from is `total`;
    a mark that is written as text, it only sees in the hints."""
    return mark is typing.Required or (mark is not typing.NotRequired and name in kind.__required_keys__)


def _enum(kind: type[StrEnum]) -> Decoder:
    values = {each.value: each for each in kind}

    def read(data: object) -> StrEnum:
        if not isinstance(data, str) or data not in values:
            raise _WrongError(f"is no {kind.__name__.lower()} but {_short(data)}")
        return values[data]

    return read


def _plain(kind: type) -> Decoder:
    if kind is float:
        number = _check(_is_number, "a number")
        return lambda data: float(number(data))
    if kind not in (str, int, bool):
        raise TypeError(f"{kind} has no form in JSON")
    return _check(lambda data: type(data) is kind, f"of type {kind.__name__}")


def _is_number(data: object) -> bool:
    return type(data) is int or (type(data) is float and math.isfinite(data))


def _check(right: Callable[[object], bool], words: str) -> Decoder:
    def read(data: object) -> object:
        if not right(data):
            raise _WrongError(f"is not {words} but {_short(data)}")
        return data

    return read


def _short(data: object) -> str:
    text = repr(data)
    return text if len(text) <= SHORT else f"{text[: SHORT - 3]}..."
