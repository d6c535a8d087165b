"""What a lab says: NAME.md beside its description, and in another language LANGUAGE/NAME.md.

A text stands by itself, and can be read anywhere. So that a form can be made of it, its sections have an order: the
background, the predictions, the run, whatever is to be seen, and at the end the questions, what goes further and the
answers. Each prediction is an item that begins with its name: - `load`: How long …
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.lab.description import Lab

ENGLISH = "en"
PREDICT, RUN, QUESTIONS, ANSWERS = 1, 2, -3, -1  # places of sections
_LEAST = 6
_TITLE = re.compile(r"# (.+)")
_SECTION = re.compile(r"## (.+)")
_FENCE = "```"
_ITEM = re.compile(r"- `([^`]+)`: (.+)")
_NUMBERED = re.compile(r"([0-9]+)\. ")
_FOLD = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.DOTALL)


class Say(Protocol):
    """Says a text in the language of a page."""

    def __call__(self, words: str, **values: object) -> str: ...


def in_english(words: str, **values: object) -> str:
    """Say a text as it is written."""
    return words.format(**values) if values else words


@dataclass(frozen=True, slots=True)
class Part:
    """A section, or a fold within the answers. `line` is that of its title."""

    title: str
    line: int
    markdown: str


@dataclass(frozen=True, slots=True)
class LabText:
    """The text of a lab in one language."""

    language: str
    title: str
    lead: str
    sections: tuple[Part, ...]
    asked_before: str  # of the predictions: what stands above the list
    sentences: dict[str, str]  # the question of each prediction, by its name
    answers: tuple[Part, ...]

    @property
    def background(self) -> tuple[Part, ...]:
        """Return what is read before anything is predicted."""
        return self.sections[:PREDICT]

    @property
    def run(self) -> Part:
        return self.sections[RUN]

    @property
    def seen(self) -> tuple[Part, ...]:
        """Return what says how a run came out, which nobody reads before."""
        return self.sections[RUN + 1 : QUESTIONS]

    @property
    def questions(self) -> Part:
        return self.sections[QUESTIONS]

    @property
    def further(self) -> tuple[Part, ...]:
        return self.sections[QUESTIONS + 1 : ANSWERS]


def languages(lab: Lab) -> list[str]:
    """Return the languages in which there is a text of this lab, English first."""
    return [ENGLISH, *sorted(path.parent.name for path in lab.folder.glob(f"*/{lab.name}.md"))]


def read_text(lab: Lab, language: str = ENGLISH) -> LabText:
    """Return the text in this language, in English where there is no other. Raises InputError where it does not ask
    what the lab asks."""
    path = lab.folder / language / f"{lab.name}.md"
    if language not in languages(lab)[1:]:
        language, path = ENGLISH, lab.folder / f"{lab.name}.md"
    try:
        markdown = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", "A lab has its text beside it", key=str(path)) from error
    return parse_text(lab, markdown, str(path), language)


def parse_text(lab: Lab, markdown: str, source: str, language: str = ENGLISH) -> LabText:
    head, *sections = _parts(markdown)
    if len(sections) < _LEAST:
        what = f"it has {len(sections)} sections (##), and a lab has at least {_LEAST}"
        remedy = "Write background, predictions, run, questions, what goes further and answers"
        raise InputError(what, remedy, key=source)
    title = _TITLE.match(head.markdown)
    if not title:
        raise InputError("it has no title", "Begin with # and the title", key=f"{source}:1")
    before, sentences = _sentences(lab, sections[PREDICT], source)
    _check_numbers(lab, sections[QUESTIONS], source)
    folds = tuple(
        Part(fold[1], sections[ANSWERS].line, fold[2].strip()) for fold in _FOLD.finditer(sections[ANSWERS].markdown)
    )
    if not folds:
        raise InputError("there are no answers", "Write <details>", key=f"{source}:{sections[ANSWERS].line}")
    lead = head.markdown[title.end() :].strip()
    return LabText(language, title[1], lead, tuple(sections), before, sentences, folds)


def _parts(markdown: str) -> Iterator[Part]:
    """Yield what is above the first section, and each section. What is within output has no titles."""
    title, line, lines, is_fenced = "", 1, list[str](), False
    for number, text in enumerate(markdown.splitlines(), 1):
        is_fenced ^= text.strip().startswith(_FENCE)
        match = None if is_fenced else _SECTION.fullmatch(text)
        if match:
            yield Part(title, line, "\n".join(lines).strip("\n"))
            title, line, lines = match[1], number, []
        else:
            lines.append(text)
    yield Part(title, line, "\n".join(lines).strip("\n"))


def _sentences(lab: Lab, section: Part, source: str) -> tuple[str, dict[str, str]]:
    """Return what stands above the list of predictions, and the sentence of each, which are those of the lab."""
    names = [question.name for question in lab.questions]
    before, sentences, last = list[str](), dict[str, str](), ""
    for number, text in enumerate(section.markdown.splitlines(), section.line + 2):
        if match := _ITEM.match(text):
            last = match[1]
            if last not in names or last in sentences:
                what = f"the lab asks no {last[:60]!r}" if last not in names else f"{last} is asked twice"
                raise InputError(
                    what, f"{near_miss(last, names)}{lab.source} has {', '.join(names)}", key=f"{source}:{number}"
                )
            sentences[last] = match[2]
        elif last and text.startswith("  "):
            sentences[last] += f" {text.strip()}"
        elif text and last:
            raise InputError(
                "a list of predictions ends the section", "Indent it, or put it above", key=f"{source}:{number}"
            )
        else:
            before.append(text)
    if lacking := [name for name in names if name not in sentences]:
        what = f"it does not ask {', '.join(lacking)}"
        raise InputError(what, f"Write an item: - `{lacking[0]}`: …", key=f"{source}:{section.line}")
    return "\n".join(before).strip(), {name: sentences[name] for name in names}


def _check_numbers(lab: Lab, section: Part, source: str) -> None:
    numbers = question_numbers(section.markdown)
    if lacking := [number for number in lab.numbers if number not in numbers]:
        what = f"there is no question {lacking[0]}, at which {lab.source} has numbers"
        raise InputError(what, "Take it out of numbers", key=f"{source}:{section.line}")


def question_numbers(markdown: str) -> list[int]:
    return [int(match[1]) for match in map(_NUMBERED.match, markdown.splitlines()) if match]


def items(markdown: str) -> Sequence[str]:
    """Return each item of a numbered list, with the lines that belong to it."""
    return [part.strip() for part in re.split(r"^[0-9]+\. ", markdown, flags=re.MULTILINE)[1:]]
