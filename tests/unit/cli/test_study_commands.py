"""lanelab study list, show and new, and the studies' runs in the list of runs."""

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml
from click.testing import CliRunner, Result

from lanelab.analysis.results.runs import find_run
from lanelab.analysis.results.study.runs import find_study_run, list_all_runs
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.main import lanelab
from lanelab.driver.experiment.shipped import EXPERIMENTS, STUDY_SCHEMA, studies
from lanelab.driver.run.study.read import read_study_folder
from tests.kit.made_run import Made, make_run
from tests.kit.made_study import make_study_run
from tests.kit.studies import STUDY, write_study


def run(*arguments: str) -> Result:
    return CliRunner().invoke(lanelab, ["study", *arguments], catch_exceptions=False, standalone_mode=False)


@pytest.fixture(scope="module")
def listed() -> list[dict[str, Any]]:
    """Every study, as `study list --json` has it."""
    studies_of_the_project: list[dict[str, Any]] = json.loads(run("list", "--json").stdout)
    return studies_of_the_project


def test_the_list_has_every_study_with_its_time(listed: list[dict[str, Any]]) -> None:
    assert [each["name"] for each in listed] == studies()
    for each in listed:
        assert not each["problem"]
        assert 0 < each["seconds"]["least"] <= each["seconds"]["most"]
    shown = run("list").stdout
    assert all(name in shown for name in studies())


def test_the_full_study_fits_in_ninety_minutes(listed: list[dict[str, Any]]) -> None:
    """On a machine of 2 cores: trials come one after the other."""
    (full,) = (each for each in listed if each["name"] == "spdy-vs-http-2012")
    assert full["seconds"]["most"] < 90 * 60


def test_a_study_is_shown_with_what_checks_each_claim(tmp_path: Path) -> None:
    folder = write_study(tmp_path)
    shown = run("show", str(folder)).stdout
    first = next(line for line in shown.splitlines() if "H2 is faster" in line)
    assert "1: faster-near" in first
    assert "2: faster-far" in shown
    assert "no user takes part" in shown
    assert "variant period (shown here)" in shown
    data = json.loads(run("show", str(folder), "--variant", "today", "--json").stdout)
    assert data["variant"] == "today"
    assert [figure["trials"]["most"] for figure in data["figures"]] == [4, 4]
    assert [claim["name"] for figure in data["figures"] for claim in figure["claims"]] == ["faster-near", "faster-far"]


def test_a_run_is_shown_with_its_figures_and_verdicts(tmp_path: Path) -> None:
    folder = make_study_run(tmp_path / "run", begun=[1], made=lambda _: Made(rounds=6, beds=3))
    data = json.loads(run("show", str(folder), "--json").stdout)
    assert [figure["state"] for figure in data["figures"]] == ["finished", "not begun"]
    assert {each["figure"] for each in data["verdicts"]} == {1}
    shown = run("show", str(folder)).stdout
    assert "not begun" in shown
    for each in data["verdicts"]:
        assert each["verdict"] in shown


def test_the_skeleton_is_a_study_with_a_claim_of_each_kind(tmp_path: Path) -> None:
    folder = tmp_path / "my-paper"
    run("new", str(folder))
    read = read_study_folder(str(folder))
    (experiment,) = read.experiments("then").values()
    assert {claim.kind for claim in experiment.claims} == {"change", "value", "trend", "spike", "contrast"}
    assert any(claim.equivalent for claim in experiment.claims)
    assert any(claim.quantifier == "every" for claim in experiment.claims)
    assert (
        sum(cost["seconds"]["most"] for cost in json.loads(run("show", str(folder), "--json").stdout)["figures"]) < 180
    )
    assert (folder / "README.md").read_text().startswith("# my-paper\n")


def test_the_skeleton_overwrites_nothing(tmp_path: Path) -> None:
    folder = write_study(tmp_path)
    with pytest.raises(InputError, match="is not empty"):
        run("new", str(folder))
    assert (folder / "study.yaml").read_text() == STUDY


def test_editors_take_what_is_read_and_refuse_what_is_not(tmp_path: Path) -> None:
    validator = jsonschema.Draft7Validator(json.loads(STUDY_SCHEMA.read_text()))
    run("new", str(tmp_path / "my-paper"))
    files = [tmp_path / "my-paper" / "study.yaml", *(EXPERIMENTS / name / "study.yaml" for name in studies())]
    for file in files:
        read_study_folder(str(file))
        assert not list(validator.iter_errors(_as_editors_read(file.read_text())))
    for right, wrong in (("title:", "titel:"), ("note:", "notes:"), ("  2: {file", "  two: {file")):
        assert list(validator.iter_errors(_as_editors_read(STUDY.replace(right, wrong))))


def _as_editors_read(text: str) -> object:
    """With keys that are texts."""
    return yaml.load(text, yaml.BaseLoader)  # noqa: S506 - the loader that makes texts of everything


def test_runs_of_studies_are_listed_with_those_of_experiments(tmp_path: Path) -> None:
    make_run(tmp_path / "a", Made(name="alone"))
    make_study_run(tmp_path / "b", begun=[1])
    lines = {line.folder.name: line for line in list_all_runs(tmp_path)}
    assert (lines["a"].kind, lines["a"].name) == ("experiment", "alone")
    study = lines["b"]
    assert (study.kind, study.name, study.state) == ("study", "study made-study period", "1 of 2 figures")
    assert study.trials == lines["a"].trials
    assert find_run("b/figure-1", tmp_path) == tmp_path / "b" / "figure-1"
    with pytest.raises(InputError, match=r"a study's run.*lanelab study show b"):
        find_run("b", tmp_path)


def test_the_newest_run_of_a_study_is_found_by_its_name(tmp_path: Path) -> None:
    first, second = (make_study_run(tmp_path / name, begun=[]) for name in ("first", "second"))
    about = json.loads((second / "study.json").read_text())
    (second / "study.json").write_text(json.dumps({**about, "created_utc": "2099-01-01T00:00:00.000Z"}))
    for name in ("latest", "made-study", "second", str(second)):
        assert find_study_run(name, tmp_path) == second
    assert find_study_run("first", tmp_path) == first
    with pytest.raises(InputError, match="Did you mean second"):
        find_study_run("secnd", tmp_path)
    with pytest.raises(InputError, match="there is no run of a study"):
        find_study_run("latest", tmp_path / "none")
    (tmp_path / "third").mkdir()
    with pytest.raises(InputError, match="begin again"):
        find_study_run(str(tmp_path / "third"), tmp_path)
