"""Pages of labs: all of them, one with its class, and a student's: text, predictions, run, and afterwards verdicts, own
numbers, questions and answers."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from lanelab.analysis.results import tables
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.named_cells import cells_named
from lanelab.driver.api.labs import LabLine
from lanelab.driver.base.errors import InputError
from lanelab.driver.lab import parts
from lanelab.driver.lab.answers import DIRECTIONS, LONGEST
from lanelab.driver.lab.description import DIRECTION, Lab, Question
from lanelab.driver.lab.folder import LONGEST_NAME
from lanelab.driver.lab.judging import CheckedLab
from lanelab.driver.lab.markdown import rendered, rendered_line
from lanelab.driver.lab.strip import DIRECTION_WORDS
from lanelab.driver.lab.text import ENGLISH, PREDICT, LabText
from lanelab.driver.page.choices import accept_field
from lanelab.driver.page.class_view import class_section
from lanelab.driver.page.classroom import Student
from lanelab.driver.page.documents import document
from lanelab.driver.page.errors import TELL_TEACHER, error_words
from lanelab.driver.page.language import date, in_english, many, say, text, whole
from lanelab.driver.page.run_view import progress

LATER = text("What comes out, the questions and the answers open here when the run has ended.")
# What modules of labs say, of which files may be in English.
SAID_ELSEWHERE = (
    text("prediction"), text("yours"), text("measured"), text("95% interval"), text("verdict"), text("because"),
    text("Your numbers"), text("you said {answer}"),
    text("lower (shorter, fewer)"), text("higher (longer, more)"), text("the same"),
    text("reproduced"), text("direction only"), text("not reproduced"), text("inconclusive"), text("not tested"),
)  # fmt: skip
UP = "../../../"  # from a student's page to the first one


@dataclass(frozen=True, slots=True)
class RunState:
    """A student's run. `place`: in the queue, 0 where it is in none. `name`: of the run among the runs, "" before it
    began. `problem`: that it did not begin, or cannot be judged."""

    place: int = 0
    name: str = ""
    run: Run | None = None
    problem: Html | None = None
    awaits: Html | None = None  # what the first in the queue waits for

    @property
    def goes_on(self) -> bool:
        return self.run is not None and self.run.state == "running"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What was typed into the form and is no prediction yet: the texts, and what is wrong with which."""

    texts: Mapping[str, str]
    errors: Mapping[str, str]

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was typed."""
        return not any(typed.strip() for typed in self.texts.values())


def labs_page(lines: Sequence[LabLine]) -> str:
    """Return the list of labs."""
    head = el(
        "header", el("h1", say("Labs")), el("p", say("You predict, a run shows, and you find out why."), class_="lead")
    )
    entries = [
        el(
            "li",
            el("a", line.title, href=f"{line.name}/"),
            el("span", " ", many(line.asks, "one prediction", "{n} predictions"), class_="note"),
        )
        for line in lines
    ]
    return document(say("Labs"), head, el("ul", entries, class_="labs"), up=1)


def lab_page(content: LabText, of_class: tuple[Sequence[Student], RunState] | None) -> str:
    """Return the page of a lab: its text, where one begins, and for who may run its class with the run of all."""
    crumbs = el("p", el("a", say("Labs"), href="../"), class_="eyebrow")
    begin = el(
        "form",
        el(
            "p",
            el(
                "label",
                say("Your name, as the class knows it"),
                el("input", name="name", required=True, maxlength=LONGEST_NAME, autocomplete="name"),
            ),
        ),
        el("p", el("button", say("Begin this lab"), type="submit")),
        method="post",
        action="enrol",
        class_="begin",
    )
    main = [
        parts.title_and_lead(content, crumbs),
        *_text(content, parts.sections(content.background, "../")),
        el(
            "section",
            el("h2", say("Begin")),
            el("p", say("You get an address of your own. Keep it: your predictions are there.")),
            begin,
            el(
                "p",
                say("Your teacher sees this page with everybody's address, and can give you yours again."),
                class_="note",
            ),
            id="begin",
        ),
        _class(*of_class) if of_class else None,
    ]
    return document(content.title, *main, up=2, changes="changes" if of_class else "")


def _class(students: Sequence[Student], state: RunState) -> Html:
    return class_section(students, _run_words(state, "../../"), is_waiting=bool(state.place))


def student_page(
    lab: Lab,
    content: LabText,
    student: Student,
    state: RunState,
    *,
    may_run: bool,
    attempt: Attempt | None = None,
    checked: CheckedLab | None = None,
) -> str:
    """Return a student's page. `checked`: once the run has ended, and knows the predictions."""
    crumbs = el("p", el("a", say("Labs"), href="../../"), " ", el("a", lab.name, href="../"), class_="eyebrow")
    who = el("p", say("{name}. This address is yours: come back to it.", name=student.name), class_="date")
    main: list[Html | None] = [
        el("div", parts.title_and_lead(content, crumbs), who, id="head"),
        *_text(content, parts.sections(content.background, "../../")),
        _predictions(lab, content, student, state, attempt, may_run=may_run),
        _run(content, student, state, may_run=may_run),
    ]
    if checked and not state.goes_on:
        main += _afterwards(lab, content, state, checked)
    else:
        main.append(el("section", el("p", say(LATER), class_="note"), id="verdicts"))
    return document(f"{content.title} - {student.name}", *main, up=3, changes="" if attempt else "changes")


