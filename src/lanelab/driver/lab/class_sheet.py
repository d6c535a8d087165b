"""The labs of a class side by side: one table for other programs, one page. What cannot be judged is named, and takes
nothing else with it."""

import csv
import io
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.claims.words import MOODS, counts_words
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import scroll
from lanelab.analysis.results.report.page import document
from lanelab.driver.base.errors import LanelabError
from lanelab.driver.lab.folder import ENROLMENT, name_to_compare, open_lab
from lanelab.driver.lab.judging import CheckedLab, Outcome, check_lab
from lanelab.driver.lab.markdown import rendered_line
from lanelab.driver.lab.strip import strip
from lanelab.driver.lab.text import ENGLISH, LabText, Say, in_english, read_text

HEADS = (
    "student", "folder", "lab", "seed", "predicted_utc", "run", "run_began_utc", "prediction", "question", "answer",
    "measured", "interval_95", "verdict", "because", "doubts", "problem",
)  # fmt: skip
OF_LANELAB = " - lanelab"
STYLE = """
.number{white-space:nowrap}
.class td{white-space:normal;vertical-align:top}
"""


@dataclass(frozen=True, slots=True)
class Problem:
    """A folder that cannot be judged."""

    place: str
    student: str
    why: str


@dataclass(frozen=True, slots=True)
class ClassSheet:
    """The labs of a class, by lab and student."""

    checked: tuple[CheckedLab, ...]
    problems: tuple[Problem, ...]

    @property
    def labs(self) -> list[str]:
        return list(dict.fromkeys(one.lab.name for one in self.checked))

    def notes(self, say: Say = in_english) -> Iterator[str]:
        """Name students whom one may take for one another, and sheets that are there twice."""
        for those in _alike(self.checked, lambda one: (one.lab.name, name_to_compare(one.sheet.student))):
            first, where = those[0], _places(those)
            about = {"n": len(those), "lab": first.lab.name, "name": first.sheet.student, "where": where}
            yield say("{n} students of {lab} have the name {name}: {where}", **about)
        for those in _alike(self.checked, lambda one: one.sheet.digest):
            where = _places(those)
            yield say("the same predictions, with the same seed and time, are in {where}: one is a copy", where=where)


def collect(folders: Iterable[Path]) -> ClassSheet:
    """Judge each of these folders; one that has no lab stands for those within it."""
    checked, problems = list[CheckedLab](), list[Problem]()
    for path in _with_those_within(folders):
        student = ""
        try:
            folder = open_lab(path)
            student = folder.enrolment.student
            checked.append(check_lab(folder))
        except (LanelabError, OSError) as error:
            problems.append(Problem(str(path), student, str(error)))
    checked.sort(key=lambda one: (one.lab.name, one.sheet.student.casefold(), str(one.folder.path)))
    return ClassSheet(tuple(checked), tuple(problems))


def _with_those_within(folders: Iterable[Path]) -> list[Path]:
    paths: dict[Path, None] = {}
    for folder in folders:
        within = sorted(path.parent for path in folder.glob(f"[!.]*/{ENROLMENT}")) if folder.is_dir() else []
        paths |= dict.fromkeys([folder] if (folder / ENROLMENT).exists() or not within else within)
    return list(paths)


def _alike(checked: Sequence[CheckedLab], key: Callable[[CheckedLab], Hashable]) -> list[list[CheckedLab]]:
    """Return those that share a key with others."""
    groups: dict[Hashable, list[CheckedLab]] = {}
    for one in checked:
        groups.setdefault(key(one), []).append(one)
    return [those for those in groups.values() if len(those) > 1]


def _places(those: Sequence[CheckedLab]) -> str:
    return ", ".join(str(one.folder.path) for one in those)


