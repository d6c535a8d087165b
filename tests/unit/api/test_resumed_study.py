"""What is told of a study that was edited since its run began. The run goes on with its own copies in each case."""

from pathlib import Path

import pytest

from lanelab.driver.api.studies import study_to_go_on_with
from lanelab.driver.run.events import Event
from lanelab.driver.run.study.figures import Wishes
from lanelab.driver.run.study.read import read_study_folder
from lanelab.driver.run.study.run_folder import begin_with, create
from tests.kit.studies import texts, write_study


@pytest.fixture(name="study")
def _study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study in the folder that one works in, beside a run of it."""
    monkeypatch.chdir(tmp_path)
    folder = write_study(tmp_path)
    read = read_study_folder(str(folder))
    begun = begin_with(read, "today", Wishes(), seed=7, bed={"router": "auto", "pinned": {}}, lanelab="0.1.0")
    create(tmp_path / "run", begun, read)
    return folder


def told_of(study: Path) -> list[str]:
    heard: list[Event] = []
    folder, about = study_to_go_on_with(str(study.parent / "run"), heard.append)
    assert (folder, about.study.name) == (study.parent / "run", "made")
    return [event.words for event in heard]


def test_an_edit_of_words_is_not_told(study: Path) -> None:
    (study / "two.yaml").write_text(f"# after a proof-reading\nname: far\n{texts()['two.yaml']}")
    assert told_of(study) == []


def test_an_edit_that_decides_is_told_with_how_the_run_differs(study: Path) -> None:
    (study / "two.yaml").write_text(texts()["two.yaml"].replace("rtt: 40ms", "rtt: 60ms"))
    (notice,) = told_of(study)
    assert "figure 2 was changed since this run began" in notice
    assert "goes on with its own copy, measured with other settings" in notice


@pytest.mark.parametrize(
    ("name", "text"), [("two.yaml", "sites: dummy\nlinks: ["), ("study.yaml", "title: too little\n")]
)
def test_an_edit_that_cannot_be_read_is_told_and_stops_nothing(study: Path, name: str, text: str) -> None:
    (study / name).write_text(text)
    (notice,) = told_of(study)
    assert name in notice
    assert "goes on with its own copies" in notice
