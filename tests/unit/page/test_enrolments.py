"""A class on the page: who begins a lab under which name, how often, and who takes somebody out."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lanelab.driver.lab.class_sheet import collect
from lanelab.driver.page.classroom import Classroom
from lanelab.driver.page.refusal import Refusal
from tests.kit.classes import Began, enrolled, finished, predicts, watching
from tests.kit.made_lab import NAME
from tests.kit.pages import Visitor
from tests.kit.wait import wait_until

HOSTILE = "<script>alert(1)</script>"


def test_a_teacher_finds_the_page_of_who_has_lost_the_address(teacher: Visitor, watcher: Visitor) -> None:
    address = enrolled(watcher, "Ada")
    href = f'href="{address.rstrip("/").rpartition("/")[2]}/"'
    assert href in teacher.ask(f"/labs/{NAME}/").text
    assert href not in watcher.ask(f"/labs/{NAME}/").text


def test_a_name_is_text_and_has_to_be_there(watcher: Visitor) -> None:
    text = watcher.ask(enrolled(watcher, HOSTILE)).text
    watcher = watching(watcher)
    assert HOSTILE not in text
    assert "&lt;script&gt;" in text
    assert watcher.post(f"/labs/{NAME}/enrol", {"name": ["  "]}).status == 400
    assert watcher.post(f"/labs/{NAME}/enrol", {"name": ["x" * 61]}).status == 400


def test_a_name_is_somebodys_alone(watcher: Visitor, teacher: Visitor) -> None:
    """Two of one name would be one in the table of the class."""
    address = enrolled(watcher, "Ada L\u00f6we")
    another = watching(watcher)
    for name in ("Ada L\u00f6we", " ada  LO\u0308WE "):
        refused = another.post(f"/labs/{NAME}/enrol", {"name": [name]})
        assert refused.status == 400
        assert "Somebody of this name has begun this lab." in refused.text
        assert "the teacher can give you your address again" in refused.text
        german = another.post(f"/labs/{NAME}/enrol", {"name": [name]}, Accept_Language="de").text
        assert "Jemand mit diesem Namen hat dieses Labor schon angefangen." in german
        assert "Schreib mehr von deinem Namen." in german
    assert teacher.post(f"/labs/{NAME}/enrol", {"name": ["ADA L\u00d6WE"]}).status == 400
    enrolled(another, "Ada L\u00f6wenherz")
    assert teacher.post(f"/labs/{NAME}/remove", {"student": [address.split("/")[-2]]}).status == 303
    enrolled(watcher, "Ada L\u00f6we")


def test_two_who_begin_at_once_under_one_name_are_one(runs: Path) -> None:
    """Also where each asks a server of its own."""

    def begin(_: int) -> str:
        try:
            return Classroom(runs).enrol(NAME, "Ada", "en")
        except Refusal:
            return ""

    with ThreadPoolExecutor(8) as threads:
        keys = list(filter(None, threads.map(begin, range(8))))
    assert keys == Classroom(runs).keys(NAME)
    assert len(keys) == 1


@pytest.mark.parametrize(("name", "said"), [(" ", "da steht kein Name"), ("x" * 61, "der Name ist länger als 60")])
def test_what_is_no_name_is_said_in_german(watcher: Visitor, name: str, said: str) -> None:
    refused = watcher.post(f"/labs/{NAME}/enrol", {"name": [name]}, Accept_Language="de").text
    assert said in refused
    assert "Schreib einen, den die Klasse kennt" in refused


def test_a_class_has_an_end(watcher: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanelab.driver.page.classroom.MOST_STUDENTS", 1)
    enrolled(watcher, "Ada")
    assert watching(watcher).post(f"/labs/{NAME}/enrol", {"name": ["Ben"]}).status == 400


def test_a_browser_that_watches_begins_a_lab_once_and_who_may_run_as_often_as_need_be(
    watcher: Visitor, teacher: Visitor
) -> None:
    enrolled(watcher, "Ada")
    refused = watcher.post(f"/labs/{NAME}/enrol", {"name": ["Eve"]})
    assert refused.status == 400
    assert "Somebody has begun this lab in this browser" in refused.text
    assert "In diesem Browser hat" in watcher.post(f"/labs/{NAME}/enrol", {"name": ["Eve"]}, Accept_Language="de").text
    for name in ("Ben", "Cem"):
        enrolled(teacher, name)
    enrolled(watching(watcher), "Dee")


def test_an_address_does_not_take_all_places(watcher: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanelab.driver.page.enrolments.MOST_OF_ADDRESS", 2)
    for name in ("Ada", "Ben"):
        enrolled(watching(watcher), name)
    refused = watching(watcher).post(f"/labs/{NAME}/enrol", {"name": ["Cem"]})
    assert refused.status == 400
    assert "2 have begun this lab from this address" in refused.text


def test_who_runs_the_class_sees_everybody_and_takes_somebody_out(
    watcher: Visitor, teacher: Visitor, runs: Path
) -> None:
    key = enrolled(watcher, "Ada").split("/")[-2]
    enrolled(watching(watcher), "Ben")
    page = teacher.ask(f"/labs/{NAME}/").text
    assert f'name="student" value="{key}"' in page
    assert watcher.post(f"/labs/{NAME}/remove", {"student": [key]}).status == 403
    assert teacher.post(f"/labs/{NAME}/remove", {"student": ["../x"]}).status == 400
    assert teacher.post(f"/labs/{NAME}/remove", {"student": [key]}).status == 303
    page = teacher.ask(f"/labs/{NAME}/").text
    assert "Ada" not in page
    assert "Ben" in page
    assert watcher.ask(f"/labs/{NAME}/{key}/").status == 404
    assert (runs / "labs" / NAME / f".removed-{key}" / "lab.json").is_file(), "nothing of hers is lost"
    assert [problem.student for problem in collect([runs / "labs" / NAME]).problems] == ["Ben"]
    enrolled(watcher, "Ada again")


def test_nobody_is_taken_out_while_a_run_begins(watcher: Visitor, teacher: Visitor, began: Began) -> None:
    ada = enrolled(watcher, "Ada")
    predicts(watcher, ada, load="900")
    teacher.post(f"{ada}begin", {})
    wait_until(lambda: began.wanted, 10)
    assert teacher.post(f"/labs/{NAME}/remove", {"student": [ada.split("/")[-2]]}).status == 409
    finished(began)
    assert teacher.post(f"/labs/{NAME}/remove", {"student": [ada.split("/")[-2]]}).status == 303
