"""Labs print commands that can be typed, and take a class no longer than they say."""

import re
import shlex
from pathlib import Path

import click
import pytest

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.cli.checkout_tools import has_command
from lanelab.driver.cli.main import lanelab
from lanelab.driver.experiment.read import read_experiment
from lanelab.driver.experiment.schedule.estimate import SiteLoad, estimate
from lanelab.driver.experiment.schedule.warnings import warnings
from lanelab.driver.site.load import load_site
from tests.kit.labs import Lab, classroom, labs

LONGEST_S = 180
PARTS = ("What you learn", "## Predict first", "## Run", "## Questions", "## Answers")
MADE = re.compile(r"(?:>|--output) (\S+)")  # files that a command makes, and later ones read


def ids(lab: Lab) -> str:
    return lab.name


def test_there_are_eight_labs() -> None:
    assert [lab.name[0] for lab in labs()] == list("12345678")
    index = (PROJECT / "docs" / "labs" / "README.md").read_text()
    assert all(lab.page.name in index for lab in labs())


@pytest.mark.parametrize("lab", labs(), ids=ids)
def test_a_lab_has_all_its_parts(lab: Lab) -> None:
    text = lab.page.read_text()
    assert [part for part in PARTS if part not in text] == []


@pytest.mark.parametrize("lab", labs(), ids=ids)
def test_every_command_can_be_typed(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    classroom(tmp_path)
    monkeypatch.chdir(tmp_path)
    commands = lab.commands()
    assert any("lanelab run" in command for command in commands)
    for command in commands:
        for part in re.split(r"[;&|]+", command):
            words = shlex.split(part, comments=True)
            if words[:1] == ["./lanelab"] and has_command(words[1]):  # one is `bench`, which needs a clone
                parse(words[1:])
            elif words and words[0].startswith("experiments/"):
                assert Path(words[0]).is_file(), words[0]
        for name in MADE.findall(command):
            Path(name).touch()


def parse(words: list[str]) -> None:
    """As the command line does, without running it. Raises click.UsageError."""
    command: click.Command = lanelab
    while isinstance(command, click.Group):
        assert words, "a group without a command"
        known = command.get_command(click.Context(command), words[0])
        assert known is not None, f"no command {words[0]}"
        command, words = known, words[1:]
    command.make_context(command.name, list(words))


@pytest.mark.parametrize("lab", labs(), ids=ids)
def test_its_experiments_take_a_class_no_longer_than_three_minutes(lab: Lab) -> None:
    files = sorted(lab.experiment.parent.glob(f"{lab.name[0]}-*.yaml"))
    assert lab.experiment in files
    for file in files:
        experiment = read_experiment(file)
        sites = {name: load_site(name) for name in experiment.sites}
        loads = {name: SiteLoad.of(site.objects, site.entry_host) for name, site in sites.items()}
        made = estimate(experiment, loads)
        assert made.most_seconds <= LONGEST_S, f"{file.name}: {made.most_seconds:.0f} s"
        assert not [words for words in warnings(experiment, made) if "too few" in words]
