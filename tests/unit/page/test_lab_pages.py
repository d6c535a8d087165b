"""Labs on the page, asked over a plain connection: who may do what, and what is shown when."""

import errno
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lanelab.driver.base.clock import shifted, utc_now
from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.lab import description
from lanelab.driver.lab.class_sheet import collect
from lanelab.driver.lab.folder import LabFolder, fix
from lanelab.driver.lab.sheet import Sheet, stamps_of
from lanelab.driver.page import lab_pages, lab_queue
from lanelab.driver.page.access import Role
from lanelab.driver.page.classroom import BEGUN, Classroom
from lanelab.driver.page.lab_pages import LabRooms
from lanelab.driver.page.lab_queue import LabQueue, Wish
from tests.kit.made_lab import NAME, make_lab, store_lab_run
from tests.kit.pages import Answer, Visitor, served
from tests.kit.wait import wait_until

HOSTILE = "<script>alert(1)</script>"


@dataclass
class Began:
    """Runs that a test begins and ends."""

    runs: Path
    status: int | None = None
    wanted: list[tuple[Path, Path]] = field(default_factory=list)
    accepts: list[bool] = field(default_factory=list)
    busy: str = ""

    def __call__(self, experiment: Path, accepts_links: bool) -> "Began":
        self.wanted.append((experiment, self.runs / f"run-{len(self.wanted)}"))
        self.accepts.append(accepts_links)
        self.status = None
        return self

    def require_free(self) -> None:
        if self.busy:
            raise StoreError(self.busy)

    @property
    def folder(self) -> Path:
        return self.wanted[-1][1]

    def words(self) -> str:
        return "no bed\n"


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_lab(tmp_path / "labs")
    monkeypatch.setattr(description, "LABS", tmp_path / "labs")
    for cached in (lab_pages._lab, lab_pages._text, lab_pages._lines):
        cached.cache_clear()
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


@pytest.fixture
def began(runs: Path, monkeypatch: pytest.MonkeyPatch) -> Began:
    began = Began(runs)
    monkeypatch.setattr(LabRooms, "_begin", lambda _, experiment, accepts: began(experiment, accepts))
    monkeypatch.setattr(LabRooms, "_require_free", lambda _: began.require_free())
    monkeypatch.setattr(lab_queue, "LOOKS_EVERY_S", 0.01)
    return began


@pytest.fixture
def teacher(began: Began) -> Iterator[Visitor]:
    with served(began.runs) as visitor:
        visitor.enter(visitor.access.owner)
        yield visitor


@pytest.fixture
def watcher(teacher: Visitor) -> Visitor:
    visitor = Visitor(teacher.port, teacher.access)
    visitor.enter(visitor.access.watcher)
    assert visitor.role is Role.WATCH
    return visitor


def enrolled(visitor: Visitor, name: str) -> str:
    """Return the address of a student who has begun the lab."""
    answer = visitor.post(f"/labs/{NAME}/enrol", {"name": [name]})
    assert answer.status == 303, answer.text
    return f"/labs/{NAME}/{answer.headers['location']}"


def predicts(visitor: Visitor, address: str, **answers: str) -> Answer:
    fields = {name: [answers.get(name, "")] for name in ("load", "faster", "share", "product", "ping")}
    return visitor.post(f"{address}predict", fields)


def finished(began: Began) -> None:
    """Let the run that was begun last come to its end."""
    wait_until(lambda: began.wanted, 10)
    experiment, folder = began.wanted[-1]
    store_lab_run(folder, experiment.read_text(), created_utc=shifted(utc_now(), 1))
    began.status = 0


def test_whoever_watches_predicts_and_does_nothing_else(watcher: Visitor, began: Began) -> None:
    address = enrolled(watcher, "Ada")
    assert predicts(watcher, address, load="2250").status == 303
    for path in (f"{address}begin", f"/labs/{NAME}/begin", f"/labs/{NAME}/class/", address, "/labs/", "/"):
        assert watcher.post(path, {}).status == 403, path
    assert watcher.ask(f"/labs/{NAME}/class/").status == 403
    assert watcher.ask(f"/labs/{NAME}/class/class.csv").status == 403
    assert "Begin my run" not in watcher.ask(address).text
    assert began.wanted == []


