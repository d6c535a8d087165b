"""Labs for programs and the command line: begin one, fix what was predicted, judge it, collect a class."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.claims.words import MOODS
from lanelab.analysis.results.layout.model import Column, Part, Section, Words, table, words
from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.runs import find_run
from lanelab.driver.api.result import Result
from lanelab.driver.lab.class_sheet import ClassSheet, collect, csv_of, page_of
from lanelab.driver.lab.description import Lab, find_lab, lab_names, read_lab
from lanelab.driver.lab.folder import LabFolder, begin_lab, fix, folder_name, open_lab, predictions_in
from lanelab.driver.lab.judging import CheckedLab, Outcome, check_lab
from lanelab.driver.lab.sheet import Sheet
from lanelab.driver.lab.take_home import take_home
from lanelab.driver.lab.text import ENGLISH, Say, in_english, read_text

TAKEN_HOME, CSV, PAGE = "lab.html", "class.csv", "class.html"


@dataclass(frozen=True, slots=True)
class LabLine:
    """A lab in a list."""

    name: str
    title: str
    asks: int


def labs() -> list[LabLine]:
    """Return the labs that there are."""
    lines = []
    for name in lab_names():
        lab = read_lab(name)
        lines.append(LabLine(name, read_text(lab).title, len(lab.questions)))
    return lines


def start_lab(named: str, student: str, out: Path | None = None, language: str = ENGLISH) -> LabFolder:
    """Make the folder of a student. named: a lab's name or number, or the file of a description of one's own, with its
    text beside it. out: the folder, new or empty; without it lab-NAME-STUDENT."""
    path = Path(named)
    described = path.parent if path.suffix == ".yaml" and path.is_file() else None
    lab = read_lab(path.stem, described) if described else read_lab(find_lab(named))
    return begin_lab(
        lab,
        read_text(lab, language),
        student,
        out or Path(f"lab-{lab.name}-{folder_name(student)}"),
        described=described,
    )


def fix_predictions(folder: Path, answers: Mapping[str, str] | None = None) -> tuple[LabFolder, Sheet]:
    """Fix what was filled in, with these answers besides."""
    opened = open_lab(folder)
    filled = predictions_in(opened)
    return opened, fix(opened, {**filled, **(answers or {})})


def judge_lab(
    folder: Path, run: str | None = None, language: str = ENGLISH, say: Say = in_english
) -> tuple[CheckedLab, Path]:
    """Judge what was predicted, and write the page that a student takes home. `say`: its words in that language."""
    checked = check_lab(open_lab(folder), read_run(find_run(run)) if run else None)
    page = folder / TAKEN_HOME
    write_whole(page, take_home(checked, read_text(checked.lab, language), say).encode())
    return checked, page


def lab_result(checked: CheckedLab) -> Result:
    """Return the verdicts, as they are printed."""
    columns = (
        Column[Outcome]("prediction", lambda one: one.question.name),
        Column[Outcome]("yours", lambda one: one.answer.words if one.answer else None),
        Column[Outcome]("measured", lambda one: one.measured or None),
        Column[Outcome]("95% interval", lambda one: one.interval or None),
        Column[Outcome]("verdict", lambda one: Words(str(one.verdict), MOODS[one.verdict])),
        Column[Outcome]("because", lambda one: one.words),
    )
    parts: tuple[Part, ...] = (table(columns, checked.outcomes), *words(checked.doubts, "warn"))
    return Result((Section("predictions", f"{checked.lab.name}, {checked.sheet.student}", parts),))


def collect_labs(
    folders: Iterable[Path], out: Path, language: str = ENGLISH, say: Say = in_english
) -> tuple[ClassSheet, Path, Path]:
    """Judge the labs in these folders, or within them, and write a table and a page."""
    sheet = collect(folders)
    write_whole(out / CSV, csv_of(sheet).encode("utf-8-sig"))
    write_whole(out / PAGE, page_of(sheet, say, language).encode())
    return sheet, out / CSV, out / PAGE


__all__ = ["Lab", "LabFolder", "collect_labs", "fix_predictions", "judge_lab", "lab_result", "labs", "start_lab"]
