"""The labs of a class: a folder for each student, beside the runs. A student's address is known to nobody else."""

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.run_summary import is_run
from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.base.writing import writing
from lanelab.driver.lab.description import read_lab
from lanelab.driver.lab.folder import LabFolder, begin_lab, folder_name, name_to_compare, open_lab, student_name
from lanelab.driver.lab.sheet import Sheet, stamped
from lanelab.driver.lab.text import read_text
from lanelab.driver.page.language import say, text
from lanelab.driver.page.refusal import nothing_done

FOLDER = "labs"  # among the runs
BEGUN = ".begun"  # where the experiments are that begin
LOCK = ".lock"
REMOVED = ".removed-"  # before the names of folders of students who were taken out of the class
MOST_STUDENTS = 400  # of one lab
TAKEN = text("Somebody of this name has begun this lab.")
ANOTHER = text("Write more of your name. If that was you, the teacher can give you your address again.")
FULL = text("{n} have begun this lab, and there is no room for more.")
ROOM = text("Whoever runs the class can take somebody out.")
SECRET_BYTES = 6
_KEY = re.compile(r"[a-z0-9-]{1,40}\.[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Student:
    """A student of a lab. `key` is in the address."""

    key: str
    folder: LabFolder
    sheet: Sheet | None
    problem: LanelabError | None = None  # why the sheet cannot be read

    @property
    def name(self) -> str:
        return self.folder.enrolment.student

    @property
    def is_ready(self) -> bool:
        """Return whether there are predictions, and no run yet."""
        return self.sheet is not None and not self.folder.has_run()


@dataclass(frozen=True, slots=True)
class Classroom:
    """All labs beside the runs in `runs`."""

    runs: Path

    def of(self, lab: str) -> Path:
        return self.runs / FOLDER / lab

    def enrol(self, lab: str, name: str, language: str) -> str:
        """Make a student's folder. Returns the key. Raises Refusal where nobody may begin under this name."""
        try:
            name = student_name(name, say)
        except InputError as error:
            raise nothing_done(str(error)) from error
        read = read_lab(lab)
        key = f"{folder_name(name)}.{secrets.token_hex(SECRET_BYTES)}"
        with self.fixing(lab):
            self._require_place(lab, name)
            begin_lab(read, read_text(read, language), name, self.of(lab) / key)
        return key

    def _require_place(self, lab: str, name: str) -> None:
        """Refuse a name that somebody has, and who comes when the class is full."""
        meant = name_to_compare(name)
        if any(name_to_compare(one.name) == meant for one in self.students(lab)):
            raise nothing_done(say(TAKEN), say(ANOTHER))
        if len(self.keys(lab)) >= MOST_STUDENTS:
            raise nothing_done(say(FULL, n=MOST_STUDENTS), say(ROOM))

    def remove(self, lab: str, key: str) -> None:
        """Take a student out of the class. The folder stays, under a name that is none of a student."""
        if not _KEY.fullmatch(key) or key not in self.keys(lab):
            raise nothing_done(say("No such student is in this class. Load the page again."))
        path = self.of(lab) / key
        with writing(f"remove {path}"):
            path.rename(path.with_name(f"{REMOVED}{key}"))

    def keys(self, lab: str) -> list[str]:
        try:
            return sorted(path.name for path in self.of(lab).iterdir() if _KEY.fullmatch(path.name))
        except OSError:
            return []

    def student(self, lab: str, key: str) -> Student | None:
        """Return the student with this key, None where there is none. No path is made of what is no key."""
        if not _KEY.fullmatch(key):
            return None
        try:
            folder = open_lab(self.of(lab) / key)
        except LanelabError:
            return None
        try:
            return Student(key, folder, folder.sheet())
        except LanelabError as error:
            return Student(key, folder, None, error)

    def students(self, lab: str) -> list[Student]:
        there = (self.student(lab, key) for key in self.keys(lab))
        return sorted((one for one in there if one), key=lambda one: (one.name.casefold(), one.key))

    def waiting(self, lab: str) -> list[Student]:
        """Return those whose run may begin."""
        return [one for one in self.students(lab) if one.is_ready]

    def experiment_of(self, lab: str, students: list[Student]) -> Path:
        """Write the experiment of a run that judges all of these, in a folder of its own: another one may begin."""
        sheets = [one.sheet for one in students if one.sheet]
        if not sheets:
            raise InputError("nobody has predicted", "Predict first")
        seed = sheets[0].seed  # of one student it is the student's own, of a class that of the first one
        path = self.of(lab) / BEGUN / secrets.token_hex(SECRET_BYTES) / f"{lab}.yaml"
        write_whole(path, stamped(read_lab(lab).experiment.text, seed, sheets).encode())
        return path

    def forget(self, experiment: Path) -> None:
        """Remove an experiment that has begun: its run has it."""
        shutil.rmtree(experiment.parent, ignore_errors=True)

    @contextmanager
    def fixing(self, lab: str) -> Iterator[None]:
        """Keep the class of a lab for oneself, whoever serves these folders: nobody takes a name that another one is
        about to have, and no prediction is fixed anew while a run begins that is to judge it."""
        folder = self.of(lab)
        with writing(f"keep the class in {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def lead(self, students: list[Student], run: Path) -> None:
        """Lead the folders of these to their run."""
        for one in students:
            link, part = one.folder.run, one.folder.path / f".{secrets.token_hex(SECRET_BYTES)}.part"
            with writing(f"lead {link} to the run"):
                part.symlink_to(Path("../../..") / run.name)
                part.replace(link)


def run_name(student: Student) -> str:
    """Return the name of a student's run among the runs; nothing where there is none."""
    run = student.folder.run
    return run.resolve().name if run.is_symlink() and is_run(run) else ""
