"""Results as JSON has them: of a dataclass its fields, unless it says otherwise with `to_json`. Pure."""

import dataclasses
import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeAlias

from lanelab.analysis.statistics import Change, Estimate, Summary

Fields: TypeAlias = Mapping[str, object]  # by name: whatever data_of makes JSON of


def data_of(value: Any) -> Any:  # noqa: ANN401 - JSON of anything
    """JSON has no infinity: an end that time-outs leave open is null."""
    if isinstance(value, Mapping):
        return {key: data_of(below) for key, below in value.items()}
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
        return {**_mapping_of(value.estimate), **_spread(value)}
    return value.to_json() if hasattr(value, "to_json") else fields_of(value)


def fields_of(value: Any, *without: str) -> Fields:  # noqa: ANN401 - a dataclass
    """Return the fields of a dataclass by their names, but for some."""
    names = (field.name for field in dataclasses.fields(value))
    return {name: getattr(value, name) for name in names if name not in without}


def _spread(summary: Summary) -> dict[str, float | None]:
    return {
        "quartile_1": summary.quartile_1,
        "quartile_3": summary.quartile_3,
        "min": summary.low,
        "max": summary.high,
        "mean": summary.mean,
        "stdev": summary.stdev,
        "stdev_percent": summary.stdev_percent,
    }
