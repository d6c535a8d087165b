"""The JSON schema of an experiment file, for editors: names, choices and shapes. lanelab itself checks more."""

from collections.abc import Mapping

from lanelab.driver.arm.fields import ARM
from lanelab.driver.base.coded import Json
from lanelab.driver.base.settings.kinds import DURATION, FLAG, PERCENT, PROSE
from lanelab.driver.experiment.claim import DIRECTIONS, LINES, NOT, OF_TREND
from lanelab.driver.experiment.dimensions import DIMENSIONS
from lanelab.driver.experiment.figures import PLAIN
from lanelab.driver.experiment.keys import CLAIM_SECTIONS, METRICS, OF_STEP_SCHEMA, SECTIONS
from lanelab.driver.experiment.load_tables import LOAD_STAGE, LONG_DURATION, WORKLOAD
from lanelab.driver.experiment.traces import mapping_keys
from lanelab.driver.link import SETTINGS
from lanelab.driver.link.kinds import RATE
from lanelab.driver.link.profiles import PROFILES
from lanelab.driver.record.load_series import SERIES
from lanelab.driver.record.metrics import FETCH, LOAD, PAGE_LOAD
from lanelab.driver.trial.recorders.registry import RECORDERS
from tools.schema_parts import Schema, one_or_many, properties, reference, shown, with_definitions

_TEXT: Schema = {"type": "string"}
_VALUE: Schema = {"type": ["string", "number", "boolean"]}


def experiment_schema() -> Schema:
    """Return the schema as editors understand it, in Draft 7."""
    return with_definitions(_whole(), _kinds())


def _kinds() -> dict[str, Schema]:
    """Return the kinds of values that many keys share, and lists of them."""
    one: dict[str, Schema] = {
        "text": {"type": "string"},
        "value": dict(PROSE.schema),
        "time": {"type": ["string", "number"]},
        "switch": dict(FLAG.schema),
        "duration": dict(DURATION.schema),
        "long_duration": dict(LONG_DURATION.schema),
        "percent": dict(PERCENT.schema),
        "rate": dict(RATE.schema),
        "profile": {"enum": list(PROFILES)},
        "metric": {"anyOf": [{"enum": list(METRICS)}, dict(OF_STEP_SCHEMA)]},
        "series": {"enum": list(SERIES)},
        "axis": {"enum": ["none", *PLAIN, *DIMENSIONS]},
        **{f"link_{key.setting.name}": _of_setting(name) for name, key in SETTINGS.items() if mapping_keys(name)},
    }
    listed = ("text", "value", "switch", "duration", "percent", *(name for name in one if name.startswith("link_")))
    return {**one, **{f"{name}_or_list": one_or_many(one[name]) for name in listed}}


def _whole() -> Schema:
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "lanelab experiment",
        **_object(_section("experiment"), required=["arms"]),
        "anyOf": [{"required": ["sites", "links"]}, {"required": ["cells"]}],
        "not": {"required": ["trials", "until"]},
        "definitions": {
            "link": _object(_link()),
            "arm": _object(properties(ARM)),
            **{
                name: _object(_section(name))
                for name in ("cell", "figure", "step", "variant", "tolerances", "workload", "users", *_with_keys())
            },
            "published": {
                **_object(_section("published")),
                "anyOf": [{"required": ["axis"]}, {"required": ["points"]}],
            },
            **_claims(),
            "until": _object(_section("until"), required=["ci"]),
            "compare": _object(_section("compare"), required=["of", "to"]),
        },
    }


