"""A class is collected in one table and one page, whatever is damaged, missing or named alike."""

import csv
import io
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lanelab.driver.base.clock import shifted, utc_now
from lanelab.driver.cli.main import lanelab
from lanelab.driver.lab.class_sheet import collect, csv_of, page_of
from lanelab.driver.lab.folder import LabFolder, open_lab
from lanelab.driver.lab.judging import check_lab
from lanelab.driver.lab.take_home import take_home
from lanelab.driver.lab.text import read_text
from lanelab.driver.page.language import spoken
from tests.kit.made_lab import make_lab, store_lab_run, student_folder

HOSTILE = "<script>alert(1)</script> =cmd|'/c calc'!A1"


@pytest.fixture
def described(tmp_path: Path) -> Path:
    make_lab(tmp_path / "described")
    return tmp_path / "described"


def done(described: Path, path: Path, student: str, answers: Mapping[str, str]) -> LabFolder:
    folder = student_folder(described, path, student, answers)
    store_lab_run(folder.run, folder.experiment.read_text(), created_utc=shifted(utc_now(), 1))
    return folder


@pytest.fixture
def handed_in(described: Path, tmp_path: Path) -> Path:
    place = tmp_path / "handed-in"
    done(described, place / "ada", "Ada", {"load": "2250", "faster": "lower"})
    done(described, place / "ben", "Ben", {"load": "900", "share": "-3%"})
    return place


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_everybodys_predictions_and_verdicts_are_in_the_table(handed_in: Path) -> None:
    table = rows(csv_of(collect([handed_in])))
    assert [row["student"] for row in table] == ["Ada"] * 5 + ["Ben"] * 5
    verdicts = {(row["student"], row["prediction"]): row["verdict"] for row in table}
    assert verdicts["Ada", "load"] == "reproduced"
    assert verdicts["Ben", "load"] == "not reproduced"
    assert verdicts["Ben", "faster"] == "not tested"
    assert {row["question"] for row in table} > {"What does ping show?"}


def test_the_page_has_names_numbers_and_how_they_are_spread(handed_in: Path) -> None:
    page = page_of(collect([handed_in]))
    assert "2 predictions from 900 ms to 2,25" in page
    assert all(text in page for text in ("Ada", "Ben", "not reproduced", "<li>lower (shorter, fewer): 1</li>"))


def test_both_pages_are_in_the_language_that_is_asked_for(handed_in: Path) -> None:
    german = spoken("de")
    page = page_of(collect([handed_in]), german)
    assert all(
        words in page for words in ("Die Klasse", "2 Personen", "2 Vorhersagen, von", "nicht bestätigt", "Urteil")
    )
    assert not any(words in page for words in ("The class", "Everybody", ">not reproduced<", ">verdict<"))
    checked = check_lab(open_lab(handed_in / "ada"))
    home = take_home(checked, read_text(checked.lab), german)
    assert all(words in home for words in ("Was du gesagt hast", "Deine Zahlen", "Vorhergesagt um", "bestätigt"))
    assert not any(words in home for words in ("What you said", "Your numbers", ">reproduced<"))


def test_what_cannot_be_judged_is_named_and_takes_nothing_with_it(handed_in: Path, described: Path) -> None:
    student_folder(described, handed_in / "carl", "Carl", {"load": "900"})
    (handed_in / "ben" / "run" / "run.sqlite").write_bytes(b"\0" * 512)
    broken = handed_in / "dora"
    broken.mkdir()
    (broken / "lab.json").write_text("[]")
    sheet = collect([handed_in, handed_in / "nobody"])
    assert [one.sheet.student for one in sheet.checked] == ["Ada"]
    why = {problem.student or Path(problem.place).name: problem.why for problem in sheet.problems}
    assert "cannot be read" in why["Ben"]
    assert "there is no run" in why["Carl"]
    assert "cannot be read" in why["dora"]
    assert "has no lab" in why["nobody"]
    assert [row["problem"] != "" for row in rows(csv_of(sheet))] == [False] * 5 + [True] * 4
    assert "Carl: there is no run" in page_of(sheet)


