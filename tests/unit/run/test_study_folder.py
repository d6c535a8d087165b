"""The folder of a study's run: made whole or not at all, kept from others, and with its own copies."""

import json
from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.run.study.figures import Wishes
from lanelab.driver.run.study.read import StudyFolder, read_study_folder
from lanelab.driver.run.study.run_folder import begin_with, changed_since, create, opened
from lanelab.driver.run.study.study import StudyRun
from tests.kit.studies import texts, write_study


@pytest.fixture(name="read")
def _read(tmp_path: Path) -> StudyFolder:
    return read_study_folder(str(write_study(tmp_path)))


def about(read: StudyFolder, asked: Wishes | None = None) -> StudyRun:
    return begin_with(read, "today", asked or Wishes(), seed=7, bed={"router": "auto", "pinned": {}}, lanelab="0.1.0")


def test_it_holds_the_study_as_it_was(read: StudyFolder, tmp_path: Path) -> None:
    folder, begun = tmp_path / "run", about(read, Wishes(trials=3))
    create(folder, begun, read)
    assert StudyRun.from_json(json.loads((folder / "study.json").read_text())) == begun
    for name, text in texts().items():
        assert (folder / "study" / "made" / name).read_text() == text
    with opened(folder, begun) as run:
        assert [one.variant for one in run.experiments.values()] == ["today", "today"]
        assert [one.repeat.trials for one in run.experiments.values()] == [3, 3]
        assert run.figure_folder(2) == folder / "figure-2"


def test_a_run_keeps_its_copies_when_the_study_changes(read: StudyFolder, tmp_path: Path) -> None:
    folder, begun = tmp_path / "run", about(read)
    create(folder, begun, read)
    (read.folder / "two.yaml").write_text(texts()["two.yaml"].replace("40ms", "60ms"))
    assert changed_since(begun, read_study_folder(str(read.folder))) == [2]
    with opened(folder, begun) as run:
        assert str(run.experiments[2].links[0].link.rtt) == "40ms"


def test_a_copy_that_was_edited_is_refused(read: StudyFolder, tmp_path: Path) -> None:
    folder, begun = tmp_path / "run", about(read)
    create(folder, begun, read)
    (folder / "study" / "made" / "one.yaml").write_text(texts()["one.yaml"].replace("lower", "higher"))
    with (
        pytest.raises(StoreError, match=r"one\.yaml is not the experiment that this run began with"),
        opened(folder, begun),
    ):
        pass


@pytest.mark.parametrize("there", ["nothing", "a copy", "half of study.json"])
def test_a_beginning_that_was_killed_is_begun_again(read: StudyFolder, tmp_path: Path, there: str) -> None:
    folder, begun = tmp_path / "run", about(read)
    create(folder, begun, read)
    (folder / "study.json").rename(folder / "study.json.part")
    if there != "half of study.json":
        (folder / "study.json.part").unlink()
    if there == "nothing":
        for path in (folder / "study" / "made").iterdir():
            path.unlink()
    create(folder, begun, read)
    with opened(folder, begun) as run:
        assert len(run.experiments) == 2
    assert not (folder / "study.json.part").exists()


def test_a_folder_that_is_in_use_otherwise_stays_as_it_is(read: StudyFolder, tmp_path: Path) -> None:
    begun, folder = about(read), tmp_path / "run"
    create(folder, begun, read)
    with pytest.raises(InputError, match=r"there is a study's run in .*--resume"):
        create(folder, begun, read)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty"):
        create(other, begun, read)
    assert [path.name for path in other.iterdir()] == ["thesis.txt"]


def test_two_at_once_are_kept_apart(read: StudyFolder, tmp_path: Path) -> None:
    folder, begun = tmp_path / "run", about(read)
    create(folder, begun, read)
    with opened(folder, begun), pytest.raises(StoreError, match="another lanelab is using"), opened(folder, begun):
        pass
