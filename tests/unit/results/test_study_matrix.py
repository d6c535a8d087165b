"""The matrix of all studies: each statement with the verdicts of each variant, and a way to each figure."""

import hashlib
import html
import json
import re
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from lanelab.analysis.results.layout.model import Cell, Section, Table
from lanelab.analysis.results.study.run import read_study_run
from lanelab.driver.api.artifacts import write_artifact
from lanelab.driver.api.study_matrix import INDEX, StudyMatrix, study_matrix
from lanelab.driver.base.errors import InputError
from lanelab.driver.run.study.study import STUDY_RUN_FILE
from tests.kit.made_run import Made
from tests.kit.made_study import OF_STUDY, make_packable_run, make_study_run, study, with_copies


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
    assert_links_lead_somewhere(page)


def test_what_cannot_be_read_is_named_and_left_out(runs: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(runs, tmp_path / "runs"))
    (folder / "second" / STUDY_RUN_FILE).write_text("{")
    matrix = study_matrix(runs=folder)
    assert [run.read.folder.name for run in matrix.matrix.runs] == ["new"]
    assert "second" in matrix.unreadable[0]


def test_without_a_run_it_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run of a study"):
        study_matrix(runs=tmp_path / "none")


# --- figures of several runs


def dated(folder: Path, day: str, *, begun: Sequence[int] | None = None, stopped: int = 0, says: str = "") -> Path:
    """A run that began on that day. `stopped`: the figure that did not come to its end; `says`: its first statement."""
    states = {stopped: "stopped"}
    make_study_run(folder, begun=begun, made=lambda number: Made(state=states.get(number, "finished")))
    text = (folder / STUDY_RUN_FILE).read_text()
    text = re.sub(r'"created_utc": "[^"]*"', f'"created_utc": "{day}T08:00:00.000Z"', text)
    (folder / STUDY_RUN_FILE).write_text(text.replace(study().claims[0].says, says) if says else text)
    return folder


def published_in(section: Section) -> list[Cell]:
    (statements,) = (part for part in section.parts if isinstance(part, Table))
    return [row.cells[1] for row in statements.rows]


def taken(matrix: StudyMatrix) -> dict[str, list[int]]:
    return {Path(run["run"]).name: run["figures"] for run in matrix.to_json()["runs"]}


def checks(matrix: StudyMatrix) -> dict[int, str]:
    """Each figure that checks something, with the day of the run that it is of."""
    (one,) = matrix.to_json()["studies"]
    several = [check for claim in one["claims"] for each in claim["variants"].values() for check in each["checks"]]
    return {check["figure"]: check["begun_utc"][:10] for check in several}


def test_a_figure_that_the_newest_run_lacks_is_of_the_one_before(tmp_path: Path) -> None:
    dated(tmp_path / "runs" / "oldest", "2026-01-02")
    dated(tmp_path / "runs" / "older", "2026-03-04")
    dated(tmp_path / "runs" / "newest", "2026-05-06", begun=[1])
    matrix = study_matrix(runs=tmp_path / "runs")
    assert taken(matrix) == {"newest": [1], "older": [2]}
    assert checks(matrix) == {1: "2026-05-06", 2: "2026-03-04"}
    assert "(figure 2 of 4 March 2026)" in matrix.markdown()
    assert "(figure 1 of" not in matrix.markdown()


