"""Labs on the page, asked over a plain connection: who may do what, and what is shown when."""

from pathlib import Path

import pytest

from lanelab.driver.page.access import Role
from tests.kit.classes import Began, enrolled, finished, prediction, predicts, watching
from tests.kit.made_lab import NAME
from tests.kit.pages import Visitor
from tests.kit.wait import wait_until


def test_whoever_watches_predicts_and_does_nothing_else(watcher: Visitor, began: Began) -> None:
    address = enrolled(watcher, "Ada")
    assert predicts(watcher, address, load="2250").status == 303
    for path in (f"{address}begin", f"/labs/{NAME}/begin", f"/labs/{NAME}/class/", address, "/labs/", "/"):
        assert watcher.post(path, {}).status == 403, path
    assert watcher.ask(f"/labs/{NAME}/class/").status == 403
    assert watcher.ask(f"/labs/{NAME}/class/class.csv").status == 403
    assert "Begin my run" not in watcher.ask(address).text
    assert began.wanted == []


def test_a_prediction_from_another_page_is_refused(watcher: Visitor) -> None:
    address = enrolled(watcher, "Ada")
    assert watcher.post(f"{address}predict", {"load": ["1"]}, Sec_Fetch_Site="cross-site").status == 403
    assert Visitor(watcher.port, watcher.access, role=Role.WATCH).post(f"{address}predict", {}).status == 403


@pytest.mark.parametrize(
    "path", ["/labs/nothing/", "/labs/..%2fruns/", f"/labs/{NAME}/..%2f..%2f/", f"/labs/{NAME}/ada.000000000000/"]
)
def test_what_is_not_there_is_not_there(watcher: Visitor, path: str) -> None:
    assert watcher.ask(path).status == 404


@pytest.mark.parametrize("deed", ["enrol", "remove", "begin", "ada/predict", "ada/begin"])
def test_the_address_of_a_form_leads_to_its_page(teacher: Visitor, began: Began, deed: str) -> None:
    """It is what the browser has after a form was refused, and asks for when somebody loads that anew."""
    answer = teacher.ask(f"/labs/{NAME}/{deed}")
    assert answer.status == 303
    assert answer.headers["location"] == "./"
    assert began.wanted == []


def test_what_cannot_be_read_is_said_at_its_field_and_nothing_is_fixed(watcher: Visitor, runs: Path) -> None:
    address = enrolled(watcher, "Ada")
    answer = predicts(watcher, address, load="soon", share="5")
    assert answer.status == 422
    assert 'aria-describedby="p-load-error"' in answer.text
    assert 'value="soon"' in answer.text
    assert 'value="5"' in answer.text
    assert "One answer cannot be read." in answer.text
    answer = predicts(watcher, address)
    assert answer.status == 422
    assert "Write at least one answer." in answer.text
    assert "cannot be read" not in answer.text
    assert list(runs.glob("labs/*/*/predictions.json")) == []


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"load": "-5"}, "das ist kleiner als 0. Schreib eine Zahl ab 0"),
        ({"load": "bald"}, "ist keine Zahl. Schreib eine wie 12 ms"),
        ({"load": "1,500"}, "kann man auf zwei Arten lesen. Schreib es ohne Komma"),
        ({"load": "1 500 ms"}, "ist keine solche Zahl. Schreib eine Zahl, in ms / s"),
        ({"share": "-150"}, "Schreib es in Prozent, wie -20%, und über -100%"),
        ({"product": "86 ms"}, "Schreib eine Zahl, in packets"),
    ],
)
def test_what_is_wrong_with_an_answer_is_said_in_german(watcher: Visitor, answers: dict[str, str], said: str) -> None:
    address = enrolled(watcher, "Ada")
    answer = watcher.post(f"{address}predict?lang=de", prediction(**answers))
    assert said in answer.text
    assert f'id="p-{next(iter(answers))}-error" class="bad"' in answer.text


def test_one_run_judges_all_who_were_ready_and_answers_open_when_it_has_ended(
    teacher: Visitor, watcher: Visitor, began: Began
) -> None:
    ada, ben, late = (enrolled(watching(watcher), name) for name in ("Ada", "Ben", "Late"))
    predicts(watcher, ada, load="2250")
    predicts(watcher, ben, faster="higher")
    assert "Results are hidden" in teacher.ask(f"/labs/{NAME}/class/").text
    assert "No run has ended yet" in teacher.ask(f"/labs/{NAME}/class/?show").text
    assert teacher.post(f"/labs/{NAME}/begin", {}).status == 303
    wait_until(lambda: began.wanted, 10)
    assert "Place 1 in the queue" in watcher.ask(ada).text
    assert predicts(watcher, ada, load="900").status == 409
    assert "a secret second" not in watcher.ask(ada).text
    finished(began)
    text = watcher.ask(ada).text
    assert all(words in text for words in ("a secret second", "Your numbers", "reproduced", "Therefore."))
    assert "not reproduced" in watcher.ask(ben).text
    assert predicts(watcher, ada, load="900").status == 409
    assert "Fix your predictions first" in watcher.ask(late).text
    shown = teacher.ask(f"/labs/{NAME}/class/?show").text
    assert "Ada" in shown
    assert "Late: nothing was predicted" in shown
    home = watcher.ask(f"{ada}take-home")
    assert home.headers["content-disposition"] == 'attachment; filename="small.html"'
    assert "a secret second" in home.text
    assert teacher.ask(f"/labs/{NAME}/class/class.csv").headers["content-type"].startswith("text/csv")


def test_a_sheet_that_was_edited_after_the_run_is_named(
    teacher: Visitor, watcher: Visitor, began: Began, runs: Path
) -> None:
    ada = enrolled(watcher, "Ada")
    predicts(watcher, ada, load="900")
    teacher.post(f"{ada}begin", {"accept": ["1"]})
    finished(began)
    assert began.accepts == [True]
    sheet = next(runs.glob("labs/*/*/predictions.json"))
    sheet.write_text(sheet.read_text().replace("900", "2250"))
    text = watcher.ask(ada).text
    assert "do not belong together any more. Tell the teacher." in text
    assert "a secret second" not in text
    assert "edited after they were fixed" in teacher.ask(ada).text


def test_a_student_reads_of_no_path_of_the_server(
    teacher: Visitor, watcher: Visitor, began: Began, runs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ada = enrolled(watcher, "Ada")
    early = watcher.ask(f"{ada}take-home")
    assert early.status == 400
    assert "The server cannot do this. Tell the teacher." in early.text
    assert str(runs) in caplog.text, "who serves the class reads it"
    predicts(watcher, ada, load="900")
    teacher.post(f"{ada}begin", {})
    wait_until(lambda: began.wanted, 10)
    began.status = 1
    began.words = lambda: f"cannot write {runs}/run-1"  # type: ignore[method-assign]
    wait_until(lambda: "The run did not begin." in watcher.ask(ada).text, 10)
    sheet = next(runs.glob("labs/*/*/predictions.json"))
    assert f"cannot write {runs}/run-1" in teacher.ask(ada).text
    sheet.write_text("{")
    for page in (watcher.ask(ada), watcher.ask(f"{ada}take-home"), early):
        assert str(runs) not in page.text
    assert "Der Server kann eine Datei nicht lesen oder schreiben. Sag es der" in watcher.ask(f"{ada}?lang=de").text
    assert str(sheet) in teacher.ask(ada).text
