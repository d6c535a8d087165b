"""The folder of a study's run: made whole or not at all, kept from others, and with its own copies."""

import json
from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.run.study.figures import Wishes
from lanelab.driver.run.study.read import StudyFolder, read_study_folder
from lanelab.driver.run.study.run_folder import begin_with, changes_since, create, opened
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
    now = read_study_folder(str(read.folder))
    assert changes_since(folder, begun, now) == {2: "measured with other settings"}
    with opened(folder, begun) as run:
        assert str(run.experiments[2].links[0].link.rtt) == "40ms"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("trials: 2", "trials: 2  # as in the work", {}),
        ("    source: made#1", "    says: pages load faster\n    source: made#1", {}),
        ("initial_window: 3", "initial_window: 4", {}),  # of the other variant
        ("trials: 2", "trials: 5", {2: "measured with fewer rounds, 2 instead of 5"}),
        ("expect: lower", "expect: higher", {2: "judged by other claims"}),
    ],
)
def test_what_decides_no_result_is_no_change(
    read: StudyFolder, tmp_path: Path, before: str, after: str, said: dict[int, str]
) -> None:
    """The copy stays what the run began with, whatever was edited."""
    folder, begun = tmp_path / "run", about(read)
    create(folder, begun, read)
    text = texts()["two.yaml"]
    assert before in text
    (read.folder / "two.yaml").write_text(text.replace(before, after))
    assert changes_since(folder, begun, read_study_folder(str(read.folder))) == said
    assert (folder / "study" / "made" / "two.yaml").read_text() == text


def test_rounds_that_were_asked_for_instead_hide_those_of_the_file(read: StudyFolder, tmp_path: Path) -> None:
    folder, begun = tmp_path / "run", about(read, Wishes(trials=3))
    create(folder, begun, read)
    (read.folder / "two.yaml").write_text(texts()["two.yaml"].replace("trials: 2", "trials: 5"))
    assert changes_since(folder, begun, read_study_folder(str(read.folder))) == {}


def test_a_figure_that_was_taken_out_of_the_study_is_told_of(read: StudyFolder, tmp_path: Path) -> None:
    folder, begun = tmp_path / "run", about(read)
    create(folder, begun, read)
    study = read.folder / "study.yaml"
    study.write_text("".join(line for line in study.read_text().splitlines(keepends=True) if "two.yaml" not in line))
    now = read_study_folder(str(read.folder))
    assert changes_since(folder, begun, now) == {2: "of a figure that the study has no more"}


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