def _text(content: LabText, sections: Sequence[Html]) -> list[Html | None]:
    """Mark a text that is in English alone."""
    return [in_english(each) if content.language == ENGLISH else each for each in sections]


# --- predictions


def _predictions(
    lab: Lab, content: LabText, student: Student, state: RunState, attempt: Attempt | None, *, may_run: bool
) -> Html:
    title = el("h2", rendered_line(content.sections[PREDICT].title))
    above = rendered(content.asked_before)
    sheet = student.sheet
    if student.problem:
        problem = el("p", error_words(student.problem, may_run=may_run, tell=TELL_TEACHER), class_="bad")
        return el("section", title, problem, id="predictions")
    if state.name or state.place or (sheet and not attempt):
        fixed = _fixed(content, student) if sheet else el("p", say("The run began without predictions."), class_="bad")
        again = None if state.name or state.place or not sheet else _change(lab, content, sheet.answers)
        return el("section", title, above, fixed, again, id="predictions")
    return el("section", title, above, _form(lab, content, attempt or Attempt({}, {})), id="predictions")


def _fixed(content: LabText, student: Student) -> Html:
    sheet = student.sheet
    if sheet is None:
        raise TypeError("there is no sheet")
    rows = [
        el("li", el("code", name), ": ", rendered_line(sentence), " ", el("b", sheet.answers.get(name, say("nothing"))))
        for name, sentence in content.sentences.items()
    ]
    note = say("Fixed: {moment}. sha256 {digest}", moment=date(sheet.fixed_utc), digest=sheet.digest)
    return join(el("ul", rows, class_="fixed"), el("p", note, class_="note digest"))


def _change(lab: Lab, content: LabText, answers: Mapping[str, str]) -> Html:
    inside = _form(lab, content, Attempt(answers, {}))
    return el("details", el("summary", say("Change them, until the run begins")), inside)


def _form(lab: Lab, content: LabText, attempt: Attempt) -> Html:
    fields = [_field(question, content.sentences[question.name], attempt) for question in lab.questions]
    summary = None
    if attempt.errors:
        wrong = f"{many(len(attempt.errors), 'One answer cannot be read.', '{n} answers cannot be read.')} "
        summary = el("p", "" if attempt.is_empty else wrong, say("Nothing is fixed yet."), role="alert", class_="bad")
    return el(
        "form",
        summary,
        fields,
        el("p", el("button", say("Fix my predictions"), type="submit")),
        el("p", say("They are kept with their time and a digest. What you leave empty is not judged."), class_="note"),
        method="post",
        action="predict",
        class_="predictions",
    )


def _field(question: Question, sentence: str, attempt: Attempt) -> Html:
    name, typed, error = question.name, attempt.texts.get(question.name, ""), attempt.errors.get(question.name)
    ids = f"p-{name}"
    described = f"{ids}-error" if error else None
    if question.answer == DIRECTION:
        options = [el("option", say(DIRECTION_WORDS[one]), value=one, selected=one == typed) for one in DIRECTIONS]
        field = el(
            "select", el("option", "", value=""), options, name=name, id=ids, aria_describedby=described,
            aria_invalid="true" if error else None,
        )  # fmt: skip
    else:
        field = el(
            "input", name=name, id=ids, value=typed, maxlength=LONGEST, inputmode="text", autocomplete="off",
            aria_describedby=described, aria_invalid="true" if error else None, size=12,
        )  # fmt: skip
    unit = el("span", question.unit, class_="unit") if question.unit else None
    label = el(
        "label",
        rendered_line(sentence),
        " ",
        el("span", f"({question.unit})", class_="visually-hidden") if unit else None,
        for_=ids,
    )
    words = el("p", error, id=described, class_="bad") if error else None
    return el("div", label, el("span", field, " ", unit, class_="answer"), words, class_="field")


