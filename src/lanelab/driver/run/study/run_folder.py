"""The folder of a study's run, as a run writes it: study.json, copies of what the study was, and the figures' runs.

study.json is written when everything else that a run begins with is there, in one step. So a folder that has it is
whole, and one that does not holds nothing but copies.
"""

import contextlib
import datetime
import hashlib
import itertools
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.coded import JsonObject, parsed
from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.base.writing import writing
from lanelab.driver.bed.kept_bed import KeptBed
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.shipped import STUDY_FILE
from lanelab.driver.run.folder.format import RUNS
from lanelab.driver.run.folder.store import LOCK, lock_folder
from lanelab.driver.run.study.decisive import decisive, difference
from lanelab.driver.run.study.figures import Wishes
from lanelab.driver.run.study.read import StudyFolder, parse_figure
from lanelab.driver.run.study.study import STUDY_RUN_FILE, STUDY_RUN_FORMAT, FigureRun, Study, StudyRun

COPIES = "study"  # study/NAME: the study's folder as it was
README = "README.md"
_PART = STUDY_RUN_FILE + ".part"
_BEFORE_IT_BEGAN = {COPIES, _PART, LOCK}


@dataclass(frozen=True, slots=True)
class OpenStudyRun:
    """The run of a study that nobody else writes to."""

    folder: Path
    about: StudyRun
    experiments: Mapping[int, Experiment]  # as they are run

    @property
    def study(self) -> Study:
        return self.about.study

    def figure_folder(self, number: int) -> Path:
        return self.folder / next(each.folder for each in self.about.figures if each.figure == number)


def begin_with(
    read: StudyFolder, variant: str, wishes: Wishes, *, seed: int, bed: JsonObject, lanelab: str
) -> StudyRun:
    """Return what a run begins with. `bed`: how beds are made; `lanelab`: its version."""
    return StudyRun(
        format=STUDY_RUN_FORMAT,
        study=read.study,
        variant=variant,
        created_utc=utc_now(),
        lanelab=lanelab,
        seed=seed,
        trials=wishes.trials,
        beds=wishes.beds,
        scale=wishes.scale,
        bed=parsed(KeptBed, bed, "how beds are made"),
        figures=tuple(
            FigureRun(figure.number, f"figure-{figure.number}", sha256(read.texts[figure.number]))
            for figure in read.study.figures
        ),
    )


def new_folder(name: str, variant: str) -> Path:
    """Make runs/DATE-NAME-VARIANT; numbered where two begin within a second."""
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    words = "-".join(filter(None, [stamp, name, variant]))
    for number in itertools.count(1):
        folder = RUNS / (words if number == 1 else f"{words}-{number}")
        if not folder.exists():
            return folder
    raise AssertionError  # count() has no end


def create(folder: Path, about: StudyRun, copied: StudyFolder) -> None:
    """Make the folder, with study.json last. What a killed attempt left there is taken away first."""
    with writing(f"make the folder {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        names = {path.name for path in folder.iterdir()}
        if STUDY_RUN_FILE in names:
            what = f"there is a study's run in {folder}"
            raise InputError(what, f"Name another folder, or go on: lanelab study run --resume {folder}", key="--out")
        if names - _BEFORE_IT_BEGAN:
            what = f"the folder {folder} is not empty, and no study's run"
            raise InputError(what, "Remove it, or name another one", key="--out")
        with _locked(folder):
            shutil.rmtree(folder / COPIES, ignore_errors=True)
            copies = folder / COPIES / copied.study.name
            copies.mkdir(parents=True)
            for name in (STUDY_FILE, README):
                if (copied.folder / name).is_file():
                    shutil.copyfile(copied.folder / name, copies / name)
            for figure in copied.study.figures:
                (copies / figure.file).write_text(copied.texts[figure.number], encoding="utf-8")
            _write_whole(folder, json.dumps(about.to_json(), indent=1) + "\n")


def _write_whole(folder: Path, text: str) -> None:
    part = folder / _PART
    with part.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(folder / STUDY_RUN_FILE)


@contextlib.contextmanager
def opened(folder: Path, about: StudyRun) -> Iterator[OpenStudyRun]:
    """Open the study's run, kept from others. StoreError where its copies are not those that it began with."""
    with _locked(folder):
        wishes = wishes_of(about)
        numbers = [each.figure for each in about.figures]
        yield OpenStudyRun(folder, about, {each: wishes.of(experiment_of(folder, about, each)) for each in numbers})


def wishes_of(about: StudyRun) -> Wishes:
    """Return the wishes that a run began with."""
    return Wishes(about.trials, about.beds, about.scale)


def begun_with(about: StudyRun, number: int) -> FigureRun:
    """Return what a run noted of a figure when it began."""
    return next(each for each in about.figures if each.figure == number)


def experiment_of(folder: Path, about: StudyRun, number: int) -> Experiment:
    """Return the experiment of a figure as the run's own copy has it. StoreError where that is not what it began with;
    InputError where this lanelab does not read what an earlier one has written."""
    figure = next(each for each in about.study.figures if each.number == number)
    copies = folder / COPIES / about.study.name
    text = _read_back(copies / figure.file)
    if sha256(text) != begun_with(about, number).experiment_sha256:
        what = f"{copies / figure.file} is not the experiment that this run began with"
        raise StoreError(what, "Put it back as it was, or begin a new run")
    return parse_figure(figure, text, copies, about.variant)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with writing(f"open the folder {folder}"):
        lock = lock_folder(folder)
    try:
        yield
    finally:
        os.close(lock)


def _read_back(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = f"the run's own copy of an experiment cannot be read: {path}"
        raise StoreError(what, "Put the file back as it was, or begin a new run") from error


def changes_since(folder: Path, about: StudyRun, now: StudyFolder) -> dict[int, str]:
    """Return for each figure how the run's own copy of its experiment measures or judges otherwise than the study does
    now. Where only words were edited there is nothing. LanelabError where one of both cannot be read."""
    changes = {each.figure: _change(folder, about, each, now) for each in about.figures}
    return {number: words for number, words in changes.items() if words}


def _change(folder: Path, about: StudyRun, begun: FigureRun, now: StudyFolder) -> str:
    if begun.figure not in now.texts:
        return "of a figure that the study has no more"
    if sha256(now.texts[begun.figure]) == begun.experiment_sha256:
        return ""
    wishes = wishes_of(about)
    today = wishes.of(now.experiments(about.variant)[begun.figure])
    return difference(decisive(wishes.of(experiment_of(folder, about, begun.figure))), decisive(today))


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
