"""Pages for a teacher: what a class predicted, and what came out, once everybody has predicted."""

from collections.abc import Sequence

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.driver.lab.class_sheet import ClassSheet, class_parts
from lanelab.driver.lab.markdown import rendered_line
from lanelab.driver.lab.text import LabText
from lanelab.driver.page.documents import document
from lanelab.driver.page.language import many, say


def hidden_class_page(content: LabText, lacking: Sequence[str]) -> str:
    """Say who has not predicted yet, in place of what others did."""
    names = el("ul", [el("li", name) for name in lacking])
    hidden = many(len(lacking), "One student has not predicted yet:", "{n} students have not predicted yet:")
    words = el("p", say("Results are hidden."), " ", hidden, role="status")
    show = el("p", el("a", say("Show them all the same"), href="?show"))
    return document(say("The class"), _class_head(content), words, names, show, up=3)


def class_page(content: LabText, sheet: ClassSheet) -> str:
    """Return what everybody predicted, and what came out."""
    problems = [f"{each.student}: {each.why}" for each in sheet.problems]
    named = [
        el("ul", [el("li", line) for line in lines], class_="warnings") for lines in (problems, sheet.notes) if lines
    ]
    table = el("p", el("a", say("As a table (CSV)"), href="class.csv", class_="button"))
    sections = (
        class_parts(sheet.checked, say, content.language)[1:]
        if sheet.checked
        else [el("p", say("No run has ended yet."))]
    )
    return document(say("The class"), _class_head(content), table, *named, *sections, up=3)


def _class_head(content: LabText) -> Html:
    crumbs = el("p", el("a", rendered_line(content.title), href="../"), class_="eyebrow")
    return el("header", crumbs, el("h1", say("The class")))
