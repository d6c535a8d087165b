"""Studies are read strictly: whatever is wrong is told with its file, its line and its key."""

from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.shipped import studies
from lanelab.driver.run.study.read import find_study, read_study_folder
from lanelab.driver.run.study.study import Difference, PublishedClaim, StudyFigure, published_number
from tests.kit.studies import texts, write_study


def test_a_study_is_read_with_its_experiments(tmp_path: Path) -> None:
    read = read_study_folder(str(write_study(tmp_path)))
    study = read.study
    assert (study.name, study.title) == ("made", "Made for tests")
    assert dict(study.variants) == {"period": "the software of then", "today": "that of today"}
    assert study.figures == (
        StudyFigure(1, "The first figure", "one.yaml", ""),
        StudyFigure(2, "The second figure", "two.yaml", "without numbers"),
    )
    assert study.claims == (
        PublishedClaim(1, "H2 is faster", ""),
        PublishedClaim(2, "Users are happier", "no user takes part"),
    )
    assert study.differences == (Difference("browser", "Chromium 20", "Chromium 140", "fewer connections"),)
    period, today = read.experiments("period"), read.experiments("today")
    assert [str(one.links[0].link.server.initial_window) for one in period.values()] == ["3", "3"]
    assert [one.claims[0].name for one in today.values()] == ["faster-near", "faster-far"]


def test_it_is_found_by_its_folder_and_by_its_file(tmp_path: Path) -> None:
    folder = write_study(tmp_path)
    assert find_study(str(folder)) == find_study(str(folder / "study.yaml")) == folder


@pytest.mark.parametrize("name", studies())
def test_those_that_are_shipped_can_be_read(name: str) -> None:
    study = read_study_folder(name).study
    assert study.name == name
    assert study.figures
    assert study.claims


WRONG = [
    ("study.yaml", "title: Made for tests\n", "", "study.yaml:1: title is missing"),
    ("study.yaml", "claims:\n", "claim:\n", "study.yaml:7: claim: there is no such key. Did you mean claims?"),
    ("study.yaml", "title: Made for tests", "title: ' '", "study.yaml:1: title: it has no words"),
    ("study.yaml", "  2: {file", "  two: {file", "study.yaml:6: figures.two: 'two' is no number"),
    ("study.yaml", "  2: {file", "  1: {file", "study.yaml:6: figures.1: it is written twice"),
    ("study.yaml", "  2: {file", "  02: {file", "study.yaml:6: figures.02: '02' is no number"),
    ("study.yaml", "two.yaml", "twoo.yaml", "study.yaml:6: figures.2.file: there is no file 'twoo.yaml'"),
    ("study.yaml", "two.yaml", "one.yaml", "study.yaml:6: figures.2.file: one.yaml is the experiment of figure 1, too"),
    ("study.yaml", "two.yaml", "../two.yaml", "study.yaml:6: figures.2.file: '../two.yaml' is no name of a file"),
    ("study.yaml", "caption:", "captoin:", "study.yaml:6: figures.2.captoin: there is no such key. Did you mean ca"),
    ("study.yaml", ", note: no user takes part", "", "study.yaml:9: claims.2: no experiment has a claim that refers"),
    ("study.yaml", ", effect: fewer connections", "", "effect is missing"),
    ("study.yaml", ", today: that of today", "", "one.yaml:5: variants: the experiment has the variants period, today"),
    ("two.yaml", "  today: {}\n", "", "two.yaml:5: variants: the experiment has the variants period, and study.yaml"),
    ("two.yaml", "faster-far", "faster-near", "two.yaml:11: claims.faster-near: the study has a claim of this name"),
    ("two.yaml", "made#1", "made#3", "two.yaml:12: claims.faster-far.source: the study has no claim '3'"),
    ("two.yaml", "made#1", "mode#1", "two.yaml:12: claims.faster-far.source: it refers to the study 'mode'"),
    ("two.yaml", "made#1", "made#", "two.yaml:12: claims.faster-far.source: the study has no claim ''"),
    ("two.yaml", "of: h2", "of: h3", "two.yaml:13: claims.faster-far.change.of: there is no arm 'h3'"),
    (
        "two.yaml",
        "initial_window: 3",
        "initial_windw: 3",
        "two.yaml:6: links.initial_windw: there is no such setting. Did",
    ),
]


@pytest.mark.parametrize(("file", "right", "wrong", "told"), WRONG)
def test_what_is_wrong_is_told_where_it_is_written(
    tmp_path: Path, file: str, right: str, wrong: str, told: str
) -> None:
    files = texts()
    assert right in files[file]
    folder = write_study(tmp_path, {**files, file: files[file].replace(right, wrong)})
    with pytest.raises(InputError) as error:
        read_study_folder(str(folder))
    assert told in str(error.value)
    assert str(folder) in str(error.value)


def test_a_variant_is_wrong_also_where_it_is_not_the_first(tmp_path: Path) -> None:
    files = texts()
    wrong = files["two.yaml"].replace("today: {}", "today: {arms: {h3: {}}}")
    with pytest.raises(InputError, match=r"two\.yaml:7: .*there is no arm 'h3'"):
        read_study_folder(str(write_study(tmp_path, {**files, "two.yaml": wrong})))


def test_a_claim_may_be_about_nothing_that_was_published(tmp_path: Path) -> None:
    files = texts()
    own = files["two.yaml"].replace("source: made#1", "source: our own, see README.md")
    assert read_study_folder(str(write_study(tmp_path, {**files, "two.yaml": own})))


def test_unknown_studies_are_told_with_the_near_miss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="Did you mean spdy-vs-http-2012"):
        read_study_folder("spdy-vs-htp-2012")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"the folder empty has no study\.yaml.*lanelab study new"):
        read_study_folder("empty")


def test_sources_that_refer_to_a_published_claim() -> None:
    assert [published_number(text) for text in ("made#12", " made#1 ", "the text", "made#", "")] == [
        12, 1, None, None, None
    ]  # fmt: skip
