"""Programs that take a command a line: what they wrote, what failed, and that they are started again."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanelab.driver.base.errors import CommandFailed, RecordError
from lanelab.driver.bed.batch_program import SHELL, BatchProgram
from tests.kit.here import Here

# As tc does with -force -batch: what fails is named by its line, and the rest goes on.
FAKE = """
import sys
for number, line in enumerate(sys.stdin, 1):
    if line.startswith("bad"):
        print("Error: no such thing.", flush=True)
        print(f"Command failed -:{number}", flush=True)
    elif line.startswith("end"):
        sys.exit("what is 'end'?")
    elif line.startswith("show"):
        print('[{"dev": "lo"}]', flush=True)
    else:
        print(line.strip(), flush=True)
"""


@pytest.fixture
def node() -> Here:
    return Here("router")


@pytest.fixture
def program(node: Here) -> Iterator[BatchProgram]:
    made = BatchProgram(node, ((sys.executable, "-c", FAKE), "show"))
    yield made
    made.close()
    assert all(each.wait(5) is not None for each in node.started)


def test_it_goes_on_running(node: Here, program: BatchProgram) -> None:
    assert program.ask(["a", "b"]) == (["a", "b"], [{"dev": "lo"}])
    assert program.ask([]) == ([], [{"dev": "lo"}])
    assert len(node.started) == 1


def test_the_line_that_fails_is_named(program: BatchProgram) -> None:
    program.ask(["a"])
    with pytest.raises(CommandFailed, match=r"on router, '.* bad two' failed: Error: no such thing\."):
        program.ask(["bad two", "bad three"])
    assert program.ask(["c"])[0] == ["c"]


def test_it_shows_what_it_is_asked_for(program: BatchProgram) -> None:
    assert program.show("show this") == [{"dev": "lo"}]
    with pytest.raises(CommandFailed, match="bad device' failed: Error: no such thing"):
        program.show("bad device")
    assert program.show("show that") == [{"dev": "lo"}]


def test_what_is_no_json_is_told(node: Here) -> None:
    shell = BatchProgram(node, SHELL)
    with pytest.raises(RecordError, match=r"'echo \[x' shows what cannot be read"):
        shell.show("echo [x")
    shell.close()


def test_the_first_ones_may_fail(program: BatchProgram) -> None:
    assert program.ask(["bad one", "a"], may_fail=1)[0] == ["a"]
    with pytest.raises(CommandFailed, match="bad two"):
        program.ask(["bad one", "bad two"], may_fail=1)


def test_one_that_has_ended_says_why_and_is_started_again(node: Here, program: BatchProgram) -> None:
    with pytest.raises(CommandFailed, match="failed at 'end now': it has ended: what is 'end'"):
        program.ask(["end now"])
    assert program.ask(["a"])[0] == ["a"]
    assert len(node.started) == 2
    node.started[-1].kill()
    node.started[-1].wait()
    with pytest.raises(CommandFailed, match="it has ended"):
        program.ask(["a"])
    assert program.ask(["b"])[0] == ["b"]


def test_a_shell_writes_what_it_is_told(node: Here, tmp_path: Path) -> None:
    shell = BatchProgram(node, SHELL)
    written, _ = shell.ask([f"printf %s 7 >{tmp_path}/there", f"read -r line <{tmp_path}/there || echo $line"])
    assert written == ["7"]
    complaint, _ = shell.ask(["printf %s 7 >/nowhere/at/all"])
    assert "nonexistent" in complaint[0] or "No such file" in complaint[0]
    assert (tmp_path / "there").read_text() == "7"
    shell.close()
