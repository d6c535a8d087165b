"""The experiments that lanelab brings, by name: `quickstart`, `labs/1-slow-start`. A file of the user's goes first."""

import difflib
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PROJECT

EXPERIMENTS = PROJECT / "experiments"
STUDY_FILE = "study.yaml"  # makes a folder of experiments a study
EXPERIMENT_SCHEMA, STUDY_SCHEMA = EXPERIMENTS / "experiment.schema.json", EXPERIMENTS / "study.schema.json"
SUFFIX = ".yaml"
FILE_SUFFIXES = (SUFFIX, ".yml")  # what ends so is a file, and no name


def shipped_names() -> list[str]:
    files = (file.relative_to(EXPERIMENTS) for file in EXPERIMENTS.rglob(f"*{SUFFIX}") if file.name != STUDY_FILE)
    return sorted(file.with_suffix("").as_posix() for file in files)


def studies() -> list[str]:
    """Return the names of those in experiments/."""
    return sorted(path.parent.name for path in EXPERIMENTS.glob(f"*/{STUDY_FILE}"))


def experiment_file(named: Path) -> Path:
    """Return the file that is meant: the one at that place, else one of lanelab's own by its name, which has no
    suffix. Raises InputError."""
    if named.exists() or named.is_absolute():
        return named
    names = shipped_names()
    if named.as_posix() in names:
        return EXPERIMENTS / f"{named.as_posix()}{SUFFIX}"
    if named.suffix in FILE_SUFFIXES:
        name = named.with_suffix("").as_posix().removeprefix(f"{EXPERIMENTS.name}/")
        what = "there is no such file"
    else:
        name = named.as_posix().removeprefix(f"{EXPERIMENTS.name}/")
        what = "there is no such file, and no experiment of lanelab's own has this name"
    near = difflib.get_close_matches(name, names, n=1)
    remedy = f"Did you mean lanelab's own, {near[0]}? " if near else ""
    first = ", ".join(each for each in names if "/" not in each)
    raise InputError(what, f"{remedy}Write one: lanelab new FILE. lanelab's own are {first}", key=str(named))
