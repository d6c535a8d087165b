"""What an editor marks in an experiment file, by the schema that is shipped."""

import json

import jsonschema  # type: ignore[import-untyped]

from lanelab.driver.experiment.shipped import EXPERIMENT_SCHEMA
from tools.editor_values import as_editors_read

VALIDATOR = jsonschema.Draft7Validator(json.loads(EXPERIMENT_SCHEMA.read_text()))


def complaints(text: str) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(as_editors_read(text))]
