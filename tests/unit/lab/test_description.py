"""A lab's description is read strictly, and its text asks what the description judges."""

from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.source import read_yaml
from lanelab.driver.lab.description import LABS, Lab, find_lab, lab_names, parse_lab, read_lab
from lanelab.driver.lab.text import items, languages, parse_text, read_text
from tests.kit.made_lab import TEXT, make_lab

SLOW_START = "1-slow-start"
HEAD = "experiment: labs/1-slow-start\npredictions:\n"
VALUE = "value: {of: one connection, metric: plt}"
WHERE = "where: {rtt: 20ms}"


def lab(predictions: str, more: str = "") -> Lab:
    text = f"{HEAD}{predictions}\n{more}"
    return parse_lab(read_yaml(text, "lab.yaml", ""), "lab", text, read_lab(SLOW_START).experiment)


def test_a_lab_goes_by_its_name_and_its_number() -> None:
    assert len(lab_names()) == 8
    assert find_lab("1") == find_lab("labs/1-slow-start") == SLOW_START
    with pytest.raises(InputError, match="Did you mean 1-slow-start"):
        find_lab("1-slow-strat")


@pytest.mark.parametrize("name", lab_names())
def test_each_text_asks_what_its_lab_judges_in_every_language(name: str) -> None:
    read = read_lab(name)
    for language in languages(read):
        text = read_text(read, language)
        assert list(text.sentences) == [question.name for question in read.questions]
        assert len(text.answers) == 2
        assert len(items(text.questions.markdown)) >= max(read.numbers)


@pytest.mark.parametrize("name", lab_names())
def test_each_lab_asks_something_that_its_run_measures(name: str) -> None:
    measured = [question for question in read_lab(name).questions if question.claim]
    assert len(measured) >= 2
    assert all(question.margin_words for question in measured)


def test_a_measured_answer_has_the_unit_of_its_metric_and_a_change_percent() -> None:
    read = read_lab("4-tls-round-trips")
    assert (read.question("clear").unit, read.question("share").unit) == ("ms", "%")
    assert read.question("handshakes").calculated == 2


@pytest.mark.parametrize(
    ("predictions", "words"),
    [
        (f"  load: {{{VALUE}, {WHERE}}}", "lab.yaml:3: predictions.load: margin is missing"),
        (f"  load: {{{VALUE}, {WHERE}, magrin: 10%}}", "lab.yaml:3: predictions.load.magrin.*Did you mean margin"),
        (f"  load: {{{VALUE}, {WHERE}, margin: 8pp}}", "percentage points are for changes"),
        (
            "  load:\n    value: {of: one conection, metric: plt}\n    margin: 10%",
            "lab.yaml:4.*Did you mean one connection",
        ),
        (f"  load: {{{VALUE}, where: {{rtt: 30ms}}, margin: 10%}}", "lab.yaml:3.*30ms"),
        (f"  load: {{{VALUE}, margin: 10%}}", "this is 4 places"),
        (f"  load: {{{VALUE}, {WHERE}, margin: 10%, unit: ms}}", "the run measures it"),
        (f"  load: {{{VALUE}, {WHERE}, margin: 10%, answer: direction}}", "a value has no direction"),
        ("  load: {calculated: many}", "'many' is no number"),
        ("  load: {calculated: 3, margin: 5%}", "no run measures this"),
        ("  load: {answer: number}", "no run measures this"),
        ("  load: {}", "neither what is measured nor what is worked out"),
        ("  LOAD: {calculated: 3}", "'LOAD' is no name"),
    ],
)
def test_what_cannot_be_judged_is_refused_at_its_line(predictions: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        lab(predictions)


def test_numbers_name_predictions() -> None:
    with pytest.raises(InputError, match=r"lab\.yaml:5: numbers.1.*Did you mean load"):
        lab("  load: {calculated: 3}", "numbers:\n  1: [laod]")
    with pytest.raises(InputError, match="'first' is no question's number"):
        lab("  load: {calculated: 3}", "numbers:\n  first: [load]")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("- `near`: ", "- `naer`: "), "text.md:[0-9]+: the lab asks no 'naer'. Did you mean near"),
        (("- `near`: ", "- `window-40`: "), "window-40 is asked twice"),
        (("- `near`: ", "- "), "ends the section"),
        (("<details>", "<div>"), "there are no answers"),
        (("# Lab 1", "Lab 1"), "text.md:1: it has no title"),
        (("6. Is the formula", "7. Is the formula"), "there is no question 6"),
    ],
)
def test_a_text_that_asks_something_else_is_refused(change: tuple[str, str], words: str) -> None:
    markdown = (LABS / f"{SLOW_START}.md").read_text().replace(*change)
    with pytest.raises(InputError, match=words):
        parse_text(read_lab(SLOW_START), markdown, "text.md")


def test_a_language_without_a_text_has_the_english_one(tmp_path: Path) -> None:
    made = make_lab(tmp_path)
    (tmp_path / "de").mkdir()
    (tmp_path / "de" / "small.md").write_text(TEXT.replace("# Lab 0: small", "# Labor 0"))
    assert languages(made) == ["en", "de"]
    assert read_text(made, "de").title == "Labor 0"
    assert read_text(made, "../de").language == "en"
