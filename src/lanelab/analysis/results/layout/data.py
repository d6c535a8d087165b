"""Results as JSON has them: of a dataclass its fields by their names, but for what these say otherwise. Pure.

    @dataclass(frozen=True, slots=True)
    class Growth:
        cell: Cell = field(metadata=spread(names))  # its keys stand in the place of this one
        p: float = field(metadata=key("p_adjusted"))
        limit: float = field(metadata=LEFT_OUT)

        ALSO: ClassVar = ("words",)  # properties and methods that JSON has besides

A class whose JSON is not made of its fields has `to_json`.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any, TypeAlias

from lanelab.analysis.statistics import Change, Estimate, Summary

Fields: TypeAlias = Mapping[str, object]  # by name: whatever data_of makes JSON of
Metadata: TypeAlias = Mapping[str, Any]
LEFT_OUT: Metadata = {"key": None}


def key(name: str, of: Callable[[Any], object] | None = None) -> Metadata:
    """Say what a field is called in JSON, and what JSON has of it."""
    return {"key": name, "of": of}


def spread(of: Callable[[Any], object] | None = None) -> Metadata:
    """Say that the keys of a field stand among those of its class."""
    return {"key": None, "spread": True, "of": of}


def data_of(value: Any) -> Any:  # noqa: ANN401 - JSON of anything
    """JSON has no infinity: an end that time-outs leave open is null."""
    if isinstance(value, Mapping):
        return {name: data_of(below) for name, below in value.items()}
    if isinstance(value, tuple | list):
        return [data_of(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return str(value) if isinstance(value, StrEnum) else value
    return data_of(_mapping_of(value))


def _mapping_of(value: Any) -> Any:  # noqa: ANN401 - a dataclass
    if isinstance(value, Change | Estimate):
        return {**fields_of(value, "looks"), "meaning": value.meaning()}
    if isinstance(value, Summary):
        return {**_mapping_of(value.estimate), **_spread_of(value)}
    return value.to_json() if hasattr(value, "to_json") else dict(_keys_of(value))


def _keys_of(value: Any) -> Iterator[tuple[str, object]]:  # noqa: ANN401 - a dataclass
    for field in dataclasses.fields(value):
        of, content = field.metadata.get("of"), getattr(value, field.name)
        content = of(content) if of else content
        if "spread" in field.metadata:
            yield from data_of(content).items()
        elif name := field.metadata.get("key", field.name):
            yield name, content
    for name in getattr(value, "ALSO", ()):
        content = getattr(value, name)
        yield name, content() if callable(content) else content


def fields_of(value: Any, *without: str) -> Fields:  # noqa: ANN401 - a dataclass
    """Return the fields of a dataclass by their names, but for some."""
    names = (field.name for field in dataclasses.fields(value))
    return {name: getattr(value, name) for name in names if name not in without}


def _spread_of(summary: Summary) -> dict[str, float | None]:
    return {
        "quartile_1": summary.quartile_1,
        "quartile_3": summary.quartile_3,
        "min": summary.low,
        "max": summary.high,
        "mean": summary.mean,
        "stdev": summary.stdev,
        "stdev_percent": summary.stdev_percent,
    }
