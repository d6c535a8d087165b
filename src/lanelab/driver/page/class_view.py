"""Pages for a teacher: what a class predicted, and what came out, once everybody has predicted."""

from collections.abc import Sequence

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.driver.lab.class_sheet import ClassSheet, class_parts
from lanelab.driver.lab.markdown import rendered_line
from lanelab.driver.lab.text import LabText
from lanelab.driver.page.choices import accept_field
from lanelab.driver.page.classroom import Student
from lanelab.driver.page.documents import document
from lanelab.driver.page.errors import detail
from lanelab.driver.page.language import in_english, many, say, whole


def class_section(students: Sequence[Student], run_words: Html | None, *, is_waiting: bool) -> Html:
    """Return what a teacher sees on a lab's page: who has predicted, and a button for the run of all. `run_words`: of
    that run; `is_waiting`: it waits already."""
    ready = [one for one in students if one.is_ready]
    titles = [el("th", title, scope="col") for title in (say("student"), say("predictions"), say("Remove"))]
    rows = [_of_student(one) for one in students]
    table = el("table", el("thead", el("tr", titles)), el("tbody", rows))
    button = el(
        "form",
        el(
            "p",
            say(
                "{ready} of {all} are ready: they have predicted, and have no run.",
                ready=whole(len(ready)),
                all=whole(len(students)),
            ),
        ),
        accept_field(),
        el(
            "button",
            say("Begin one run for all who are ready"),
            type="submit",
            disabled=not ready or is_waiting or None,
        ),
        el("p", say("Who predicts later is in the next run."), class_="note"),
        method="post",
        action="begin",
    )
    return el(
        "section",
        el("h2", say("The class")),
        run_words,
        button,
        el("p", say("A name leads to that student's page: send its address to who has lost it."), class_="note"),
        el("form", el("div", table, class_="scroll", tabindex=0), method="post", action="remove")
        if rows
        else el("p", say("Nobody has begun yet.")),
        el("p", el("a", say("What the class predicted, and what came out"), href="class/")),
        id="class",
    )


def _of_student(student: Student) -> Html:
    words = say("Remove {name}", name=student.name)
    button = el("button", say("Remove"), type="submit", name="student", value=student.key, aria_label=words)
    return el(
        "tr",
        el("th", el("a", student.name, href=f"{student.key}/"), scope="row"),
        el("td", _where(student)),
        el("td", button),
    )


def _where(student: Student) -> object:
    if student.problem:
        return detail(student.problem)
    if student.folder.has_run():
        return say("has a run")
    return say("predicted" if student.sheet else "not yet")


def hidden_class_page(content: LabText, lacking: Sequence[str]) -> str:
    """Say who has not predicted yet, in place of what others did."""
    names = el("ul", [el("li", name) for name in lacking])
    hidden = many(len(lacking), "One student has not predicted yet:", "{n} students have not predicted yet:")
    words = el("p", say("Results are hidden."), " ", hidden, role="status")
    show = el("p", el("a", say("Show them all the same"), href="?show"))
    return document(say("The class"), _class_head(content), words, names, show, up=3)


def class_page(content: LabText, sheet: ClassSheet) -> str:
    """Return what everybody predicted, and what came out."""
    lines = [in_english(el("li", f"{each.student}: {each.why}")) for each in sheet.problems]
    lines += [el("li", line) for line in sheet.notes(say)]
    named = el("ul", lines, class_="warnings") if lines else None
    table = el("p", el("a", say("As a table (CSV)"), href="class.csv", class_="button"))
    sections = (
        class_parts(sheet.checked, say, content.language)[1:]
        if sheet.checked
        else [el("p", say("No run has ended yet."))]
    )
    return document(say("The class"), _class_head(content), table, named, *sections, up=3)


def _class_head(content: LabText) -> Html:
    crumbs = el("p", el("a", rendered_line(content.title), href="../"), class_="eyebrow")
    return el("header", crumbs, el("h1", say("The class")))
