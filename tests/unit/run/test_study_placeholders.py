"""Words of the skeleton that nobody has replaced are told, wherever a reader would get them."""

from pathlib import Path

from click.testing import CliRunner

from lanelab.driver.cli.main import lanelab
from lanelab.driver.run.study.new import write_skeleton
from lanelab.driver.run.study.placeholders import unwritten
from lanelab.driver.run.study.read import read_study_folder
from lanelab.driver.run.study.run_folder import COPIES
from tests.kit.made_study import make_study_run
from tests.kit.studies import write_study


def told(folder: Path) -> str:
    return unwritten(folder, read_study_folder(str(folder)).study)


def test_a_skeleton_is_all_unwritten(tmp_path: Path) -> None:
    write_skeleton(tmp_path / "my-paper")
    words = told(tmp_path / "my-paper")
    for heading in ("What was done then", "Why each margin is what it is", "What differs"):
        assert heading in words
    assert "study.yaml (title, source, description)" in words


def test_what_is_written_is_told_no_more(tmp_path: Path) -> None:
    folder = tmp_path / "my-paper"
    write_skeleton(folder)
    readme, study = folder / "README.md", folder / "study.yaml"
    parts = readme.read_text().split("\n\n")
    readme.write_text("\n\n".join(part if part.startswith("#") else "My own words." for part in parts))
    study.write_text(study.read_text().replace("A made-up paper about HTTP/2", "Another title"))
    assert told(folder) == (
        "still in the words of the skeleton: study.yaml (description); reports and artifacts have them as they are"
    )


def test_a_study_of_its_own_is_not_told_anything(tmp_path: Path) -> None:
    assert told(write_study(tmp_path)) == ""


def test_show_and_report_tell_it(tmp_path: Path) -> None:
    write_skeleton(tmp_path / "my-paper")
    shown = CliRunner().invoke(lanelab, ["study", "show", str(tmp_path / "my-paper")], catch_exceptions=False)
    assert "mind: still in the words of the skeleton: README.md" in shown.stderr
    run = make_study_run(tmp_path / "run", begun=[1])
    copies = run / COPIES / "made-study"
    copies.mkdir(parents=True, exist_ok=True)
    (copies / "README.md").write_text((tmp_path / "my-paper" / "README.md").read_text())
    done = CliRunner().invoke(lanelab, ["study", "report", str(run)], catch_exceptions=False)
    assert "mind: still in the words of the skeleton: README.md (" in done.stderr
