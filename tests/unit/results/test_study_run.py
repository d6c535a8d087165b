"""Reading the folder of a study's run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lanelab.analysis.results.study.run import read_study_run
from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.run.study.study import STUDY_RUN_FILE
from tests.kit.made_run import make_run
from tests.kit.made_study import make_study_run


def test_each_figure_has_its_run_and_one_that_has_not_begun_has_none(tmp_path: Path) -> None:
    read = read_study_run(make_study_run(tmp_path / "study", begun=[1]))
    first = read.runs[1]
    assert list(read.runs) == [1, 2]
    assert first is not None
    assert [claim.name for claim in first.claims] == ["h2-faster-1", "connections-1"]
    assert first.variant == read.about.variant == "period"
    assert read.runs[2] is None
    assert read.figure(2).title == "Load times, part 2"


def test_what_is_no_study_s_run_is_refused_with_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="is not the folder of a study's run"):
        read_study_run(tmp_path / "empty")
    with pytest.raises(InputError, match="there is no folder"):
        read_study_run(tmp_path / "missing")
    with pytest.raises(InputError, match="is the run of an experiment, and not of a study"):
        read_study_run(make_run(tmp_path / "run"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: {**data, "format": 99}, "has format 99, and this lanelab reads and writes format 2"),
        (lambda data: {key: data[key] for key in data if key != "format"}, "has format none"),
        (lambda data: {key: data[key] for key in data if key != "variant"}, "variant is missing"),
        (lambda data: {**data, "figures": [{**data["figures"][0], "figure": 7}]}, "no figure 7"),
        (lambda data: {**data, "figures": [{**data["figures"][0], "folder": "../else"}]}, "'../else'"),
    ],
)
def test_a_damaged_file_is_named_with_what_is_wrong(
    tmp_path: Path, change: Callable[[dict[str, Any]], dict[str, Any]], words: str
) -> None:
    path = make_study_run(tmp_path / "study", begun=[]) / STUDY_RUN_FILE
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(StoreError, match=r"study\.json") as caught:
        read_study_run(path.parent)
    assert words in str(caught.value)


def test_a_file_that_was_cut_short_is_named_with_its_line(tmp_path: Path) -> None:
    path = make_study_run(tmp_path / "study", begun=[]) / STUDY_RUN_FILE
    path.write_text(path.read_text()[:200])
    with pytest.raises(StoreError, match=r"study\.json, line \d+: this is not JSON"):
        read_study_run(path.parent)
