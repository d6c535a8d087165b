"""The schemas of site.yaml and of recipes: every such file of the repository is valid, and mistakes are not."""

from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.site.generate.recipe import parse_recipe
from lanelab.driver.site.manifest import parse_manifest
from tools.editor_values import as_editors_read
from tools.input_schemas import input_schemas

ALL = input_schemas()
PLACES = [PROJECT / "sites-archive", PROJECT / "tests" / "data" / "sites"]
SITES = [file for place in PLACES for file in sorted(place.glob("*/site.yaml"))]
RECIPES = [file for place in PLACES for file in sorted(place.glob("*/recipe*.yaml"))]


def complaints(name: str, text: str) -> list[str]:
    return [error.message for error in jsonschema.Draft7Validator(ALL[name]).iter_errors(as_editors_read(text))]


@pytest.mark.parametrize("name", ALL)
def test_each_is_a_schema(name: str) -> None:
    jsonschema.Draft7Validator.check_schema(ALL[name])


@pytest.mark.parametrize("file", SITES, ids=[file.parent.name for file in SITES])
def test_every_site_here_is_valid(file: Path) -> None:
    assert complaints("site", file.read_text()) == []


@pytest.mark.parametrize("file", RECIPES, ids=[file.parent.name for file in RECIPES])
def test_every_recipe_here_is_valid(file: Path) -> None:
    assert complaints("recipe", file.read_text()) == []


def test_there_are_files_to_hold_against_them() -> None:
    assert len(SITES) > 20
    assert len(RECIPES) > 10


SHA = "a" * 64
OBJECT = f"{{host: a.test, path: /, mime: text/html, size: 1, sha256: {SHA}}}"
SITE = f"title: a\nsource: b\nentry: a.test/\nobjects: [{OBJECT}]\n"
RECIPE = "title: a\nhost: a.test\npage: {size: 900}\nobjects: [{type: css, size: 900}]\n"


@pytest.mark.parametrize(
    "mistake",
    [
        ("title: a\n", ""),
        ("title:", "titel:"),
        ("host: a.test", "host: a_b.test!"),
        ("size: 1", "size: many"),
        (SHA, "abc"),
        ("objects:", "recipe: recipe.yaml\nobjects:"),
        ("objects:", "archive: a.warc.gz\nunanswered:"),
    ],
)
def test_a_mistake_in_a_site_is_marked_and_refused(mistake: tuple[str, str]) -> None:
    parse_manifest(SITE, "site.yaml")
    assert complaints("site", SITE) == []
    assert complaints("site", SITE.replace(*mistake))
    with pytest.raises(InputError):
        parse_manifest(SITE.replace(*mistake), "site.yaml")


@pytest.mark.parametrize(
    "mistake",
    [
        ("host: a.test", "host: a.com"),
        ("page: {size: 900}", "page: {noise: 1%}"),
        ("type: css", "type: style"),
        ("size: 900}]", "size: 900, total: 9}]"),
        ("size: 900}]", "size: 900, spread: wide}]"),
        ("size: 900}]", "size: 900, late: sometimes}]"),
    ],
)
def test_a_mistake_in_a_recipe_is_marked_and_refused(mistake: tuple[str, str]) -> None:
    parse_recipe(RECIPE, "recipe.yaml")
    assert complaints("recipe", RECIPE) == []
    assert complaints("recipe", RECIPE.replace(*mistake))
    with pytest.raises(InputError):
        parse_recipe(RECIPE.replace(*mistake), "recipe.yaml")
