"""The commented example of an experiment, to be changed."""

import os
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.shipped import EXPERIMENT_SCHEMA

EXAMPLE = Path(__file__).resolve().parents[1] / "experiment" / "example.yaml"


def example(schema: Path = EXPERIMENT_SCHEMA) -> str:
    """Return its text. The first line is for editors: completion and errors while typing."""
    return f"# yaml-language-server: $schema={schema}\n{EXAMPLE.read_text(encoding='utf-8')}"


def write_example(file: Path) -> None:
    """Write it into a new file. Raises InputError where one is there, or none can be written."""
    folder = file.absolute().parent
    beside = folder.is_relative_to(EXPERIMENT_SCHEMA.parent.parent)
    schema = Path(os.path.relpath(EXPERIMENT_SCHEMA, folder)) if beside else EXPERIMENT_SCHEMA
    try:
        with file.open("x", encoding="utf-8") as written:
            written.write(example(schema))
    except FileExistsError:
        what = f"{file} is there already, and stays as it is"
        raise InputError(what, "Name another file, or remove it first", key="FILE") from None
    except OSError as error:
        what = f"cannot write {file}: {error.strerror}"
        raise InputError(what, "Name a file in a folder that is there and can be written", key="FILE") from error