def test_students_of_one_name_and_copies_are_named(handed_in: Path, described: Path) -> None:
    done(described, handed_in / "other-ada", "ada", {"load": "1000"})
    shutil.copytree(handed_in / "ben", handed_in / "zoe")
    sheet = collect([handed_in])
    notes = " ".join(sheet.notes())
    assert "2 students of small have the name" in notes
    assert "one is a copy" in notes
    german = page_of(sheet, spoken("de"))
    assert "2 Personen mit dem Namen Ada machen small" in german
    assert "students of small" not in german


def test_hostile_names_stay_text(described: Path, tmp_path: Path) -> None:
    folder = done(described, tmp_path / "class" / "mallory", HOSTILE, {"load": "900"})
    done(described, tmp_path / "class" / "formula", "=1+1", {"load": "900"})
    sheet = collect([tmp_path / "class"])
    for page in (page_of(sheet), take_home(check_lab(folder), read_text(folder.lab()))):
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)" in page
    assert {row["student"] for row in rows(csv_of(sheet))} == {HOSTILE, "'=1+1"}


def test_what_a_student_takes_home_has_everything(handed_in: Path) -> None:
    checked = check_lab(open_lab(handed_in / "ada"))
    page = take_home(checked, read_text(checked.lab))
    assert all(text in page for text in ("One connection or six.", "2250 ms", "a secret second", "Therefore.", "seed"))
    assert "Your numbers" in page
    assert checked.sheet.digest in page
    assert 'src="http' not in page
    assert "style-src &#x27;sha256-" in page


def invoke(*words: str | Path) -> Result:
    return CliRunner().invoke(lanelab, ["lab", *map(str, words)], catch_exceptions=True)


def test_a_lab_from_the_command_line(described: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    begun = invoke("start", described / "small.yaml", "--student", "Ada Lovelace")
    folder = Path("lab-small-ada-lovelace")
    assert begun.exit_code == 0, begun.output
    asked = folder / "predictions.yaml"
    assert "# How long does the page take over six connections at 100 ms, in ms? (ms)\nload:\n" in asked.read_text()
    asked.write_text(asked.read_text().replace("load:\n", "load: 2.25 s\n"))
    fixed = invoke("predict", folder, "faster=lower")
    assert "2 predictions fixed at" in fixed.output
    opened = open_lab(folder)
    store_lab_run(opened.run, opened.experiment.read_text(), created_utc=shifted(utc_now(), 1))
    checked = invoke("check", folder)
    assert checked.exit_code == 0, checked.output
    assert "2.25 s" in checked.output
    assert (folder / "lab.html").is_file()
    collected = invoke("collect", ".", "--out", "class")
    assert collected.exit_code == 0, collected.output
    assert len(rows((tmp_path / "class" / "class.csv").read_text(encoding="utf-8-sig"))) == 5
    assert (tmp_path / "class" / "class.html").is_file()


def test_the_command_line_lists_all_labs() -> None:
    listed = invoke("list")
    assert "8-can-you-trust-this-number" in listed.output


def test_collect_ends_with_a_status_where_something_is_not_judged(handed_in: Path, tmp_path: Path) -> None:
    shutil.rmtree(handed_in / "ben" / "run")
    collected = invoke("collect", handed_in, "--out", tmp_path)
    assert collected.exit_code == 1
    assert "not judged" in collected.output


def test_a_language_that_lanelab_does_not_speak_is_told(handed_in: Path, tmp_path: Path) -> None:
    unknown, known = (invoke("collect", handed_in, "--out", tmp_path, "--language", each) for each in ("fr", "de"))
    assert "not in 'fr': the page has them in English" in unknown.output
    assert "own words" not in known.output
