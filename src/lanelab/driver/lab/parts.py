"""What pages of labs are made of: the text, a student's numbers in it, verdicts, answers."""

from collections.abc import Mapping, Sequence

from lanelab.analysis.results.claims.words import MOODS
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.page import scroll
from lanelab.driver.lab.description import Lab
from lanelab.driver.lab.judging import Outcome
from lanelab.driver.lab.markdown import Behind, rendered, rendered_line
from lanelab.driver.lab.text import LabText, Part, Say, in_english, items

Outcomes = Mapping[str, Outcome]


def by_name(outcomes: Sequence[Outcome]) -> Outcomes:
    return {one.question.name: one for one in outcomes}


def sections(parts: Sequence[Part], links: str = "", behind: Behind | None = None) -> list[Html]:
    """Return sections of the text."""
    return [
        el(
            "section",
            el("h2", rendered_line(part.title)),
            rendered(part.markdown, links=links, behind=behind),
            id=f"line-{part.line}",
        )
        for part in parts
    ]


def verdict_table(text: LabText, outcomes: Sequence[Outcome], say: Say = in_english) -> Html:
    """Return each prediction with what the run measured and says of it."""
    titles = [say(title) for title in ("prediction", "yours", "measured", "95% interval", "verdict", "because")]
    head = el("thead", el("tr", [el("th", title, scope="col") for title in titles]))
    rows = []
    for one in outcomes:
        answer = one.answer.words if one.answer else "-"
        cells = (
            el(
                "td",
                el("code", one.question.name),
                ": ",
                rendered_line(text.sentences[one.question.name]),
                data_title=titles[0],
            ),
            el("td", el("b", answer), data_title=titles[1], class_="number"),
            el("td", one.measured or "-", data_title=titles[2], class_="number"),
            el("td", one.interval or "-", data_title=titles[3], class_="number"),
            el("td", el("b", say(str(one.verdict))), data_title=titles[4], class_=MOODS[one.verdict]),
            el("td", one.words, data_title=titles[5], lang="en"),  # as claims are explained
        )
        rows.append(el("tr", cells))
    return scroll(el("table", head, el("tbody", rows), class_="predictions"))


def questions_with_numbers(lab: Lab, text: LabText, outcomes: Outcomes, links: str = "", say: Say = in_english) -> Html:
    """Return the questions, at each the student's own numbers that it is about."""
    entries = []
    for number, markdown in enumerate(items(text.questions.markdown), 1):
        numbers = [outcomes[name] for name in lab.numbers.get(number, ())]
        entries.append(el("li", rendered(markdown, links=links), _own_numbers(numbers, say)))
    return el("section", el("h2", rendered_line(text.questions.title)), el("ol", entries), id="questions")


def _own_numbers(numbers: Sequence[Outcome], say: Say) -> Html | None:
    known = [one for one in numbers if one.measured]
    if not known:
        return None
    rows = [
        el(
            "li",
            el("code", one.question.name),
            f": {one.measured}",
            f" ({one.interval})" if one.interval else "",
            _answer_words(one, say),
        )
        for one in known
    ]
    return el("div", el("p", el("b", say("Your numbers"))), el("ul", rows), class_="own")


def _answer_words(one: Outcome, say: Say) -> str:
    return f"; {say('you said {answer}', answer=one.answer.words)}" if one.answer else ""


def answers(text: LabText, links: str = "") -> Html:
    """Return the answers, folded."""
    folds = [
        el("details", el("summary", rendered_line(part.title)), rendered(part.markdown, links=links))
        for part in text.answers
    ]
    return el("section", el("h2", rendered_line(text.sections[-1].title)), folds, id="answers")


def title_and_lead(text: LabText, *more: object) -> Html:
    """Return the head of a page of this lab."""
    return el("header", join(*more), el("h1", rendered_line(text.title)), rendered(text.lead))
