"""Dataclasses that are written as JSON and read back strictly: with every key, no other, and the right types.

    @dataclass(frozen=True, slots=True)
    class Point(Coded):
        x: float
        name: str | None

`Point.from_json({"x": 1})` raises RecordError, which names the key: "name is missing". In JSON no key has a default.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from model.errors import RecordError

Decoder = Callable[[object, str], Any]
UNIONS = (types.UnionType, typing.Union)


class Coded:
    """What a dataclass inherits from to be read and written."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """The same as JSON has it."""
        kind: Any = type(self)
        return {name: _encode(getattr(self, name)) for name in _field_names(kind)}

    @classmethod
    def from_json(cls, data: object, where: str = "") -> Self:
        """The value that this JSON stands for; `where`: the path to it, for RecordError."""
        value: Self = _decode_dataclass(cls, data, where)
        return value


@functools.cache
def _field_names(kind: Any) -> tuple[str, ...]:  # noqa: ANN401 - a dataclass
    return tuple(field.name for field in dataclasses.fields(kind))


def _encode(value: object) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, Coded):
        return value.to_json()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple | list):
        return [_encode(each) for each in value]
    if isinstance(value, Mapping):
        return {key: _encode(each) for key, each in value.items()}
    return str(value) if isinstance(value, Path) else value


def _decode_dataclass(kind: type, data: object, where: str) -> Any:  # noqa: ANN401
    if not isinstance(data, Mapping):
        raise _wrong(where, f"is not a mapping but {_short(data)}")
    decoders = _fields(kind)
    if data.keys() != decoders.keys():
        missing, unknown = sorted(decoders.keys() - data.keys()), sorted(map(str, data.keys() - decoders.keys()))
        words = [f"{_join(where, key)} is missing" for key in missing]
        words += [f"{_join(where, key)} is unknown" for key in unknown]
        raise RecordError(f"in the record, {', '.join(words)}", key=_join(where, (missing or unknown)[0]))
    return kind(**{key: decode(data[key], _join(where, key)) for key, decode in decoders.items()})


@functools.cache
def _fields(kind: type) -> Mapping[str, Decoder]:
    hints = typing.get_type_hints(kind)
    return {name: decoder(hints[name]) for name in _field_names(kind)}


@functools.cache
def decoder(hint: Any) -> Decoder:  # noqa: ANN401, PLR0911 - a type; one line for each kind of type
    """What reads a value of this type; the value and the path to it are its arguments."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return lambda data, _where: data
    if origin in UNIONS:
        return _optional(arguments)
    if origin is typing.Literal:
        return _check(lambda data: data in arguments, f"one of {', '.join(map(str, arguments))}")
    if origin is tuple:
        return _sequence(arguments)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(decoder(arguments[1]))
    if issubclass(hint, Coded):
        return functools.partial(_decode_coded, hint)
    if issubclass(hint, StrEnum):
        return _enum(hint)
    if hint is Path:
        return lambda data, where: Path(decoder(str)(data, where))
    return _plain(hint)


def _decode_coded(kind: type[Coded], data: object, where: str) -> Coded:
    return kind.from_json(data, where)


def _optional(arguments: tuple[Any, ...]) -> Decoder:
    (rest,) = (each for each in arguments if each is not type(None))  # a union of other types is not supported
    inner = decoder(rest)
    return lambda data, where: None if data is None else inner(data, where)


def _sequence(arguments: tuple[Any, ...]) -> Decoder:
    repeated = len(arguments) == 2 and arguments[1] is Ellipsis
    decoders = [decoder(each) for each in (arguments[:1] if repeated else arguments)]

    def read(data: object, where: str) -> tuple[Any, ...]:
        if not isinstance(data, list | tuple) or not (repeated or len(data) == len(decoders)):
            raise _wrong(where, f"is not a list{'' if repeated else f' of {len(decoders)}'} but {_short(data)}")
        if repeated:
            return tuple([decoders[0](each, f"{where}[{number}]") for number, each in enumerate(data)])
        return tuple([one(each, f"{where}[{n}]") for n, (one, each) in enumerate(zip(decoders, data, strict=True))])

    return read


def _mapping(inner: Decoder) -> Decoder:
    def read(data: object, where: str) -> dict[str, Any]:
        if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):
            raise _wrong(where, f"is not a mapping by name but {_short(data)}")
        return {key: inner(each, _join(where, key)) for key, each in data.items()}

    return read


def _enum(kind: type[StrEnum]) -> Decoder:
    values = {each.value: each for each in kind}

    def read(data: object, where: str) -> StrEnum:
        if not isinstance(data, str) or data not in values:
            raise _wrong(where, f"is no {kind.__name__.lower()} but {_short(data)}")
        return values[data]

    return read


def _plain(kind: type) -> Decoder:
    if kind is float:
        number = _check(_is_number, "a number")
        return lambda data, where: float(number(data, where))
    if kind not in (str, int, bool):
        raise TypeError(f"{kind} has no form in JSON")
    return _check(lambda data: type(data) is kind, f"of type {kind.__name__}")


def _is_number(data: object) -> bool:
    return type(data) is int or (type(data) is float and math.isfinite(data))


def _check(right: Callable[[object], bool], words: str) -> Decoder:
    def read(data: object, where: str) -> object:
        if not right(data):
            raise _wrong(where, f"is not {words} but {_short(data)}")
        return data

    return read


def _wrong(where: str, why: str) -> RecordError:
    return RecordError(f"in the record, {where or 'the whole'} {why}", key=where)


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _short(data: object) -> str:
    text = repr(data)
    return text if len(text) <= 60 else f"{text[:57]}..."
