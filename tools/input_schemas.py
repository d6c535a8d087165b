"""The schemas of files that people write about sites, labs and studies: site.yaml, recipes, descriptions of labs,
study.yaml. In Draft 7, as editors understand it; lanelab itself checks more."""

from collections.abc import Mapping

from lanelab.driver.base.coded import Json
from lanelab.driver.base.settings.kinds import PROSE
from lanelab.driver.base.settings.setting import Table
from lanelab.driver.experiment.keys import CLAIM_CHANGE, CLAIM_VALUE
from lanelab.driver.lab.description import LAB, PREDICTION
from lanelab.driver.run.study.keys import CLAIM, DIFFERENCE, FIGURE, STUDY
from lanelab.driver.site.composition import Part
from lanelab.driver.site.fetch.spec import FETCH, PACKAGE
from lanelab.driver.site.fidelity import Fidelity
from lanelab.driver.site.generate.tables import GROUP, PAGE_TABLE, RECIPE, SIZED_BY
from lanelab.driver.site.manifest import MAKERS, OBJECT, SITE
from tools.json_types import Types
from tools.schema_parts import Schema, object_of, one_or_many, properties, reference, with_definitions

DRAFT = "http://json-schema.org/draft-07/schema#"


def input_schemas() -> dict[str, Schema]:
    """Return each schema of docs/schemas/ by the name of what it is of."""
    return {"site": _site(), "recipe": _recipe(), "lab": _lab()}


def _site() -> Schema:
    types = Types()
    lines = one_or_many({"type": "string"})
    shapes: dict[str, Schema] = {
        "objects": _list(reference("object")),
        "fetch": reference("fetch"),
        **dict.fromkeys(("late", "unanswered", "left_out"), lines),
        "pages": {"type": "object", "minProperties": 1, "additionalProperties": lines},
        "composition": {"type": "object", "additionalProperties": types.of(Part)},
        "fidelity": types.of(Fidelity),
    }
    types.definitions["Fidelity"]["required"].remove("archive")  # older manifests do not have it
    needs: Schema = {"archive": ["sha256"], "recipe": ["digest"], "fetch": ["digest"], "generate": ["objects"]}
    packages = {"packages": _list(reference("package")), "objects": lines}
    return {
        **_whole("lanelab site", SITE, shapes),
        "oneOf": [{"required": [maker]} for maker in MAKERS],
        "dependencies": needs,
        "definitions": {
            "object": object_of(OBJECT),
            "fetch": object_of(FETCH, packages),
            "package": object_of(PACKAGE),
        },
        "$defs": types.definitions,
    }


def _recipe() -> Schema:
    group: Schema = {**object_of(GROUP), "oneOf": [{"required": [name]} for name in SIZED_BY]}
    pages: Schema = {"type": "object", "minProperties": 2, "additionalProperties": reference("page")}
    shapes: dict[str, Schema] = {"page": reference("page"), "pages": pages, "objects": _list(reference("group"))}
    whole: Schema = {
        **_whole("lanelab recipe", RECIPE, shapes),
        "oneOf": [{"required": ["page"]}, {"required": ["pages"]}],
        "definitions": {"page": {**object_of(PAGE_TABLE), "required": ["size"]}, "group": group},
    }
    return with_definitions(whole, {"text": PROSE.schema})


def _lab() -> Schema:
    text: Schema = {"type": ["string", "number"]}
    names = one_or_many({"type": "string"})
    shapes: dict[str, Schema] = {
        "change": _of_claim(CLAIM_CHANGE),
        "value": _of_claim(CLAIM_VALUE),
        "where": {"type": "object"},
        "for": {"type": "string"},
        "margin": text,
        "calculated": {"type": "number"},
    }
    whole: dict[str, Schema] = {
        "predictions": {"type": "object", "additionalProperties": reference("prediction")},
        "numbers": {"type": "object", "additionalProperties": names},
    }
    return {**_whole("lanelab lab", LAB, whole), "definitions": {"prediction": object_of(PREDICTION, shapes)}}


def study_schema() -> Schema:
    shapes: dict[str, Schema] = {
        "variants": {"type": "object", "minProperties": 1, "additionalProperties": PROSE.schema},
        "figures": _numbered(reference("figure")),
        "claims": _numbered({"anyOf": [PROSE.schema, reference("claim")]}),
        "differences": {"type": "array", "minItems": 1, "items": reference("difference")},
    }
    definitions = {"figure": object_of(FIGURE), "claim": object_of(CLAIM), "difference": object_of(DIFFERENCE)}
    whole: Schema = {**_whole("lanelab study", STUDY, shapes), "definitions": definitions}
    return with_definitions(whole, {"text": PROSE.schema})


def _numbered(value: Schema) -> Schema:
    pattern: Schema = {"^[1-9][0-9]{0,3}$": value}
    return {"type": "object", "minProperties": 1, "additionalProperties": False, "patternProperties": pattern}


def _of_claim(table: Table) -> Schema:
    text: Schema = {"type": ["string", "number"]}
    place: Schema = {"type": "object"}
    shapes: dict[str, Schema] = {**dict.fromkeys(table, text), "at": place, "since": place}
    return {"type": "object", "properties": properties(table, shapes)}


def _whole(title: str, table: Table, shapes: Mapping[str, Schema]) -> dict[str, Json]:
    return {"$schema": DRAFT, "title": title, **object_of(table, shapes)}


def _list(one: Schema) -> Schema:
    return {"type": "array", "items": one, "minItems": 1}
