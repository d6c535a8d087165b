"""docs/schemas: they follow the types, and what lanelab writes is what they say.

python -m tools.schemas     writes them again
"""

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from lanelab.driver.record.metrics import PRIMARY
from lanelab.driver.run.events import EVENTS, Event, Notice, TrialStored
from tools import schemas
from tools.json_types import Types

ALL = schemas.schemas()


def closed(schema: Any) -> Any:
    """Return a schema that takes no key which is not listed: what is written has no other."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    listed = {"additionalProperties": False} if isinstance(schema.get("properties"), dict) else {}
    return {**listed, **{key: closed(below) for key, below in schema.items()}}


def check(name: str, data: object) -> None:
    """Hold a document, as it is written, against its schema."""
    written = json.loads(json.dumps(data, allow_nan=False))
    jsonschema.Draft202012Validator(closed(ALL[name])).validate(written)


def sample(hint: Any) -> Any:  # noqa: PLR0911 - a line for each kind of type
    """Return some value of a type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return sample(arguments[0])
    if origin is typing.Literal:
        return arguments[-1]
    if origin is tuple:
        return (sample(arguments[0]),)
    if origin is not None and issubclass(origin, Mapping):
        return {"a": sample(arguments[1])}
    if hint is Event:
        return Notice("a link is slow")
    if dataclasses.is_dataclass(hint):
        return made(hint)
    return next(iter(hint)) if issubclass(hint, StrEnum) else hint(1)


def made(kind: Any) -> Any:
    hints = typing.get_type_hints(kind)
    values = {field.name: sample(hints[field.name]) for field in dataclasses.fields(kind)}
    return kind(**values)


def test_they_follow_the_types() -> None:
    published = {path.name: path.read_text() for path in schemas.FOLDER.iterdir()}
    assert published == schemas.files(), "python -m tools.schemas writes them again"


@pytest.mark.parametrize("name", ALL)
def test_each_is_a_schema_with_a_version(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(ALL[name])
    assert ALL[name]["$id"] == f"urn:lanelab:{name}:1"


@pytest.mark.parametrize("kind", schemas.RUN_EVENTS, ids=lambda kind: kind.__name__)
def test_each_event_is_valid_and_nothing_less_is(kind: type[Event]) -> None:
    event = made(kind)
    if isinstance(event, TrialStored):
        event = dataclasses.replace(event, metric=next(iter(PRIMARY.values())), value=None)
    written = event.to_json()
    check("event", written)
    for key in written:
        with pytest.raises(jsonschema.ValidationError):
            check("event", {other: value for other, value in written.items() if other != key})


def test_events_may_have_more_keys_than_this_version_knows() -> None:
    jsonschema.Draft202012Validator(ALL["event"]).validate({**made(EVENTS[0]).to_json(), "to_come": 1})


def test_an_event_that_nobody_knows_is_invalid() -> None:
    with pytest.raises(jsonschema.ValidationError):
        check("event", {"event": "unheard-of"})


def test_a_type_without_a_form_is_named() -> None:
    with pytest.raises(TypeError, match="has no form in JSON"):
        Types().of(complex)


def test_two_types_of_one_name_are_refused() -> None:
    known = Types()
    known.of(Notice)
    with pytest.raises(TypeError, match="two types are called Notice"):
        known.of(dataclass(type("Notice", (), {"__annotations__": {"what": str}})))
