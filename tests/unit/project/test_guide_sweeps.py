"""The guide "From a laptop to a cluster": its commands follow from one another, and what it quotes is what is said."""

import re
import shlex
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.cli.main import lanelab
from lanelab.driver.run.events import Event
from lanelab.driver.run.sweep.events import LinkRefused, MachineDiffers, WorkerLeft, WorkerRefused
from lanelab.driver.run.sweep.own_scheduler import INVITATION

GUIDE = (PROJECT / "docs" / "laptop-to-cluster.md").read_text()
COMMANDS = [shlex.split(words) for words in re.findall(r"^    \./lanelab (.*)$", GUIDE, re.MULTILINE)]
PYTHON, YAML = (re.findall(rf"^```{name}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL) for name in ("python", "yaml"))


def test_its_plans_work_as_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)
    plans = [command for command in COMMANDS if command[0] == "plan"]
    assert ["--workers", "2"] in [command[-2:] for command in plans]
    for command in plans:
        done = CliRunner().invoke(lanelab, command, standalone_mode=False)
        assert done.exception is None, (command, done.exception)
        assert ("on 2 beds at once" in done.output) == ("--workers" in command)


def test_files_that_it_names_are_there_or_made_by_a_command_before() -> None:
    made: set[str] = set()
    for command in COMMANDS:
        for word in command:
            if word.startswith("experiments/"):
                assert (PROJECT / word).is_file(), word
        if command[0] == "run" and "--out" in command:
            made.add(command[command.index("--out") + 1])
        if command[0] in ("compare", "report", "merge"):
            if command[0] == "merge":
                made.add(command[command.index("--out") + 1])
            named = {word for word in command if word.startswith("runs/")}
            assert named <= made, command
    for run in re.findall(r"\b(runs/\w+)/cluster/", GUIDE):
        assert run in made
    assert f"runs/grid/cluster/{INVITATION}" in GUIDE


def test_a_run_that_goes_on_listens_where_it_did() -> None:
    listening = [command[command.index("--listen") + 1] for command in COMMANDS if "--listen" in command]
    assert len(listening) >= 3
    assert len(set(listening)) == 1


@pytest.mark.parametrize(
    "event",
    [
        WorkerLeft("w", "lab1/1", "…", portion_lost=True),
        WorkerRefused("w", "lab1/1", "…", ""),
        LinkRefused("w", "lab1/1", "20ms", "…"),
        MachineDiffers("lab2", "…"),
    ],
)
def test_lines_that_it_explains_are_those_that_are_printed(event: Event) -> None:
    assert f"| `{event.words}` |" in GUIDE


def test_its_configurations_can_be_read() -> None:
    (script,) = PYTHON
    compile(script, "guide", "exec")
    (deployment,) = (yaml.safe_load(text) for text in YAML)
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    words = container["command"]
    assert words[0] == "./lanelab"
    context = lanelab.commands["worker"].make_context("worker", words[2:])
    mounted = container["volumeMounts"][0]["mountPath"]
    assert Path(context.params["scheduler"]).parent == Path(mounted)
