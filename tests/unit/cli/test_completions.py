"""What a shell offers while a command is typed, request for as shells ask."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from lanelab.driver.api.sample import unpacked
from lanelab.driver.cli.completed import FILE, commands
from lanelab.driver.cli.main import main
from lanelab.driver.run.study.study import STUDY_RUN_FILE
from tests.kit.skipping import needs_checkout
from tools.completion_table import table_text


def offered(*words: str, incomplete: str = "") -> list[str]:
    shell = ShellComplete(commands(), {}, "lanelab", "_LANELAB_COMPLETE")
    return [item.value for item in shell.get_completions(list(words), incomplete)]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with the sample as a run, one that is damaged, and a study's."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "runs"
    shutil.copytree(unpacked(), folder / "far", ignore=shutil.ignore_patterns("trials"))
    (folder / "broken").mkdir()
    (folder / "broken" / "run.sqlite").write_text("no database")
    (folder / "paper").mkdir()
    (folder / "paper" / STUDY_RUN_FILE).write_text("{}")
    return folder


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("command", ["show", "export", "report", "verify", "claims", "packets", "compare", "merge"])
def test_runs(command: str) -> None:
    assert offered(command) == ["latest", "broken", "far"]
    assert offered(command, incomplete="f") == ["far"]


@pytest.mark.usefixtures("runs")
def test_a_run_is_offered_once() -> None:
    assert offered("compare", "far") == ["latest", "broken"]


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("run", ["far", "latest", "sample", "runs/far"])
def test_trials_cells_and_arms_are_those_of_the_run(run: str) -> None:
    assert offered("show", run, "--trial", incomplete="12") == ["12"]
    assert offered("explain", run, incomplete="HTTP") == ["HTTP without keepalive", "HTTP", "HTTP/2"]
    assert "cricinfo-mobile-2012, 100ms, HTTP/2" in offered("explain", run, incomplete="cri")
    assert offered("explain", run, "HTTP") == ["HTTP without keepalive", "HTTP/2"]
    assert len(offered("packets", run, "--cell")) == 6


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("words", [["broken", "--trial"], ["nowhere", "--trial"], ["--trial"]])
def test_nothing_is_offered_where_nothing_can_be_read(words: list[str]) -> None:
    assert offered("show", *words) == []


def test_nothing_is_offered_where_there_is_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert offered("show") == []
    assert offered("show", "latest", "--trial") == []


@pytest.mark.usefixtures("runs")
def test_studies_their_runs_figures_and_variants() -> None:
    study = "spdy-vs-http-2012"
    assert offered("study", "run", incomplete="spdy-vs") == [study]
    assert offered("study", "report") == ["latest", "paper"]
    assert {study, "paper"} <= set(offered("study", "show"))
    assert offered("study", "run", study, "--figure", incomplete="4") == ["4"]
    assert "today" in offered("study", "run", study, "--variant")


def test_experiments() -> None:
    assert offered("run", incomplete="quick") == ["quickstart", "quick"]  # and the files that begin so
    assert "labs/1-slow-start" in offered("plan")
    assert offered("run", "http3", "--variant") == []


def test_variants_of_an_experiment(tmp_path: Path) -> None:
    file = tmp_path / "experiment.yaml"
    file.write_text("variants: {then: {}, today: {}}\n")
    assert offered("run", str(file), "--variant") == ["then", "today"]
    assert offered("plan", str(file), "--variant", incomplete="to") == ["today"]


@pytest.mark.parametrize("command", ["show", "verify", "remove", "minify", "diff", "fetch"])
def test_sites(command: str) -> None:
    assert offered("site", command, incomplete="dum") == ["dummy"]


@needs_checkout  # which has more commands
def test_the_table_is_what_the_commands_have() -> None:
    assert FILE.read_text() == table_text(), "build/env/bin/python -m tools.reference writes it again"


def ask(monkeypatch: pytest.MonkeyPatch, words: str, number: int, request: str = "bash_complete") -> int:
    for name, value in (("_LANELAB_COMPLETE", request), ("COMP_WORDS", words), ("COMP_CWORD", str(number))):
        monkeypatch.setenv(name, value)
    return main()


@pytest.mark.usefixtures("runs")
def test_bash_gets_names_as_its_script_reads_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(monkeypatch, r"lanelab explain far HTTP\ w", 3) == 0
    assert capsys.readouterr().out == "plain,HTTP\\\\ without\\\\ keepalive\n"


@pytest.mark.usefixtures("runs")
def test_zsh_gets_what_an_offer_is_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(monkeypatch, "lanelab study run spdy-vs-http-2012 --variant ", 5, "zsh_complete") == 0
    assert [len(line) <= 70 for line in capsys.readouterr().out.splitlines()] == [True] * 6  # type, name, words of two


@pytest.mark.parametrize("shell", ["bash_complete", "nonsense", "tcsh_source", ""])
def test_whatever_is_asked_there_is_no_message(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(monkeypatch, "lanelab nonsense --more 'of", 99, shell) in (0, 1)
    assert "rror" not in "".join(capsys.readouterr())


def test_an_answer_imports_little() -> None:
    program = "import sys; from lanelab.driver.cli.main import main; main(); print(*sys.modules, file=sys.stderr)"
    request = {"_LANELAB_COMPLETE": "bash_complete", "COMP_WORDS": "lanelab run --", "COMP_CWORD": "2"}
    environment = {**os.environ, **request}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert "plain,--variant" in done.stdout
    assert not {"rich", "yaml", "sqlite3", "lanelab.analysis", "lanelab.driver.trial"} & set(done.stderr.split())
