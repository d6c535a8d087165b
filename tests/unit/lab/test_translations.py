"""A translated lab says the same as the English one: commands, output, numbers, names and links."""

import re
from collections import Counter
from pathlib import Path

import pytest

from lanelab.driver.lab.description import LABS, lab_names, read_lab
from lanelab.driver.lab.text import LabText, languages, question_numbers, read_text

ENGLISH = "en"
FENCE = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"^ {4}.*$", re.MULTILINE)
CODE = re.compile(r"`[^`]+`")
LINK = re.compile(r"\]\(([^)]+)\)")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
TRANSLATED = [(name, language) for name in lab_names() for language in languages(read_lab(name)) if language != ENGLISH]


def test_all_labs_are_in_german() -> None:
    assert [name for name, language in TRANSLATED if language == "de"] == lab_names()


@pytest.fixture(params=TRANSLATED, ids="-".join)
def pair(request: pytest.FixtureRequest) -> tuple[LabText, LabText]:
    name, language = request.param
    lab = read_lab(name)
    both = read_text(lab), read_text(lab, language)
    assert both[1].language == language
    return both


def test_commands_and_output_are_the_same(pair: tuple[LabText, LabText]) -> None:
    for one, other in sections(pair):
        assert blocks(one) == blocks(other)


def blocks(markdown: str) -> list[str]:
    rest = FENCE.sub("", markdown)
    return FENCE.findall(markdown) + INDENTED.findall(rest)


def sections(pair: tuple[LabText, LabText]) -> list[tuple[str, str]]:
    one, other = ([text.lead, *(each.markdown for each in text.sections)] for text in pair)
    return list(zip(one, other, strict=True))


def prose(markdown: str) -> str:
    return INDENTED.sub("", FENCE.sub("", markdown))


def test_names_in_the_text_are_the_same(pair: tuple[LabText, LabText]) -> None:
    for one, other in sections(pair):
        assert Counter(CODE.findall(prose(one))) == Counter(CODE.findall(prose(other)))


def test_numbers_are_the_same_whatever_points_and_commas_are_in_them(pair: tuple[LabText, LabText]) -> None:
    for one, other in sections(pair):
        assert numbers(one) == numbers(other)


def numbers(markdown: str) -> Counter[str]:
    text = CODE.sub("", LINK.sub("]", prose(markdown)))
    return Counter(re.sub("[.,]", "", number) for number in NUMBER.findall(text))


def test_there_are_as_many_questions_answers_items_and_rows(pair: tuple[LabText, LabText]) -> None:
    for one, other in sections(pair):
        for begin in ("- ", "| ", "<details>"):
            assert beginnings(one, begin) == beginnings(other, begin)
    one_text, other_text = pair
    assert question_numbers(one_text.questions.markdown) == question_numbers(other_text.questions.markdown)
    for one_part, other_part in zip(one_text.answers, other_text.answers, strict=True):
        assert question_numbers(one_part.markdown) == question_numbers(other_part.markdown)


def beginnings(markdown: str, begin: str) -> int:
    return sum(line.startswith(begin) for line in markdown.splitlines())


def test_links_lead_to_the_same_places(pair: tuple[LabText, LabText]) -> None:
    folder = LABS / pair[1].language
    for one, other in sections(pair):
        places = [place(folder, link) for link in LINK.findall(other)]
        assert all(path.is_file() for path, _ in places)
        of_english = [place(LABS, link) for link in LINK.findall(one)]
        translated = {(LABS / f"{name}.md").resolve(): (folder / f"{name}.md").resolve() for name in lab_names()}
        assert Counter(places) == Counter((translated.get(path, path), anchor) for path, anchor in of_english)


def place(folder: Path, link: str) -> tuple[Path, str]:
    path, _, anchor = link.partition("#")
    return (folder / path).resolve(), anchor
