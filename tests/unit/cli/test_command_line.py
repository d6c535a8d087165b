"""The command line as a process of its own."""

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from lanelab.driver.base.configuration import PROJECT
from lanelab.driver.cli.lazy import LONGEST_LINE, LazyGroup
from lanelab.driver.cli.main import lanelab


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_do_no_harm(closed: str) -> None:
    words = [sys.executable, "-m", "lanelab.driver.cli", "link", "list", "--json"]
    argv = ["sh", "-c", f'exec "$@" {closed}', "sh", *words]
    done = subprocess.run(argv, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (">&-" in closed.replace("2>&-", "")) == (done.stdout == "")


def groups(command: click.Command, path: str = "lanelab") -> Iterator[tuple[str, LazyGroup]]:
    if isinstance(command, LazyGroup):
        yield path, command
        for name, below in command.commands.items():
            yield from groups(below, f"{path} {name}")


@pytest.mark.parametrize(("path", "group"), list(groups(lanelab)), ids=str)
def test_a_command_is_where_its_group_says_and_has_a_line_that_a_terminal_shows_whole(
    path: str, group: LazyGroup
) -> None:
    for name, command in group.commands.items():
        assert isinstance(command, click.Command), f"{path} {name}"
        line, sentence = group.table[name][1], command.get_short_help_str(1000)
        assert len(line) <= LONGEST_LINE, f"{path} {name}"
        assert line == sentence or len(sentence) > LONGEST_LINE - 5, f"{path} {name}: {sentence}"


def test_help_and_a_wrong_name_import_no_command() -> None:
    program = """
import sys
from lanelab.driver.cli.main import main
sys.argv = ["lanelab", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
rooms = ("lanelab.driver.", "lanelab.analysis", "tools", "rich")
loaded = {name for name in sys.modules if name.startswith(rooms) and not name.startswith("lanelab.driver.base")}
print("loaded:", *sorted(loaded))
"""
    own = ("", ".checkout_tools", ".completed", ".completions", ".lazy", ".main")
    loaded = " ".join(["loaded:", *(f"lanelab.driver.cli{name}" for name in own)])
    for word in ("--help", "shwo"):
        argv = [sys.executable, "-c", program, word]
        done = subprocess.run(argv, cwd=PROJECT, capture_output=True, text=True, check=False)
        assert done.stdout.splitlines()[-1:] == [loaded], done.stdout + done.stderr
    assert "Did you mean" in done.stderr


def test_completion_offers_names_with_their_lines() -> None:
    done = CliRunner().invoke(lanelab, [], env={
        "_LANELAB_COMPLETE": "zsh_complete", "COMP_WORDS": "lanelab expo", "COMP_CWORD": "1",
    }, prog_name="lanelab", complete_var="_LANELAB_COMPLETE")  # fmt: skip
    assert done.output.splitlines()[:2] == ["plain", "export"]


@pytest.mark.parametrize("command", ["show", "run_list", "explain", "compare"])
def test_who_shows_a_run_loads_no_library_that_only_making_one_needs(command: str) -> None:
    program = f"import sys, lanelab.driver.cli.{command}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert {"lanelab", "rich"} <= loaded
    assert not loaded & {"PIL", "asyncio", "cryptography", "dask", "numpy", "selenium", "warcio", "yaml"}