def test_a_figure_whose_experiment_was_changed_since_says_so(tmp_path: Path) -> None:
    older = dated(tmp_path / "older", "2026-03-04")
    newest = dated(tmp_path / "newest", "2026-05-06", begun=[1])
    told = "(figure 2 of 4 March 2026, and its experiment was changed since)"
    assert told not in study_matrix([older, newest]).markdown()
    about = json.loads((older / STUDY_RUN_FILE).read_text())
    about["figures"][1]["experiment_sha256"] = "1" * 64
    (older / STUDY_RUN_FILE).write_text(json.dumps(about))
    matrix = study_matrix([older, newest])
    assert told in matrix.markdown()
    (one,) = matrix.to_json()["studies"]
    several = [check for claim in one["claims"] for each in claim["variants"].values() for check in each["checks"]]
    assert {check["figure"]: check["experiment_changed"] for check in several} == {1: False, 2: True}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("trials: 8", "trials: 8  # as then", ""),
        ("H2 is faster", "HTTP/2 makes pages faster", ""),
        ("trials: 8", "trials: 20", ", measured with fewer rounds, 8 instead of 20"),
        ("timeout: 40s", "timeout: 50s", ", measured with other settings"),
    ],
)
def test_a_figure_says_how_its_experiment_was_changed_since(tmp_path: Path, before: str, after: str, said: str) -> None:
    text = f"{OF_STUDY}timeout: 40s\n"
    older = with_copies(dated(tmp_path / "older", "2026-03-04"), text)
    newest = with_copies(dated(tmp_path / "newest", "2026-05-06", begun=[1]), text.replace(before, after))
    matrix = study_matrix([older, newest])
    assert f"(figure 2 of 4 March 2026{said})" in matrix.markdown()
    (one,) = matrix.to_json()["studies"]
    several = [check for claim in one["claims"] for each in claim["variants"].values() for check in each["checks"]]
    assert {check["figure"]: check["experiment_changed"] for check in several} == {1: False, 2: bool(said)}


def test_a_run_with_fewer_trials_than_its_experiment_asks_for_says_so(tmp_path: Path) -> None:
    older = with_copies(dated(tmp_path / "older", "2026-03-04"))
    newest = with_copies(dated(tmp_path / "newest", "2026-05-06", begun=[1]))
    about = json.loads((older / STUDY_RUN_FILE).read_text())
    (older / STUDY_RUN_FILE).write_text(json.dumps({**about, "trials": 3}))
    said = "(figure 2 of 4 March 2026, measured with fewer rounds, 3 instead of 8)"
    assert said in study_matrix([older, newest]).markdown()


def test_what_was_published_is_told_of_checks_of_any_variant(tmp_path: Path) -> None:
    """Also where the first variant has not run the figure that checks it."""
    first, second = list(study().variants)[:2]
    none, whole = dated(tmp_path / "none", "2026-05-06", begun=[]), dated(tmp_path / "whole", "2026-03-04")
    about = whole / STUDY_RUN_FILE
    about.write_text(about.read_text().replace(f'"variant": "{first}"', f'"variant": "{second}"'))
    of_both, of_one = (published_in(study_matrix(runs).matrix.section()) for runs in ([none, whole], [whole]))
    assert of_both == of_one
    assert of_both[0], "something was published"


def test_a_figure_that_did_not_end_gives_way_to_one_that_did(tmp_path: Path) -> None:
    older = dated(tmp_path / "older", "2026-03-04")
    newest = dated(tmp_path / "newest", "2026-05-06", stopped=2)
    assert taken(study_matrix([older, newest])) == {"newest": [1], "older": [2]}
    assert taken(study_matrix([newest])) == {"newest": [1, 2]}, "there is no other"


def test_an_earlier_run_of_another_statement_says_nothing_of_this_one(tmp_path: Path) -> None:
    older = dated(tmp_path / "older", "2026-03-04", says="H2 makes pages slower")
    newest = dated(tmp_path / "newest", "2026-05-06", begun=[1])
    assert checks(study_matrix([older, newest])) == {1: "2026-05-06"}


