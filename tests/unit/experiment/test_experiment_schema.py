"""The schema of experiment files agrees with what is read."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given

from lanelab.driver.api.example import EXAMPLE
from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.fields import ARM, OWNERS
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.experiment.read import read_experiment
from lanelab.driver.experiment.shipped import EXPERIMENT_SCHEMA, STUDY_FILE, STUDY_SCHEMA
from lanelab.driver.link import SETTINGS
from lanelab.driver.link.profiles import PROFILES
from tests.kit.complaints import complaints
from tests.kit.experiments import ARMS, PATIENT, SMALL, arm_settings, read
from tests.kit.links import settings

EXPERIMENTS = PROJECT / "experiments"
FILES = sorted(EXPERIMENTS.rglob("*.yaml"))
SHIPPED = [*(file for file in FILES if file.name != STUDY_FILE), EXAMPLE]


TEXT = EXPERIMENT_SCHEMA.read_text()
WHOLE: dict[str, Any] = json.loads(TEXT)


def test_it_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(WHOLE)


def test_everything_with_a_name_is_referred_to() -> None:
    assert not [name for name in WHOLE["definitions"] if f'"#/definitions/{name}"' not in TEXT]


@pytest.mark.parametrize("file", FILES, ids=[str(file.relative_to(EXPERIMENTS)) for file in FILES])
def test_editors_find_the_schema_of_what_is_shipped(file: Path) -> None:
    first = file.read_text().partition("\n")[0]
    _, _, schema_file = first.partition("# yaml-language-server: $schema=")
    expected = STUDY_SCHEMA if file.name == STUDY_FILE else EXPERIMENT_SCHEMA
    assert (file.parent / schema_file).resolve() == expected


@pytest.mark.parametrize("file", SHIPPED, ids=[f"{file.parent.name}/{file.stem}" for file in SHIPPED])
def test_what_is_shipped_is_valid(file: Path) -> None:
    assert complaints(file.read_text()) == []
    assert read_experiment(file).cells


VALID = [
    SMALL,
    f"links: {{}}\nsites: [dummy, shop]\n{ARMS}",
    f"{SMALL}until: {{ci: 2%}}\ncapture: off\nfigures: {{x: rtt, series: none}}\n",
    f"{SMALL}capture: [client, server]\ntolerances: {{missing: 1}}\nfigures: [{{only: {{rtt: 20ms}}}}]\n",
    f"{SMALL}capture: {{nodes: client, snaplen: all}}\nseed: 0\ntimeout: 1.5s\n",
    "sites: dummy\nlinks: {profile: [3g, cable], loss: 0%}\narms: {a: , b: {tls: 1.2, connections_per_host: 6}}\n",
    f"sites: dummy\n{ARMS}cells: [{{link: {{rtt: 1s}}, arm: [http, h2]}}]\n",
]


@pytest.mark.parametrize("text", VALID)
def test_what_is_read_is_valid(text: str) -> None:
    assert read(text).cells
    assert complaints(text) == []


def one_line(mapping: dict[str, object]) -> str:
    return json.dumps({key: str(value) if isinstance(value, tuple) else value for key, value in mapping.items()})


@PATIENT
@given(settings())
def test_every_link_is_valid(mapping: dict[str, object]) -> None:
    assert complaints(f"sites: dummy\nlinks: {one_line(mapping)}\n{ARMS}") == []


@PATIENT
@given(arm_settings())
def test_every_arm_is_valid(mapping: dict[str, object]) -> None:
    text = f"sites: dummy\nlinks: {{}}\narms: {{a: {one_line(mapping)}}}\n"
    assert read(text).arms
    assert complaints(text) == []


def keys(part: object, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every key that the schema describes, with its place."""
    if isinstance(part, dict):
        for name, value in part.items():
            if isinstance(value, dict) and "description" in value and path.endswith("properties"):
                yield f"{path}.{name}", value
            yield from keys(value, f"{path}.{name}")
    if isinstance(part, list):
        for number, value in enumerate(part):
            yield from keys(value, f"{path}.{number}")


KEYS = dict(keys(WHOLE))


@pytest.mark.parametrize("place", KEYS)
def test_examples_and_the_default_of_a_key_are_valid(place: str) -> None:
    key = KEYS[place]
    validator = jsonschema.Draft7Validator({**key, "definitions": WHOLE["definitions"]})
    for value in [*key.get("examples", []), *([key["default"]] if "default" in key else [])]:
        assert not [error.message for error in validator.iter_errors(value)], value


def test_every_key_of_a_table_has_an_example() -> None:
    assert len(KEYS) > 250
    assert [place for place, key in KEYS.items() if "examples" not in key] == [
        f".definitions.link.properties.{name}" for name in ("label", "profile", "delay")
    ]


DEFAULTS = [(place.rpartition(".")[2], key["default"], place) for place, key in KEYS.items() if "default" in key]
OF_EXPERIMENT = [(name, value) for name, value, place in DEFAULTS if place.startswith(".properties.")]
OF_ARM = [(name, value) for name, value, place in DEFAULTS if place.startswith(".definitions.arm.")]
OF_LINK = [(name, value) for name, value, place in DEFAULTS if place.startswith(".definitions.link.")]


@pytest.mark.parametrize(("name", "value"), OF_EXPERIMENT)
def test_the_default_of_an_experiment_is_what_is_read_without_it(name: str, value: object) -> None:
    text = f"{SMALL}{name}: {json.dumps(value)}\n"
    assert read(text) == dataclasses.replace(read(SMALL), text=text)


@pytest.mark.parametrize(("name", "value"), OF_ARM)
def test_the_default_of_an_arm_is_what_is_read_without_it(name: str, value: object) -> None:
    server = {"server": OWNERS[name][0]} if name in OWNERS else {}
    assert Arm.parse("a", {**server, name: value}) == Arm.parse("a", server)


@pytest.mark.parametrize(("name", "value"), OF_LINK)
def test_the_default_of_a_link_is_what_is_read_without_it(name: str, value: object) -> None:
    text = "sites: dummy\nlinks: %s\n" + ARMS
    cells = [[cell.link.to_mapping() for cell in read(text % json.dumps(link)).cells] for link in ({name: value}, {})]
    assert cells[0] == cells[1]


def test_every_example_of_a_table_is_valid() -> None:
    for field in ARM.settings:
        assert complaints(f"sites: dummy\nlinks: {{}}\narms:\n  a:\n    {field.name}: {field.example}\n") == []
    for name, key in SETTINGS.items():
        assert complaints(f"sites: dummy\nlinks:\n  {name}: {key.setting.example}\n{ARMS}") == [], name
    for profile in PROFILES:
        assert complaints(f"sites: dummy\nlinks: {{profile: {profile}}}\n{ARMS}") == []