def csv_of(sheet: ClassSheet) -> str:
    """Return a line for each prediction of each student, and one for each folder that cannot be judged."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(HEADS)
    for one in sheet.checked:
        text = read_text(one.lab)
        for outcome in one.outcomes:
            writer.writerow(map(_harmless, _line(one, outcome, text)))
    for problem in sheet.problems:
        writer.writerow([_harmless(problem.student), _harmless(problem.place), *[""] * (len(HEADS) - 3), problem.why])
    return out.getvalue()


def _line(one: CheckedLab, outcome: Outcome, text: LabText) -> tuple[str, ...]:
    sheet, run = one.sheet, one.run
    answer, name = outcome.answer, outcome.question.name
    return (
        sheet.student, str(one.folder.path), one.lab.name, str(sheet.seed), sheet.fixed_utc, one.run_id,
        run.created_utc, name, text.sentences[name], answer.words if answer else "", outcome.measured,
        outcome.interval, str(outcome.verdict), outcome.words, "; ".join(one.doubts), "",
    )  # fmt: skip


def _harmless(text: str) -> str:
    """Return text that no spreadsheet takes for a formula; a number with its sign stays one."""
    begins = text[:1]
    is_number = begins in "+-" and text[1:2].isdigit()
    return f"'{text}" if begins and begins in "=+-@\t\r" and not is_number else text


def page_of(sheet: ClassSheet, say: Say = in_english, language: str = ENGLISH) -> str:
    """Return the page for a class, which asks nothing of the network. `say`: its words in that language."""
    title, number = say("The class"), len(sheet.checked)
    lead = say("One student") if number == 1 else say("{n} students", n=number)
    parts = [el("header", el("p", "lanelab", class_="eyebrow"), el("h1", title), el("p", lead, class_="lead"))]
    problems = [f"{each.student or each.place}: {each.why}" for each in sheet.problems]
    parts += _named(say("Not judged"), [], problems)
    parts += _named(say("To be looked at"), [*sheet.notes(say)], _doubts(sheet.checked))
    for lab in sheet.labs:
        parts += class_parts([one for one in sheet.checked if one.lab.name == lab], say, language)
    return document(f"{title}{OF_LANELAB}", el("body", el("main", parts, lang=language)), style=STYLE)


def _named(title: str, lines: Sequence[str], english: Sequence[str]) -> list[Html]:
    """Return lines in the language of the page, and some that are in English alone."""
    listed = [*(el("li", line) for line in lines), *(el("li", line, lang="en") for line in english)]
    return [el("section", el("h2", title), el("ul", listed, class_="warnings"))] if listed else []


def _doubts(checked: Sequence[CheckedLab]) -> list[str]:
    return [f"{one.sheet.student}: {doubt}" for one in checked for doubt in one.doubts]


def class_parts(checked: Sequence[CheckedLab], say: Say = in_english, language: str = ENGLISH) -> list[Html]:
    """Return the sections of one lab: a distribution for each prediction, and everybody's."""
    lab = checked[0].lab
    text = read_text(lab, language)
    sections = []
    for at, question in enumerate(lab.questions):
        outcomes = [one.outcomes[at] for one in checked]
        names = [one.sheet.student for one in checked]
        words = counts_words([one.verdict for one in outcomes if one.answer], say)
        sections.append(
            el(
                "section",
                el("h2", el("code", question.name)),
                el("p", rendered_line(text.sentences[question.name])),
                strip(question, list(zip(names, outcomes, strict=True)), say),
                el("p", words or say("Nobody predicted this."), class_="note"),
                el("details", el("summary", say("Everybody's")), _table(names, outcomes, say)),
            )
        )
    return [el("section", el("h2", rendered_line(text.title))), *sections]


def _table(names: Sequence[str], outcomes: Sequence[Outcome], say: Say) -> Html:
    titles = [say(each) for each in ("student", "prediction", "measured", "95% interval", "verdict", "because")]
    rows = [
        el(
            "tr",
            el("th", name, scope="row"),
            el("td", one.answer.words if one.answer else "-", class_="number"),
            el("td", one.measured or "-", class_="number"),
            el("td", one.interval or "-", class_="number"),
            el("td", say(str(one.verdict)), class_=MOODS[one.verdict]),
            el("td", one.words, lang="en"),
        )
        for name, one in zip(names, outcomes, strict=True)
    ]
    head = el("thead", el("tr", [el("th", title, scope="col") for title in titles]))
    return scroll(el("table", head, el("tbody", rows), class_="class"))
