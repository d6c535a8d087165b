"""What an editor marks in an experiment file, by the schema that is shipped."""

import jsonschema  # type: ignore[import-untyped]

from lanelab.driver.base.settings.editor_values import as_editors_read
from lanelab.driver.experiment.schema import schema

VALIDATOR = jsonschema.Draft7Validator(schema())


def complaints(text: str) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(as_editors_read(text))]
