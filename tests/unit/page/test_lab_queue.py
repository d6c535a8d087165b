"""Runs of a class take turns: what each judges is what was fixed when it began, whatever comes between."""

import errno
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from lanelab.driver.base.errors import DiskFull, InputError
from lanelab.driver.lab.folder import LabFolder, fix
from lanelab.driver.lab.sheet import Sheet, stamps_of
from lanelab.driver.page import lab_pages
from lanelab.driver.page.classroom import BEGUN, Classroom
from lanelab.driver.page.lab_queue import LabQueue, Wish
from tests.kit.classes import Began, enrolled, finished, predicting, predicts
from tests.kit.made_lab import NAME
from tests.kit.pages import Visitor
from tests.kit.wait import wait_until


def test_runs_wait_for_one_another(runs: Path, began: Began) -> None:
    room = Classroom(runs)
    queue = LabQueue(room, began, began.require_free)
    wishes = [predicting(room, name)[1] for name in ("Ada", "Ben")]
    for wish in wishes:
        queue.ask(wish)
        queue.ask(wish)
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
    assert queue.problems[wishes[1]] == "no bed"


def test_what_others_measure_here_is_waited_for(runs: Path, began: Began) -> None:
    room = Classroom(runs)
    folder, wish = predicting(room, "Ada")
    queue = LabQueue(room, began, began.require_free)
    queue.ask(wish)
    began.busy = "a bed is in use on this machine"
    queue.step()
    assert (queue.place(wish), str(queue.awaits), began.wanted) == (1, began.busy, [])
    assert not (room.of(NAME) / BEGUN).exists(), "nothing is prepared while a trial may be under way"
    began.busy = ""
    queue.step()
    assert (queue.place(wish), queue.awaits, len(began.wanted)) == (1, None, 1)
    assert folder.run.is_symlink()


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
        assert isinstance(queue.awaits, DiskFull)
    queue.step()
    assert folder.has_run()
    assert (queue.place(wish), queue.waiting, queue.problems) == (0, [], {})