def _claims() -> dict[str, Schema]:
    """Return a claim and its kinds. What has to be there in the experiment is checked by lanelab itself."""
    text: Schema = {"type": ["string", "number"]}
    numbers: Schema = {"enum": [name for name, key in DIMENSIONS.items() if key.setting.numeric]}
    parts: dict[str, Schema] = {**dict.fromkeys(("of", "to", "at", "change_of", "value_of"), text), "over": numbers}
    parts["metric"] = {"anyOf": [{"enum": list(METRICS)}, dict(OF_STEP_SCHEMA)]}
    parts["series"] = {"enum": list(SERIES)}
    time: Schema = {"type": ["string", "number"]}
    place = _object({"users": {"type": "integer", "minimum": 1}, "time": time})
    parts["since"] = {**place, "minProperties": 1, "maxProperties": 1}
    parts["at"] = {"anyOf": [text, parts["since"]]}
    places = [name for name in (*PLAIN, *DIMENSIONS) if name != "arm"]
    one_of_two: Schema = {**_object(dict.fromkeys(places, _VALUE)), "minProperties": 1}
    sides: dict[str, dict[str, Schema]] = {"contrast": dict.fromkeys(("at", "to_at"), reference("claim_side"))}
    kinds = {
        name: _object(
            properties(table, {**parts, **sides.get(name, {})}), [one.name for one in table.settings if one.required]
        )
        for name, table in CLAIM_SECTIONS.items()
        if name != "claim"
    }
    one_subject = [{"required": ["change_of"]}, {"required": ["value_of"]}, {"required": ["of"]}]
    kinds["trend"]["oneOf"] = kinds["contrast"]["oneOf"] = one_subject
    kinds["contrast"]["dependencies"] = {"at": ["to_at"], "to_at": ["at"]}
    kinds["contrast"]["anyOf"] = [{"required": ["to"]}, {"required": ["at"]}]
    sections = {name: name for name in kinds if name != "line"} | dict.fromkeys(LINES, "line")
    shapes: dict[str, Schema] = {
        **{name: reference(f"claim_{section}") for name, section in sections.items()},
        "where": _object({name: one_or_many(_VALUE) for name in places}),
        "for": {"type": "string", "pattern": r"^\s*(every|any|mean|all\s+but\s+[0-9]+)(\s+[a-z_]+)?\s*$"},
        **_shapes_of_effects(),
    }
    claim = _object(properties(CLAIM_SECTIONS["claim"], shapes))
    ways = [{"required": [way]} for way in ("published", "expect", "equivalent")]
    claim["allOf"] = [{"oneOf": [{"required": [name]} for name in sections]}, {"oneOf": ways}]
    claim["dependencies"] = {"published": ["margin"], "margin": ["published"]}
    return {**{f"claim_{name}": kind for name, kind in kinds.items()}, "claim_side": one_of_two, "claim": claim}