def test_a_teacher_finds_the_page_of_who_has_lost_the_address(teacher: Visitor, watcher: Visitor) -> None:
    address = enrolled(watcher, "Ada")
    href = f'href="{address.rstrip("/").rpartition("/")[2]}/"'
    assert href in teacher.ask(f"/labs/{NAME}/").text
    assert href not in watcher.ask(f"/labs/{NAME}/").text


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


def test_a_name_is_text_and_has_to_be_there(watcher: Visitor) -> None:
    text = watcher.ask(enrolled(watcher, HOSTILE)).text
    watcher = watching(watcher)
    assert HOSTILE not in text
    assert "&lt;script&gt;" in text
    assert watcher.post(f"/labs/{NAME}/enrol", {"name": ["  "]}).status == 400
    assert watcher.post(f"/labs/{NAME}/enrol", {"name": ["x" * 61]}).status == 400


def test_a_class_has_an_end(watcher: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanelab.driver.page.classroom.MOST_STUDENTS", 1)
    enrolled(watcher, "Ada")
    assert watching(watcher).post(f"/labs/{NAME}/enrol", {"name": ["Ben"]}).status == 400


def watching(visitor: Visitor) -> Visitor:
    """Another browser that has come in to watch."""
    another = Visitor(visitor.port, visitor.access)
    another.enter(another.access.watcher)
    return another


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


def test_what_is_wrong_with_an_answer_is_marked_as_english(watcher: Visitor) -> None:
    address = enrolled(watcher, "Ada")
    fields = {name: ["-5"] if name == "load" else [""] for name in ("load", "faster", "share", "product", "ping")}
    answer = watcher.post(f"{address}predict?lang=de", fields)
    assert '<p lang="en" id="p-load-error" class="bad">it is below 0. Write a number of 0 or more' in answer.text


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
    assert predicts(watcher, ada, load="900").status == 400
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
    assert "edited after they were fixed" in text
    assert "a secret second" not in text


def test_runs_wait_for_one_another(runs: Path, began: Began) -> None:
    room = Classroom(runs)
    queue = LabQueue(room, began, began.require_free)
    wishes = []
    for name in ("Ada", "Ben"):
        key = room.enrol(NAME, name, "en")
        student = room.student(NAME, key)
        assert student
        fix(student.folder, {"load": "900"})
        wishes.append(Wish(NAME, key))
        queue.ask(wishes[-1])
        queue.ask(wishes[-1])
    assert [queue.place(wish) for wish in wishes] == [1, 2]
    queue.step()
    queue.step()
    assert len(began.wanted) == 1
    assert [queue.place(wish) for wish in wishes] == [1, 2]
    finished(began)
    queue.step()
    assert len(began.wanted) == 2
    began.status = 0
    queue.step()
    assert queue.problems[wishes[1]] == "The run did not begin. no bed"


def test_what_others_measure_here_is_waited_for(runs: Path, began: Began) -> None:
    room = Classroom(runs)
    key = room.enrol(NAME, "Ada", "en")
    student = room.student(NAME, key)
    assert student
    fix(student.folder, {"load": "900"})
    queue = LabQueue(room, began, began.require_free)
    wish = Wish(NAME, key)
    queue.ask(wish)
    began.busy = "a bed is in use on this machine"
    queue.step()
    assert (queue.place(wish), queue.awaits, began.wanted) == (1, began.busy, [])
    assert not (room.of(NAME) / BEGUN).exists(), "nothing is prepared while a trial may be under way"
    began.busy = ""
    queue.step()
    assert (queue.place(wish), queue.awaits, len(began.wanted)) == (1, "", 1)
    assert student.folder.run.is_symlink()


# --- what is judged is what was fixed


def predicting(room: Classroom, name: str) -> tuple[LabFolder, Wish]:
    """A student who has predicted."""
    key = room.enrol(NAME, name, "en")
    student = room.student(NAME, key)
    assert student
    fix(student.folder, {"load": "900"})
    return student.folder, Wish(NAME, key)


def test_what_is_fixed_while_a_run_begins_is_what_the_run_judges(
    teacher: Visitor, watcher: Visitor, began: Began, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The prediction is under way, and no run was wanted yet, when the teacher begins one."""
    ada = enrolled(watcher, "Ada")
    predicts(watcher, ada, load="900")

    def slowly(folder: LabFolder, answers: Mapping[str, str]) -> Sheet:
        assert teacher.post(f"{ada}begin", {}).status == 303
        time.sleep(0.5)  # the queue would have begun by now
        return fix(folder, answers)

    monkeypatch.setattr(lab_pages, "fix", slowly)
    assert predicts(watcher, ada, load="2250").status == 303
    wait_until(lambda: began.wanted, 10)
    sheet = began.runs / "labs" / NAME / ada.split("/")[-2] / "predictions.json"
    assert [stamp.digest in sheet.read_text() for stamp in stamps_of(began.wanted[0][0].read_text())] == [True]
    assert '"2250' in sheet.read_text()
    finished(began)
    assert "a secret second" in watcher.ask(ada).text


def test_nothing_is_fixed_anew_while_another_server_begins_the_run(
    watcher: Visitor, began: Began, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = enrolled(watcher, "Ada")
    predicts(watcher, ada, load="900")
    room = Classroom(began.runs)
    other = LabQueue(room, began, began.require_free)
    other.ask(Wish(NAME, ada.split("/")[-2]))
    other.step()
    began.busy = "a run that was begun here goes on"
    monkeypatch.setattr(lab_pages, "require_free", began.require_free)
    assert predicts(watcher, ada, load="2250").status == 409
    began.busy = ""
    assert predicts(watcher, ada, load="2250").status == 303, "that run has ended before it began"


def test_two_who_begin_have_an_experiment_each_and_leave_none(runs: Path, began: Began) -> None:
    room = Classroom(runs)
    queues = [LabQueue(room, began, began.require_free) for _ in range(2)]
    for queue, name in zip(queues, ("Ada", "Ben"), strict=True):
        queue.ask(predicting(room, name)[1])
        queue.step()
    texts = [experiment.read_text() for experiment, _ in began.wanted]
    assert [len(stamps_of(text)) for text in texts] == [1, 1]
    assert texts[0] != texts[1]
    finished(began)
    for queue in queues:
        queue.step()
    assert list((room.of(NAME) / BEGUN).iterdir()) == []


def test_what_does_not_begin_leaves_no_experiment(runs: Path, began: Began) -> None:
    room = Classroom(runs)

    def refuse(_experiment: Path, _accepts: bool) -> Began:
        raise InputError("it has code of its author")

    queue = LabQueue(room, refuse, began.require_free)
    _, wish = predicting(room, "Ada")
    queue.ask(wish)
    queue.step()
    assert queue.problems[wish] == "it has code of its author"
    assert list((room.of(NAME) / BEGUN).iterdir()) == []


# --- a full disk


def test_a_student_whose_folder_cannot_lead_to_the_run_yet_is_led_later(
    runs: Path, began: Began, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Classroom(runs)
    queue = LabQueue(room, began, began.require_free)
    folder, wish = predicting(room, "Ada")
    queue.ask(wish)

    def full(_link: Path, _target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "symlink_to", full)
        queue.step()
        finished(began)
        queue.step()
        assert queue.place(wish) == 1, "nothing is fixed anew meanwhile"
        assert "the disk is full" in queue.awaits
    queue.step()
    assert folder.has_run()
    assert (queue.place(wish), queue.waiting, queue.problems) == (0, [], {})
