"""Where a student's lab is: who does it with which seed, the sheet to fill in, the experiment, and once it began the
run."""

import json
import re
import secrets
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.report.atomic_files import write_together
from lanelab.analysis.results.run_summary import is_run
from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError, RecordError, StoreError
from lanelab.driver.base.settings.kinds import LARGEST_SEED
from lanelab.driver.base.settings.source import Written, read_yaml
from lanelab.driver.lab.answers import read_answer
from lanelab.driver.lab.description import Lab, read_lab
from lanelab.driver.lab.sheet import FORMAT, SHEET, Sheet, digest_of, read_sheet, stamped, text_of
from lanelab.driver.lab.text import LabText, Say, in_english

ENROLMENT, TO_FILL_IN, RUN = "lab.json", "predictions.yaml", "run"
LONGEST_NAME = 60
EXAMPLE = "It has a line for each prediction: NAME: ANSWER"


@dataclass(frozen=True, slots=True)
class Enrolment(Coded):
    """A student who does a lab. `described`: the folder of its description, where that is a teacher's own."""

    lab: str
    described: str
    student: str
    seed: int
    begun_utc: str


@dataclass(frozen=True, slots=True)
class LabFolder:
    """A folder with an enrolment."""

    path: Path
    enrolment: Enrolment

    @property
    def experiment(self) -> Path:
        return self.path / f"{self.enrolment.lab}.yaml"

    @property
    def run(self) -> Path:
        """Return where its run is, or will be."""
        return self.path / RUN

    def has_run(self) -> bool:
        return is_run(self.run)

    def lab(self) -> Lab:
        described = self.enrolment.described
        return read_lab(self.enrolment.lab, Path(described)) if described else read_lab(self.enrolment.lab)

    def sheet(self) -> Sheet | None:
        return read_sheet(self.path)


def student_name(text: str, say: Say = in_english) -> str:
    """Return a name as it is kept: one line, not too long, whatever is in it otherwise."""
    name = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    if not name or len(name) > LONGEST_NAME:
        long = say("the name is longer than {most} characters", most=LONGEST_NAME)
        raise InputError(long if name else say("there is no name"), say("Write one that the class knows"))
    return name


def name_to_compare(student: str) -> str:
    """Return what is the same of names that one may take for one another."""
    return unicodedata.normalize("NFKC", student).casefold()


def folder_name(student: str) -> str:
    """Return a name for a folder that says whose it is; letters of other scripts have none."""
    plain = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40] or "student"


def begin_lab(lab: Lab, text: LabText, student: str, path: Path, *, described: Path | None = None) -> LabFolder:
    """Make the folder of a student, with a seed of its own."""
    student = student_name(student)
    if path.exists() and any(path.iterdir()):
        raise InputError(f"{path} is there already", "Go on in it, or name another one: --out DIR")
    seed = secrets.randbelow(LARGEST_SEED + 1)
    enrolment = Enrolment(lab.name, str(described.resolve()) if described else "", student, seed, utc_now())
    folder = LabFolder(path, enrolment)
    texts = {
        folder.experiment: stamped(lab.experiment.text, seed, []),
        path / TO_FILL_IN: _to_fill_in(lab, text),
        path / ENROLMENT: json.dumps(enrolment.to_json(), indent=2, ensure_ascii=False) + "\n",  # last: now it is one
    }
    write_together({file: words.encode() for file, words in texts.items()})
    return folder


def open_lab(path: Path) -> LabFolder:
    """Return the lab in this folder. InputError where there is none."""
    try:
        data = json.loads((path / ENROLMENT).read_text(encoding="utf-8"))
        return LabFolder(path, Enrolment.from_json(data, str(path / ENROLMENT)))
    except FileNotFoundError as error:
        raise InputError(f"{path} has no lab", "Begin one: lanelab lab start NAME") from error
    except (OSError, ValueError, RecursionError, RecordError) as error:
        raise StoreError(f"{path / ENROLMENT} cannot be read: {error}", "Begin the lab again") from error


def predictions_in(folder: LabFolder) -> dict[str, str]:
    """Return what was filled in."""
    path = folder.path / TO_FILL_IN
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", EXAMPLE, key=str(path)) from error
    lab = folder.lab()
    entries: dict[str, Written] = read_yaml(text, str(path), EXAMPLE).entries()
    for name, entry in entries.items():
        with entry.placed({}):
            lab.question(name)
    return {name: entry.text() for name, entry in entries.items() if not entry.absent}


def fix(folder: LabFolder, answers: Mapping[str, str]) -> Sheet:
    """Fix the predictions: from now on the experiment knows them, and so will the run. InputError where one cannot be
    read, where there is none, and where the run has begun."""
    if folder.has_run():
        remedy = "What is predicted afterwards does not count. Begin the lab again: lanelab lab start"
        raise InputError(f"the run in {folder.run} has begun", remedy)
    lab, enrolment = folder.lab(), folder.enrolment
    given = {name: read_answer(lab.question(name), text).words for name, text in answers.items() if text.strip()}
    if not given:
        raise InputError("nothing is predicted", f"Fill in {folder.path / TO_FILL_IN}, or write NAME=ANSWER")
    sheet = Sheet(FORMAT, lab.name, digest_of(lab.text), enrolment.student, enrolment.seed, given, utc_now())
    experiment = stamped(lab.experiment.text, enrolment.seed, [sheet])
    write_together({folder.path / SHEET: text_of(sheet).encode(), folder.experiment: experiment.encode()})
    return sheet


def _to_fill_in(lab: Lab, text: LabText) -> str:
    lines = ["# Your predictions. What you leave empty is not judged. Then: lanelab lab predict", ""]
    for question in lab.questions:
        unit = f" ({question.unit})" if question.unit else ""
        hint = " (lower, higher or same)" if question.answer == "direction" else unit
        lines += [f"# {text.sentences[question.name]}{hint}", f"{question.name}:", ""]
    return "\n".join(lines)
