"""The guide "Reproduce a paper": its quick commands do as printed what it says, and its YAML is read."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.cli.main import lanelab
from lanelab.driver.run.study.read import parse_study, read_study_folder

GUIDE = (PROJECT / "docs" / "reproduce-a-paper.md").read_text()
COMMANDS = re.findall(r"^    \./lanelab (.*)$", GUIDE, re.MULTILINE)
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
SLOW = ("study run", "study report", "study show latest", "study matrix")  # of a bed, or of a run


def test_its_quick_commands_work_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    quick = [command for command in COMMANDS if not command.startswith(SLOW)]
    assert [command.split()[0] for command in quick] == ["study", "study", "sites", "site", "plan"]
    for command in quick:
        done = CliRunner().invoke(lanelab, shlex.split(command), standalone_mode=False)
        assert done.exception is None, (command, done.exception)
    assert (tmp_path / "my-paper" / "README.md").is_file()


def test_its_parts_of_an_experiment_are_those_of_the_skeleton(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Laid over the skeleton one by one, each is read."""
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(lanelab, ["study", "new", "my-paper"], standalone_mode=False)
    file = tmp_path / "my-paper" / "figure-1.yaml"
    skeleton = file.read_text()
    parts = [block for block in BLOCKS if not block.startswith("title:")]
    assert len(parts) == 5
    for part in parts:
        text = skeleton
        for key in re.findall(r"^(\w+):", part, re.MULTILINE):
            section = re.compile(rf"^{key}:.*?(?=^\w|\Z)", re.MULTILINE | re.DOTALL)
            assert section.search(text), key
            whole = re.search(rf"^{key}:.*?(?=^\w|\Z)", part, re.MULTILINE | re.DOTALL)
            assert whole
            text = section.sub(lambda _, new=whole[0]: new + "\n", text, count=1)  # type: ignore[misc]
        file.write_text(text if not part.startswith("claims:") else _others_noted(text, tmp_path))
        assert read_study_folder("my-paper").study.name == "my-paper"


def _others_noted(text: str, above: Path) -> str:
    """The guide shows one claim: the study says of the others why nothing checks them."""
    study = above / "my-paper" / "study.yaml"
    noted = re.sub(r"^  ([2-5]): (.*)$", r"  \1: {says: '\2', note: not here}", study.read_text(), flags=re.MULTILINE)
    study.write_text(noted)
    return text


def test_its_study_is_read() -> None:
    (block,) = (block for block in BLOCKS if block.startswith("title:"))
    study = parse_study(block, "study.yaml", "my-paper").study
    assert [claim.number for claim in study.claims] == [1, 2]
    assert study.claims[1].note
