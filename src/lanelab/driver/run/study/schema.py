"""The JSON schema of study.yaml, for editors. lanelab itself checks more.

Run as a program, this writes experiments/study.schema.json and the tables of docs/reference/study.md again:

    python -m lanelab.driver.run.study.schema
"""

from collections.abc import Mapping

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.settings.kinds import PROSE
from lanelab.driver.base.settings.schemas import Schema, object_of, reference, with_definitions, with_tables
from lanelab.driver.base.settings.schemas import schema_text as text_of
from lanelab.driver.run.study.keys import CLAIM, DIFFERENCE, FIGURE, SECTIONS, STUDY

SCHEMA_FILE = PROJECT / "experiments" / "study.schema.json"
REFERENCE = PROJECT / "docs" / "reference" / "study.md"


def schema() -> Schema:
    """Draft 7: what editors understand."""
    shapes: Mapping[str, Schema] = {
        "variants": {"type": "object", "minProperties": 1, "additionalProperties": PROSE.schema},
        "figures": _numbered(reference("figure")),
        "claims": _numbered({"anyOf": [PROSE.schema, reference("claim")]}),
        "differences": {"type": "array", "minItems": 1, "items": reference("difference")},
    }
    whole: Schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "lanelab study",
        **object_of(STUDY, shapes),
        "definitions": {"figure": object_of(FIGURE), "claim": object_of(CLAIM), "difference": object_of(DIFFERENCE)},
    }
    return with_definitions(whole, {"text": PROSE.schema})


def _numbered(value: Schema) -> Schema:
    pattern: Schema = {"^[1-9][0-9]{0,3}$": value}
    return {"type": "object", "minProperties": 1, "additionalProperties": False, "patternProperties": pattern}


def schema_text() -> str:
    return text_of(schema())


def reference_tables() -> dict[str, str]:
    """Return every generated table of docs/reference/study.md."""
    return {name: table.markdown() for name, table in SECTIONS.items()}


def _write() -> None:
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
    text = with_tables(REFERENCE.read_text(encoding="utf-8"), reference_tables())
    REFERENCE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _write()