def test_a_figure_that_was_another_experiment_then_is_left_out_and_named(tmp_path: Path) -> None:
    oldest = dated(tmp_path / "oldest", "2026-01-02")
    older = dated(tmp_path / "older", "2026-03-04")
    about = older / STUDY_RUN_FILE
    about.write_text(about.read_text().replace('"file": "figure-2.yaml"', '"file": "before.yaml"'))
    newest = dated(tmp_path / "newest", "2026-05-06", begun=[1])
    said = "figure 2 of 4 March 2026 is left out: it was another experiment then (before.yaml, and now figure-2.yaml)"
    alone = study_matrix([older, newest])
    assert taken(alone) == {"newest": [1]}
    assert checks(alone) == {1: "2026-05-06"}
    assert said in " ".join(alone.markdown().split())
    assert said in alone.write(tmp_path / "public").read_text()
    assert taken(study_matrix([oldest, older, newest])) == {"newest": [1], "oldest": [2]}, "which had the same"
    assert "left out" not in study_matrix([oldest, newest]).markdown()


def test_each_run_leads_to_its_report(tmp_path: Path) -> None:
    older = dated(tmp_path / "older", "2026-03-04")
    newest = dated(tmp_path / "newest", "2026-05-06", begun=[1])
    matrix = study_matrix([older, newest])
    page = matrix.write(tmp_path / "public")
    reports = {run["report"] for run in matrix.to_json()["runs"]}
    assert len(reports) == 2
    for report in reports:
        assert f'href="{report}"' in page.read_text()
        assert (page.parent / report).is_file()
    assert_links_lead_somewhere(page)


def assert_links_lead_somewhere(page: Path) -> None:
    links = [html.unescape(href) for href in re.findall(r'href="([^"#]+#[^"]+)"', page.read_text())]
    assert links
    for link in links:
        name, _, part = link.partition("#")
        assert f'id="{html.escape(part)}"' in (page.parent / name).read_text(), link


# --- artifacts


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("theirs")
    run = make_packable_run(folder / "run", lambda _: Made(rounds=8, id="of a lab"), began="2026-05-06T08:00:00.000Z")
    return write_artifact(read_study_run(run), folder / "theirs.tar.gz").file


@pytest.fixture(autouse=True)
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))


def test_a_run_may_be_an_artifact_of_another_machine(packed: Path, tmp_path: Path) -> None:
    here = make_packable_run(tmp_path / "here", lambda _: Made(id="of mine"), began="2026-01-02T08:00:00.000Z")
    matrix = study_matrix([here, packed])
    (run,) = matrix.to_json()["runs"]
    digest = hashlib.sha256(packed.read_bytes()).hexdigest()
    assert (run["run"], run["artifact_sha256"], run["ids"]) == (str(packed), digest, ["of a lab"])
    assert (run["begun_utc"], run["lanelab"]) == ("2026-05-06T08:00:00.000Z", "0.1.0")
    page = matrix.write(tmp_path / "public")
    for said in (digest, "of a lab", packed.name, "6 May 2026", "0.1.0"):
        assert said in page.read_text(), said
    assert str(packed.parent) not in page.read_text(), "where it lies here is nobody's affair"
    assert_links_lead_somewhere(page)


def test_it_is_read_again_from_what_was_unpacked(packed: Path) -> None:
    first, second = study_matrix([packed]), study_matrix([packed])
    assert first.to_json() == second.to_json()


def test_an_artifact_with_another_content_than_it_says_is_left_out(packed: Path, tmp_path: Path) -> None:
    here = make_packable_run(tmp_path / "here", lambda _: Made(), began="2026-01-02T08:00:00.000Z")
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(packed.read_bytes()[:-2000])
    matrix = study_matrix([here, cut])
    assert [run["run"] for run in matrix.to_json()["runs"]] == [str(here)]
    assert "cut.tar.gz" in matrix.unreadable[0]
    with pytest.raises(InputError, match="among what was named"):
        study_matrix([cut])


def test_what_was_unpacked_and_changed_since_is_left_out(packed: Path, tmp_path: Path) -> None:
    study_matrix([packed])
    (database,) = tmp_path.glob("build/artifacts/*/artifact/run/figure-1/run.sqlite")
    connection = sqlite3.connect(database)
    with closing(connection), connection:
        connection.execute("UPDATE measures SET value = value / 2")
    with pytest.raises(InputError, match="is not what was stored"):
        study_matrix([packed])
