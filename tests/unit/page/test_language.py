"""The page in German: its catalogue is complete, and the reader's choice is kept by the browser."""

import ast
import re
import shutil
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

import lanelab
from lanelab.analysis.results.layout.markup import el
from lanelab.driver import lab, page
from lanelab.driver.page.german import GERMAN, TABLES
from lanelab.driver.page.language import LANGUAGES, Reading, date, in_english, many, read_as, say, whole
from tests.kit.pages import Visitor, served

SOURCES = sorted(path for room in (page, lab) for path in Path(room.__path__[0]).glob("*.py"))
SAYS = {"say": 1, "text": 1, "many": 3}  # and how many of their arguments, the last of them, are texts
ELEMENTS = {"el", "section_on_page", "document", "message", "Refusal"}  # whose words are seen
SHOWN = {"aria_label", "title", "alt", "placeholder", "summary"}
NO_WORDS = re.compile(r"[\W\d_]*|lanelab|ms")


def calls() -> Iterator[tuple[Path, str, ast.Call]]:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield path, node.func.id, node


def texts() -> Iterator[str]:
    for _, name, call in calls():
        for argument in call.args[SAYS[name] // 2 : SAYS[name]] if name in SAYS else ():
            yield from strings(argument)


def strings(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from strings(node.body)
        yield from strings(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def test_every_text_has_its_german_and_none_is_left_over() -> None:
    said = set(texts())
    assert said - GERMAN.keys() == set(), "without German"
    assert GERMAN.keys() - said == set(), "said nowhere"


def test_no_text_is_in_two_tables() -> None:
    assert sum(map(len, TABLES)) == len(GERMAN)


def places(words: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(words) if name)


def test_both_have_the_same_places_for_values() -> None:
    # "The one trial" may leave out its number.
    assert [one for one, other in GERMAN.items() if places(one) != places(other)] == []


def test_no_words_are_shown_that_are_not_in_the_catalogue() -> None:
    bare = []
    for path, name, call in calls():
        if name in ELEMENTS:
            arguments = call.args[1 if name in ("el", "section_on_page", "Refusal") else 0 :]
            shown = [*arguments, *(each.value for each in call.keywords if each.arg in SHOWN)]
            for each in shown:
                bare += [(path.name, words) for words in literals(each) if not NO_WORDS.fullmatch(words)]
    assert bare == []


def literals(node: ast.expr) -> Iterator[str]:
    yield from strings(node)
    if isinstance(node, ast.JoinedStr):
        for part in node.values:
            yield from strings(part) if isinstance(part, ast.Constant) else ()


def test_numbers_dates_and_plurals_follow_the_language() -> None:
    with read_as(Reading(LANGUAGES["de"])):
        assert say("Runs") == "Läufe"
        assert whole(12345) == "12.345"
        assert date("2026-11-28T18:05:00+00:00") == "28.11.2026, 18:05 UTC"
        assert date("no date") == "no date"
        assert many(1, "The one trial", "All {n} trials") == "Der eine Versuch"
        assert many(5000, "The one trial", "All {n} trials") == "Alle 5.000 Versuche"
        assert in_english(el("p", "a > b", id="x")) == '<p lang="en" id="x">a &gt; b</p>'
        assert in_english(el("p", el("b", "x"))) == '<p lang="en"><b>x</b></p>'
    assert (say("Runs"), whole(12345), many(2, "The one trial", "All {n} trials")) == ("Runs", "12,345", "All 2 trials")
    assert in_english(el("p", "x")) == "<p>x</p>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("languages") / "runs"
    shutil.copytree(lanelab.sample_run().folder, folder / "sample")
    return folder


@pytest.fixture
def owner(folder: Path) -> Iterator[Visitor]:
    with served(folder) as visitor:
        visitor.enter(visitor.access.owner)
        yield visitor


@pytest.mark.parametrize(
    ("asked", "tag"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("fr,de;q=0.5", "de"),
        ("fr", "en"),
        ("", "en"),
        ("en-GB,de", "en"),
        (";,-", "en"),
    ],
)
def test_a_page_is_in_the_language_that_the_browser_asks_for(owner: Visitor, asked: str, tag: str) -> None:
    answer = owner.ask("/", Accept_Language=asked)
    assert f'<html lang="{tag}">' in answer.text
    assert ("Läufe" in answer.text) == (tag == "de")
    assert "set-cookie" not in answer.headers


def test_the_address_chooses_and_the_browser_keeps_it(owner: Visitor) -> None:
    answer = owner.ask("/?lang=de&words=sam")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("lanelab-lang=de;")
    assert 'href="?words=sam&amp;lang=en"' in answer.text
    owner.headers["Cookie"] += f"; {cookie.partition(';')[0]}"
    assert 'lang="de"' in owner.ask("/runs/sample/", Accept_Language="en").text
    assert '<html lang="en">' in owner.ask("/?lang=en").text
    assert '<html lang="de">' in owner.ask("/?lang=xx").text
    assert '<html lang="de">' in owner.ask("/nothing").text


def test_what_a_report_says_is_marked_as_english(owner: Visitor) -> None:
    text = owner.ask("/runs/sample/?lang=de").text
    assert re.search(r'<section lang="en" [^>]*id="claims"', text)
    assert "Die letzten Versuche" in text


def test_a_link_with_a_secret_is_in_no_address_of_another_language(owner: Visitor) -> None:
    text = owner.ask("/enter?token=used&lang=de").text
    assert "Dieser Link gilt nicht mehr" in text
    assert "token=" not in text


def test_labs_are_in_the_language_of_the_page(owner: Visitor) -> None:
    text = owner.ask("/labs/?lang=de").text
    assert "Labor 3: Head-of-Line-Blocking" in text
    assert "Lab 3: head-of-line blocking" in owner.ask("/labs/?lang=en").text
    assert "Bandbreite-Verzögerungs-Produkt" in owner.ask("/labs/1-slow-start/?lang=de").text
