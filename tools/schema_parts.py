"""JSON schemas that people read as differences: what occurs often has a name, and a key takes one line.

A setting that several keys share is described once, in the schema's `definitions`. The rest refers to it, so that a new
setting, profile or metric adds one line to the file.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from lanelab.driver.base.coded import Json, JsonObject
from lanelab.driver.base.settings.setting import Key, Setting, Table
from tools.editor_values import as_editors_read

Schema = JsonObject
_SHOWN = ("description", "default", "examples")
_LONGEST_LINE = 120  # beyond it only what has nothing to unfold


def reference(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


def one_or_many(one: Schema) -> Schema:
    return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}


def properties(table: Table, shapes: Mapping[str, Schema] | None = None) -> dict[str, Schema]:
    """Return the schema of each key; `shapes` has those of settings that are not one value of their kind."""
    return {name: {**((shapes or {}).get(name) or key.setting.schema), **shown(key)} for name, key in table.items()}


def object_of(table: Table, shapes: Mapping[str, Schema] | None = None) -> dict[str, Json]:
    """Return the schema of what has these keys, and no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties(table, shapes),
        "required": [setting.name for setting in table.settings if setting.required],
    }


def shown(key: Key) -> Schema:
    """Return what editors show of a key beside its values. A default that depends on other keys is in words alone."""
    setting = key.setting
    default: Schema = {}
    if setting.default and isinstance(setting.default, str):
        default = {"default": as_editors_read(setting.default)}
    return {"description": key.description, **default, **_examples(setting)}


def _examples(setting: Setting) -> Schema:
    """Return the example, unless it is one in words or has parts that are left out."""
    pattern = str(setting.schema.get("pattern", ""))
    if "…" in setting.example or not re.search(pattern, setting.example):
        return {}
    return {"examples": [as_editors_read(setting.example)]}


def with_definitions(schema: Schema, kinds: Mapping[str, Schema]) -> Schema:
    """The same schema, with `kinds` among its definitions, and a reference wherever it has one of them in full."""
    names = {_canonical(kind): name for name, kind in kinds.items()}

    def short(part: object, unless: str = "") -> Any:  # noqa: ANN401 - any part of a JSON document
        if isinstance(part, list):
            return [short(one) for one in part]
        if not isinstance(part, Mapping):
            return part
        name = names.get(_canonical(part))
        if name and name != unless:
            return {**reference(name), **{key: part[key] for key in _SHOWN if key in part}}
        return {key: short(value) for key, value in part.items()}

    definitions = {name: short(kind, unless=name) for name, kind in kinds.items()}
    whole: Any = short(schema)
    return {**whole, "definitions": {**definitions, **whole["definitions"]}}


def _canonical(part: Mapping[str, object]) -> str:
    """Return what says whether two parts accept the same, which has nothing to do with what editors show."""
    accepting = {key: value for key, value in part.items() if key not in _SHOWN or isinstance(value, Mapping)}
    return json.dumps(accepting, sort_keys=True)


def schema_text(schema: Schema) -> str:
    return _laid_out(schema, "") + "\n"


def _laid_out(part: object, indent: str) -> str:
    """JSON with a line for each key, where the line is not too long or the key has nothing to unfold."""
    line = json.dumps(part, ensure_ascii=False)
    if not isinstance(part, dict | list) or not part:
        return line
    flat = isinstance(part, dict) and not any(
        isinstance(value, dict | list) and name not in _SHOWN for name, value in part.items()
    )
    if flat or len(indent) + len(line) <= _LONGEST_LINE:
        return line
    deeper = indent + "  "
    if isinstance(part, dict):
        rows = [f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(value, deeper)}" for key, value in part.items()]
    else:
        rows = [_laid_out(one, deeper) for one in part]
    opening, closing = "{}" if isinstance(part, dict) else "[]"
    body = ",\n".join(f"{deeper}{row}" for row in rows)
    return f"{opening}\n{body}\n{indent}{closing}"
