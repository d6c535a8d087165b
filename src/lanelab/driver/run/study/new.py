"""A skeleton of a study, for somebody's own paper: it can be shown and run as it is, and has a claim of each kind."""

import os
from importlib import resources
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.experiment.keys import read_name
from lanelab.driver.experiment.shipped import EXPERIMENT_SCHEMA, STUDY_FILE, STUDY_SCHEMA

FILES = (STUDY_FILE, "figure-1.yaml", "README.md")


def write_skeleton(folder: Path) -> list[Path]:
    """The files, in a folder that is new or empty; the study is called after it."""
    name = read_name(folder.resolve().name, key="FOLDER")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            what = f"the folder {folder} is not empty, and stays as it is"
            raise InputError(what, "Name another one, or remove it first", key="FOLDER")
        written = []
        for file in FILES:
            path = folder / file
            path.write_text(skeleton(file, name, folder), encoding="utf-8")
            written.append(path)
    except OSError as error:
        what = f"cannot write into {folder}: {error.strerror}"
        raise InputError(what, "Name a folder that can be made and written to", key="FOLDER") from error
    return written


def skeleton(file: str, name: str, folder: Path) -> str:
    """Return one of the files, as it is in a study of that name in that folder."""
    text = (resources.files("lanelab.driver.run.study") / "skeleton" / file).read_text(encoding="utf-8")
    schema = STUDY_SCHEMA if file == STUDY_FILE else EXPERIMENT_SCHEMA
    return text.replace("SCHEMA", _path_to(schema, folder)).replace("FOLDER", str(folder)).replace("NAME", name)


def _path_to(schema: Path, folder: Path) -> str:
    """Return the path as an editor finds it: relative within the project, so that the folder can go with it."""
    within = folder.resolve().is_relative_to(PROJECT)
    return os.path.relpath(schema, folder.resolve()) if within else str(schema)
