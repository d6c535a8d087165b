"""A table of settings: what is read, what is refused with file, line and key, and what is printed from it."""

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import DURATION, FLAG, choice, count, lines
from lanelab.driver.base.settings.setting import DefaultBy, Setting, Sides, Table
from lanelab.driver.base.settings.source import Written, error_at_its_line, read_yaml
from tools.schema_parts import properties

WAYS = Sides({"in": ", inwards", "out": ", outwards"}, ", both ways")
TABLE = Table(
    (
        Setting("colour", choice("NAME", "red", "blue"), "red", "how it looks", "blue", aliases=("color",)),
        Setting(
            "size", count("PIECES", "pieces", 1, 9), DefaultBy("colour", {"red": "3", "blue": "5"}), "how many", "4"
        ),
        Setting("pause", DURATION, "", "how long it rests", "5ms", sides=WAYS, aliases=("rest",), default_words="none"),
        Setting(
            "quick",
            FLAG,
            "false",
            "whether it hurries",
            "true",
            needs="pause",
            meaningless_with=(("size", 1), ("size", 2)),
        ),
        Setting("notes", lines("note", ".+", "hello"), "", "what is written on it", "hello", default_words="none"),
        Setting("parts", None, "", "what it has", "{}", written="a mapping"),
        Setting("owner", choice("NAME", "me", "you"), "", "whose it is", "me", required=True),
    ),
    noun="setting",
    of=" of a thing",
    all_are="Settings are",
    elsewhere={"price": ("it is not a setting of a thing but of a shop", "Write price in the shop")},
)


def written(text: str) -> Written:
    return read_yaml(text, "thing.yaml", "See an example")


def test_values_are_read_and_the_rest_have_their_defaults() -> None:
    values = TABLE.values_of(TABLE.entries(written("colour: blue\npause: 5ms\nowner: me\n")))
    assert (values["colour"], values["size"], str(values["pause"]), values["quick"]) == ("blue", 5, "5ms", False)
    assert (values["notes"], values["owner"]) == ((), "me")
    assert "parts" not in values  # code of its own reads it


def test_a_default_may_depend_on_another_setting() -> None:
    size = TABLE.by_name["size"]
    assert [size.default_value(chosen) for chosen in ({}, {"colour": "red"}, {"colour": "blue"})] == [3, 3, 5]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("owner: me\ncolur: red", "thing.yaml:2: colur: there is no such setting of a thing. Did you mean colour?"),
        ("owner: me\ncolor: red", "thing.yaml:2: color: there is no such setting of a thing. Did you mean colour?"),
        (
            "owner: me\nRest-In: 1s",
            "thing.yaml:2: Rest-In: there is no such setting of a thing. Did you mean pause_in?",
        ),
        (
            "owner: me\nzzzz: 1",
            "thing.yaml:2: zzzz: there is no such setting of a thing. Settings are colour, size, pause, quick, notes,",
        ),
        ("owner: me\nprice: 1", "thing.yaml:2: price: it is not a setting of a thing but of a shop. Write price in"),
        ("colour: blue", "thing.yaml:1: owner is missing. Write one like owner: me"),
        (
            "owner: me\n\nsize: 10",
            "thing.yaml:3: size: '10' cannot be used. Write a whole number of pieces from 1 to 9",
        ),
        ("owner: me\nsize: [1]", "thing.yaml:2: size: there is a list where one value is needed"),
        ("owner: me\nsize:", "thing.yaml:2: size: it has no value"),
        ("owner: me\nowner: you", "thing.yaml:2: owner: it is written twice, here and on line 1"),
        ("- owner", "thing.yaml:1: this must be a mapping. Write lines of 'key: value' below it with colour, size,"),
        ("owner: !me me", "thing.yaml:1: the tag !me is not supported"),
        ("", "thing.yaml: the file is empty. See an example"),
    ],
)
def test_errors_name_file_line_and_key(text: str, error: str) -> None:
    with pytest.raises(InputError) as refused:
        TABLE.values_of(TABLE.entries(written(text)))
    assert str(refused.value).startswith(error)


def test_a_value_without_a_file_is_read_by_its_key() -> None:
    assert TABLE.read("pause_in", "5ms").milliseconds == 5
    with pytest.raises(InputError, match=r"^pause_inn: there is no such setting of a thing\. Did you mean pause_in\?"):
        TABLE.read("pause_inn", "5ms")


def test_a_side_has_a_key_of_its_own() -> None:
    assert [key.name for key in TABLE.by_name["pause"].keys] == ["pause", "pause_in", "pause_out"]
    assert (TABLE["pause"].help, TABLE["pause_in"].help) == (
        "how long it rests, both ways",
        "how long it rests, inwards",
    )
    assert TABLE["pause_out"].option == "--pause-out"
    assert TABLE["pause_out"].option_help == "how long it rests, outwards, like 5ms (default: none)"


def test_the_reference_and_the_schema_come_from_the_table() -> None:
    rows = TABLE.markdown().splitlines()
    assert rows[0] == "| setting | written as | default | meaning | example |"
    assert rows[3] == "| `size` | pieces, 1 to 9 | `3`; blue: `5` | how many | `size: 4` |"
    assert rows[4].startswith("| `pause`, `pause_in`, `pause_out` | ")
    assert "whether it hurries; needs `pause`; not with `size: 1`, `2` |" in rows[5]
    assert rows[7] == "| `parts` | a mapping | must be given | what it has | `parts: {}` |"
    schema = properties(TABLE, {"parts": {"type": "object"}})
    assert list(schema) == list(TABLE)
    assert schema["colour"] == {
        "enum": ["red", "blue"], "description": "how it looks (default: red)", "default": "red", "examples": ["blue"]
    }  # fmt: skip
    assert "default" not in schema["size"]  # it depends on the colour
    assert schema["parts"] == {"type": "object", "description": "what it has", "examples": [{}]}


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("arms.one.rules", "f.yaml:3: arms.one.rules: no such rule"),
        ("arms.HTTP/1.1.rules", "f.yaml:5: arms.HTTP/1.1.rules: no such rule"),
        ("arms.one.block", "f.yaml:6: arms.one.block: no such rule"),  # it stands among the defaults
        ("links.distances", "f.yaml:9: links.distances: no such rule"),
        ("links.rate", "f.yaml:7: links.rate: no such rule"),  # two have one
        ("arms.one.seed", "f.yaml:10: arms.one.seed: no such rule"),
        ("arms.two.rules", "f.yaml:1: arms.two.rules: no such rule"),
        ("hosts.two.rules", "hosts.two.rules: no such rule"),
        ("--out", "--out: no such rule"),
        ("", "no such rule"),
    ],
)
def test_what_is_found_late_still_has_its_line(key: str, told: str) -> None:
    text = "arms:\n  one:\n    rules: x\n  HTTP/1.1:\n    rules: x\ndefaults: {block: x}\n"
    text += "links:\n  - {rate: 1mbit}\n  - {rate: 2mbit, distances: x}\nseed: 1\n"
    assert str(error_at_its_line(InputError("no such rule", key=key), text, "f.yaml")) == told
