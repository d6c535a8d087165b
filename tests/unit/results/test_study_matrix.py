"""The matrix of all studies: each statement with the verdicts of each variant, and a way to each figure."""

import html
import re
import shutil
from pathlib import Path

import pytest

from lanelab.driver.api.study_matrix import INDEX, study_matrix
from lanelab.driver.base.errors import InputError
from lanelab.driver.run.study.study import STUDY_RUN_FILE
from tests.kit.made_study import make_study_run, study


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first variant whole, the second with its first figure alone, and an older run of the first."""
    folder = tmp_path_factory.mktemp("matrix") / "runs"
    folder.mkdir()
    first, second = list(study().variants)[:2]
    make_study_run(folder / "new")
    for name, begun, begins, variant in (("old", None, "2020", first), ("second", [1], "2026", second)):
        run = make_study_run(folder / name, begun=begun) / STUDY_RUN_FILE
        text = run.read_text().replace(f'"variant": "{first}"', f'"variant": "{variant}"')
        run.write_text(re.sub(r'"created_utc": "\d{4}', f'"created_utc": "{begins}', text))
    return folder


def test_each_statement_has_the_verdicts_of_each_variant(runs: Path) -> None:
    matrix = study_matrix(runs=runs)
    first, second = list(study().variants)[:2]
    (one,) = matrix.to_json()["studies"]
    assert [claim["number"] for claim in one["claims"]] == [claim.number for claim in study().claims]
    assert all(set(claim["variants"]) == {first, second} for claim in one["claims"])
    checks = [check for claim in one["claims"] for check in claim["variants"][first]["checks"]]
    assert {check["figure"] for check in checks} == {1, 2}
    fewer = [check for claim in one["claims"] for check in claim["variants"][second]["checks"]]
    assert {check["figure"] for check in fewer} == {1}
    assert any(claim["variants"][second]["standing"] == "not checked" for claim in one["claims"])
    assert "not checked" in str(matrix)
    assert study().title in str(matrix)


def test_of_several_runs_the_newest_counts(runs: Path) -> None:
    folders = {Path(run.read.folder).name for run in study_matrix(runs=runs).matrix.runs}
    assert folders == {"new", "second"}
    named = study_matrix([runs / "old"]).matrix.runs
    assert [run.read.folder.name for run in named] == ["old"]


def test_each_verdict_of_the_page_leads_to_one_of_a_report(runs: Path, tmp_path: Path) -> None:
    page = study_matrix(runs=runs).write(tmp_path / "public")
    assert page == tmp_path / "public" / INDEX
    links = [html.unescape(href) for href in re.findall(r'href="([^"#]+#[^"]+)"', page.read_text())]
    assert links
    for link in links:
        name, _, part = link.partition("#")
        assert f'id="{html.escape(part)}"' in (page.parent / name).read_text(), link


def test_what_cannot_be_read_is_named_and_left_out(runs: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(runs, tmp_path / "runs"))
    (folder / "second" / STUDY_RUN_FILE).write_text("{")
    matrix = study_matrix(runs=folder)
    assert [run.read.folder.name for run in matrix.matrix.runs] == ["new"]
    assert "second" in matrix.unreadable[0]


def test_without_a_run_it_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run of a study"):
        study_matrix(runs=tmp_path / "none")
