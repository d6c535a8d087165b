"""Reads the folder of a study's run, also while it goes on. Never writes into it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanelab.analysis.results import conditions
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.base.errors import InputError, RecordError, StoreError
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.study.study import STUDY_RUN_FILE, STUDY_RUN_FORMAT, FigureRun, StudyFigure, StudyRun


@dataclass(frozen=True, slots=True)
class ReadStudyRun:
    """One run of a study, with the runs of its figures."""

    about: StudyRun
    folder: Path
    runs: dict[int, Run | None]  # by the figure's number, in the order of the study; None: it has not begun

    def figure(self, number: int) -> StudyFigure:
        """Return what the study says of a figure."""
        return next(each for each in self.about.study.figures if each.number == number)

    def caveats(self) -> list[str]:
        """What makes numbers and verdicts of a figure mean less, like links that were out of tolerance."""
        begun = ((number, run) for number, run in self.runs.items() if run)
        return [f"Figure {number}: {sentence}" for number, run in begun for sentence in conditions.caveats(run)]


def is_study_run(folder: Path) -> bool:
    return (folder / STUDY_RUN_FILE).is_file()


def read_study_run(folder: Path) -> ReadStudyRun:
    """Return the study's run in this folder. InputError where there is none, StoreError where it cannot be read."""
    about = read_about(folder)
    return ReadStudyRun(about, folder, {each.figure: _run(folder, each) for each in about.figures})


def read_about(folder: Path) -> StudyRun:
    """Return what the run of a study began with."""
    path = folder / STUDY_RUN_FILE
    try:
        text = path.read_text()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _no_study_run(folder) from error
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} cannot be read: {error}", _COPY_AGAIN) from error
    try:
        data: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise StoreError(f"{path}, line {error.lineno}: this is not JSON: {error.msg}", _COPY_AGAIN) from error
    version = data.get("format") if isinstance(data, dict) else None
    if version != STUDY_RUN_FORMAT:
        what = f"{path}: the study's run has format {'none' if version is None else version}"
        raise StoreError(
            f"{what}, and this lanelab reads and writes format {STUDY_RUN_FORMAT}",
            "Use the lanelab that made it, or make the run again",
        )
    try:
        about = StudyRun.from_json(data)
    except RecordError as error:
        raise StoreError(f"{path} is not as its format says: {error.what}", _COPY_AGAIN) from error
    _check_figures(path, about)
    return about


_COPY_AGAIN = "The file may be damaged or cut short: copy the folder again from where it was made"


def _check_figures(path: Path, about: StudyRun) -> None:
    known = {figure.number for figure in about.study.figures}
    for each in about.figures:
        if each.figure not in known:
            raise StoreError(f"{path}: the study has no figure {each.figure}, which the run names", _COPY_AGAIN)
        if Path(each.folder).name != each.folder or each.folder in ("", ".", ".."):
            what = f"{path}: the folder of figure {each.figure} is {each.folder!r}"
            raise StoreError(what, "It has to be a folder within that of the study's run")


def _no_study_run(folder: Path) -> InputError:
    if (folder / run_format.DATABASE).is_file():
        what = f"{folder} is the run of an experiment, and not of a study"
        return InputError(what, "Use lanelab show and lanelab report for it")
    what = f"{folder} is not the folder of a study's run" if folder.is_dir() else f"there is no folder {folder}"
    return InputError(what, f"Name a folder that has {STUDY_RUN_FILE}. lanelab study run NAME makes one")


def _run(folder: Path, figure: FigureRun) -> Run | None:
    place = folder / figure.folder
    return read_run(place) if (place / run_format.DATABASE).is_file() else None
