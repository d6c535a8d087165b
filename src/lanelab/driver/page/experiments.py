"""The experiments that can be begun from the page: lanelab's own, and files beside the runs and where lanelab serve was
started. A name in a form is looked up among them. No path is made of it."""

import re
from pathlib import Path

import yaml

from lanelab.driver.api.shipped_names import EXPERIMENTS, STUDY_FILE, shipped_names

FOLDER = "experiments"  # beside the runs
_IS_EXPERIMENT = re.compile(r"^sites\s*:", re.MULTILINE)
_DESCRIPTION = re.compile(r"^description:.*(?:\n[ \t]+.*)*", re.MULTILINE)
LARGEST = 1_000_000  # bytes


def experiments(runs: Path, here: Path) -> dict[str, Path]:
    """Return the file of each by its name: the user's own first, then lanelab's."""
    files = {f"{FOLDER}/{file.name}": file for file in _files(runs.absolute().parent / FOLDER)}
    files |= {file.name: file for file in _files(here)}
    return files | {name: EXPERIMENTS / f"{name}.yaml" for name in shipped_names() if not _is_of_study(name)}


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir() or folder.resolve() == EXPERIMENTS.resolve():
        return []
    return sorted(file for file in folder.glob("*.yaml") if file.is_file() and _is_experiment(file))


def description_of(file: Path) -> str:
    """Return what an experiment says of itself, in one line; nothing where it says nothing. Only these lines are read
    as YAML: a list of all experiments is to cost nothing."""
    lines = _DESCRIPTION.search(_text(file))
    try:
        written = yaml.safe_load(lines[0]) if lines else None
    except yaml.YAMLError:  # its plan says what is wrong with it
        return ""
    description = written.get("description") if isinstance(written, dict) else None
    return " ".join(description.split()) if isinstance(description, str) else ""


def _is_experiment(file: Path) -> bool:
    return bool(_IS_EXPERIMENT.search(_text(file)))


def _text(file: Path) -> str:
    """Return how a file begins; nothing where it cannot be read."""
    try:
        with file.open("rb") as text:
            return text.read(LARGEST).decode(errors="replace")
    except OSError:
        return ""


def _is_of_study(name: str) -> bool:
    return (EXPERIMENTS / name).with_name(STUDY_FILE).is_file()