# --- the run


def _run(content: LabText, student: Student, state: RunState, *, may_run: bool) -> Html:
    begin = None
    if student.sheet and not state.name and not state.place:
        begin = (
            el(
                "form",
                el("p", say("Your run is made with your predictions and your own seed.")),
                accept_field(),
                el("button", say("Begin my run"), type="submit"),
                method="post",
                action="begin",
            )
            if may_run
            else el("p", say("Wait for the teacher, who begins the run. This page follows by itself."), role="status")
        )
    first = None if student.sheet else el("p", say("Fix your predictions first."), class_="note")
    commands = el("details", el("summary", say("On a command line")), rendered(content.run.markdown, links="../../"))
    return el(
        "section", el("h2", rendered_line(content.run.title)), first, begin, _run_words(state, UP), commands, id="run"
    )


def _run_words(state: RunState, root: str) -> Html | None:
    """Say where a run is: in the queue, under way, over."""
    if state.problem:
        return el("p", state.problem, class_="bad", role="alert")
    if state.place:
        ahead = state.place - 1
        first = say("It begins as soon as nothing else is measured here.")
        words = many(ahead, "One run is before it.", "{n} runs are before it.") if ahead else join(first, state.awaits)
        return el("p", say("Place {place} in the queue.", place=whole(state.place)), " ", words, role="status")
    run = state.run
    if run is None:
        return None
    link = el("a", say("Look at the run"), href=f"{root}runs/{quote(state.name)}/")
    if state.goes_on:
        return join(progress(run) or el("p", say("The run begins: the link is tested."), role="status"), el("p", link))
    counts = say(
        "The run has ended: {ok} trials count, {failed} failed.", ok=whole(len(run.ok)), failed=whole(len(run.failed))
    )
    report = el("a", say("The report"), href=f"{root}runs/{quote(state.name)}/report/")
    return el("p", counts, " ", link, " · ", report, role="status")


# --- afterwards


def _afterwards(lab: Lab, content: LabText, state: RunState, checked: CheckedLab) -> list[Html | None]:
    outcomes = parts.by_name(checked.outcomes)
    doubts = [el("li", doubt) for doubt in checked.doubts]

    def behind(commands: list[str]) -> Html | None:
        return _buttons(commands, checked.run, f"{UP}runs/{quote(state.name)}/")

    take = el(
        "p",
        el(
            "a",
            say("Take it home: one file with all of this"),
            href="take-home",
            download=f"{lab.name}.html",
            class_="button",
        ),
    )
    return [
        el(
            "section",
            el("h2", say("What you said, and what came out")),
            in_english(el("ul", doubts, class_="warnings")) if doubts else None,
            parts.verdict_table(content, checked.outcomes, say),
            el("p", say("The verdicts are those of claims."), class_="note"),
            take,
            id="verdicts",
        ),
        *_text(content, parts.sections(content.seen, "../../", behind)),
        parts.questions_with_numbers(lab, content, outcomes, "../../", say),
        *_text(content, [*parts.sections(content.further, "../../"), parts.answers(content, "../../")]),
    ]


def _buttons(commands: Sequence[str], run: Run, address: str) -> Html | None:
    """Return links to the pages that show what these commands print."""
    links: dict[str, str] = {}
    for command in commands:
        words = shlex.split(command, comments=True)[1:]
        if words[:1] == ["report"]:
            links[f"{address}report/"] = say("The report")
        elif words[:1] in (["show"], ["claims"], ["explain"]):
            links[address] = say("The run")
        elif words[:1] == ["packets"] and "--cell" in words[:-1]:
            name = words[words.index("--cell") + 1]
            if number := _median_trial(run, name):
                links[f"{address}trials/{number}/"] = say("The load: {cell}", cell=name)
    if not links:
        return None
    return el("p", [el("a", words, href=href, class_="button") for href, words in links.items()], class_="buttons")


def _median_trial(run: Run, name: str) -> int | None:
    try:
        cells = cells_named(run, name, "cell")
    except InputError:
        return None
    trials = run.by_cell()
    trial = next((median for cell in cells if (median := tables.median_trial(trials[cell.number]))), None)
    return trial.number if trial else None