def _shapes_of_effects() -> dict[str, Schema]:
    """Return the keys that say what was published, or is expected."""
    change: Schema = {"type": "string", "pattern": r"^\s*[+-]?[0-9.]+\s*%\s*$"}
    value: Schema = {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": r"^\s*\+?[0-9.]"}]}
    either = {"anyOf": [change, value]}
    directions = (*DIRECTIONS, *OF_TREND)
    return {
        "published": {"anyOf": [either, {"type": "array", "items": either, "minItems": 1, "maxItems": 2}]},
        "margin": value,
        "expect": {"enum": [*directions, *(NOT + one for one in directions)]},
        "equivalent": {"type": "string", "pattern": r"^\s*\+?[0-9.]+\s*%\s*$"},
    }


def _with_keys() -> list[str]:
    """Return the recorders that have keys of their own."""
    return [name for name, recorder in RECORDERS.items() if recorder.keys]


def _object(properties: Mapping[str, Schema], required: list[str] | None = None) -> dict[str, Json]:
    whole: dict[str, Json] = {"type": "object", "additionalProperties": False, "properties": dict(properties)}
    return {**whole, "required": required} if required else whole


def _link() -> dict[str, Schema]:
    settings = {name: {**one_or_many(_of_setting(name)), **shown(key)} for name, key in SETTINGS.items()}
    settings["delay"] = {**one_or_many(_with_mapping("delay", {"type": "null"})), "description": "of both directions"}
    return {
        "label": {"type": "string", "description": "its name, where it is a single link"},
        "profile": {**one_or_many({"enum": list(PROFILES)}), "description": "a named link, to be changed by the rest"},
        **settings,
    }


def _of_setting(name: str) -> Schema:
    return _with_mapping(name, dict(SETTINGS[name].setting.schema))


def _with_mapping(name: str, schema: Schema) -> Schema:
    """Return what of a link that moves may be written as a mapping, too."""
    keys = mapping_keys(name)
    value: Schema = {"type": ["string", "number"]}
    return {"anyOf": [schema, _object(dict.fromkeys(keys, value))]} if keys else schema


def _shapes() -> dict[str, dict[str, Schema]]:
    """Return the keys that are not single values."""
    return {
        "experiment": _shapes_of_experiment(),
        **{
            name: {key: dict(shape) for key, shape in recorder.key_shapes.items()}
            for name, recorder in RECORDERS.items()
            if recorder.keys
        },
        "cell": {
            "site": one_or_many(_TEXT),
            "link": one_or_many({"anyOf": [_TEXT, reference("link")]}),
            "arm": one_or_many(_TEXT),
        },
        "compare": {"of": one_or_many(_TEXT), "to": one_or_many(_TEXT)},
        **_shapes_of_figures(),
        "workload": _shapes_of_workload(),
        "users": {"stages": {"type": "array", "minItems": 1, "items": _object(properties(LOAD_STAGE))}},
        "variant": {"defaults": reference("arm"), "arms": _some(reference("arm")), "links": _object(_one_link())},
    }


def _some(values: Schema) -> Schema:
    """Return a mapping with at least one entry, whose names are the user's."""
    return {"type": "object", "minProperties": 1, "additionalProperties": values}


def _shapes_of_experiment() -> dict[str, Schema]:
    compared: Schema = {"type": "array", "items": reference("compare"), "minItems": 1}
    return {
        "sites": one_or_many(_TEXT),
        "links": one_or_many({"anyOf": [{"enum": list(PROFILES)}, reference("link")]}),
        "arms": _some({"anyOf": [reference("arm"), {"type": "null"}]}),
        "defaults": reference("arm"),
        "cells": one_or_many(reference("cell")),
        "pages": {"type": "array", "minItems": 2, "items": {"anyOf": [_TEXT, reference("step")]}},
        "until": reference("until"),
        "compare": {"anyOf": [compared, _some(one_or_many(_TEXT))]},
        "tolerances": reference("tolerances"),
        "workload": {"anyOf": [{"enum": [PAGE_LOAD, LOAD, FETCH]}, reference("workload")]},
        "figures": one_or_many(reference("figure")),
        "claims": _some(reference("claim")),
        "variants": _some(reference("variant")),
        **{name: dict(recorder.shape) for name, recorder in RECORDERS.items() if recorder.shape},
    }


def _shapes_of_figures() -> dict[str, dict[str, Schema]]:
    or_none: Schema = {"enum": ["none", *PLAIN, *DIMENSIONS]}
    return {
        "figure": {
            "x": {"enum": [*PLAIN, *DIMENSIONS, "time"]},
            "series": or_none,
            "facet": or_none,
            "only": _object({name: one_or_many(_VALUE) for name in (*PLAIN, *DIMENSIONS)}),
            "published": reference("published"),
        },
        "published": {
            "axis": {"type": "number", "exclusiveMinimum": 0},
            "points": _some({"type": ["object", "number"]}),
        },
    }


def _shapes_of_workload() -> dict[str, Schema]:
    ramp = one_or_many({"anyOf": [{"type": "integer", "minimum": 1}, reference("users")]})
    return {
        "script": _TEXT,
        "objects": one_or_many(_TEXT),
        "at_once": one_or_many(dict(WORKLOAD["at_once"].setting.schema)),
        "users": ramp,
        "arrivals": ramp,
        "connections": one_or_many(dict(WORKLOAD["connections"].setting.schema)),
        "parameters": {"type": "object", "additionalProperties": _VALUE},
        "thresholds": {"type": "object", "additionalProperties": {"type": "number"}},
    }


def _one_link() -> dict[str, Schema]:
    """Settings that lie over those of all links: each has one value, and there is no label."""
    profile: Schema = {"enum": list(PROFILES)}
    return {"profile": profile, **{name: dict(key.setting.schema) for name, key in SETTINGS.items()}}


def _section(name: str) -> dict[str, Schema]:
    return properties(SECTIONS[name], _shapes().get(name))
