"""Dataclasses as JSON: what is written is read back, and nothing else is read."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, NotRequired, Required, TypedDict, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.coded import Coded, parsed
from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.record.series import Series


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Inner(Coded):
    number: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outer(Coded):
    ratio: float
    on: bool
    colour: Colour
    way: Literal["down", "up"]
    path: Path
    pair: tuple[int, str]
    inner: Inner | None
    named: Mapping[str, Inner]
    free: Any


VALUE = Outer(
    ratio=0.5, on=True, colour=Colour.RED, way="up", path=Path("/x"), pair=(1, "a"), inner=Inner(1, ("a", "b")),
    named={"one": Inner(2, ())}, free={"any": [1, None]},
)  # fmt: skip


def test_what_is_written_is_read_back() -> None:
    assert Outer.from_json(json.loads(json.dumps(VALUE.to_json()))) == VALUE


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"ratio": "0.5"}, "ratio"),
        ({"ratio": True}, "ratio"),
        ({"ratio": float("nan")}, "ratio"),
        ({"on": 1}, "on"),
        ({"colour": "blue"}, "colour"),
        ({"way": "aside"}, "way"),
        ({"path": None}, "path"),
        ({"pair": [1]}, "pair"),
        ({"pair": [1, 2]}, "pair[1]"),
        ({"inner": {"number": 1}}, "inner.words"),
        ({"inner": {"number": 1, "words": [], "more": 1}}, "inner.more"),
        ({"inner": {"number": 1.5, "words": []}}, "inner.number"),
        ({"inner": {"number": 1, "words": ["a", 2]}}, "inner.words[1]"),
        ({"inner": {"number": 1, "words": "ab"}}, "inner.words"),
        ({"named": {"one": None}}, "named.one"),
        ({"named": []}, "named"),
        ({"else": 1}, "else"),
    ],
)
def test_whatever_is_wrong_is_named(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(RecordError, match=r"in the record, ") as caught:
        Outer.from_json(VALUE.to_json() | changes)
    assert caught.value.key == key
    assert key in caught.value.what


@pytest.mark.parametrize("key", list(VALUE.to_json()))
def test_no_key_has_a_default(key: str) -> None:
    data = VALUE.to_json()
    del data[key]
    with pytest.raises(RecordError, match=f"{key} is missing"):
        Outer.from_json(data)


LEAVES = st.none() | st.integers() | st.text()


@given(st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_nothing_is_too_strange(data: Any) -> None:
    with pytest.raises(RecordError):
        Outer.from_json(data)


RECORD = TrialRecord.not_started("page_load", "2026-01-01T00:00:00.000Z", Reason.BED_LOST, "it was so")


def test_a_record_is_read_back() -> None:
    record = TrialRecord.from_json(RECORD.to_json() | {"series": {"load": {"unit": "", "points": [[0, 1.5]]}}})
    assert record.failures == (Failure(Reason.BED_LOST, "it was so"),)
    assert record.series == {"load": Series("", ((0.0, 1.5),))}
    assert TrialRecord.from_json(record.to_json()) == record


@pytest.mark.parametrize(
    ("changes", "key"),
    [({"workload": "knitting"}, "workload"), ({"evidence": {}}, "evidence."), ({"evidenc": None}, "evidenc")],
)
def test_a_record_of_another_shape_is_refused(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(RecordError) as caught:
        TrialRecord.from_json(RECORD.to_json() | changes)
    assert caught.value.key.startswith(key)


class Said(TypedDict):
    number: int
    words: NotRequired[Sequence[str]]


def test_what_another_program_says_is_checked_and_passed_on_as_it_is() -> None:
    data = {"number": 1, "more": None}
    assert parsed(Said, data, "its answer") is data
    assert parsed(list[Said], [data], "its answer")[0] is data


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "in its answer, number is missing"),
        ({"number": "1"}, "in its answer, number is not of type int"),
        ({"number": 1, "words": ["a", 2]}, r"in its answer, words\[1\] is not of type str"),
        ([1], "in its answer, the whole is not a mapping"),
    ],
)
def test_what_another_program_says_wrongly_is_named(data: object, words: str) -> None:
    with pytest.raises(RecordError, match=words):
        parsed(Said, data, "its answer")


class Whole(TypedDict):
    number: int


class Extended(Whole, total=False):
    more: int
    sure: "Required[int]"


class Loose(TypedDict, total=False):
    more: int


class Tightened(Loose):
    number: int
    maybe: "NotRequired[int]"


class Again(Tightened, total=False):
    further: int


@pytest.mark.parametrize(
    ("kind", "required"),
    [
        (Whole, {"number"}),
        (Extended, {"number", "sure"}),
        (Loose, set()),
        (Tightened, {"number"}),
        (Again, {"number"}),
    ],
)
def test_a_key_is_required_as_the_class_says_that_it_comes_from(kind: Any, required: set[str]) -> None:
    keys = get_type_hints(kind)
    parsed(kind, dict.fromkeys(required, 1), "its answer")
    assert required <= keys.keys()
    for key in required:
        with pytest.raises(RecordError, match=f"{key} is missing"):
            parsed(kind, dict.fromkeys(keys.keys() - {key}, 1), "its answer")


@pytest.mark.parametrize("kind", [int | str, int | str | None])
def test_a_union_that_cannot_be_read_is_named(kind: Any) -> None:
    with pytest.raises(TypeError, match=r"int \| str.* has no form in JSON"):
        parsed(kind, 1, "its answer")
