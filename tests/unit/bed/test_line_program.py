"""Programs of ours on a node: what is brought there is all that they need, and how one that fails is told."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import cast

import pytest

from lanelab.driver.base.errors import LinkError, NodeError
from lanelab.driver.bed.line_program import LineProgram, Program
from lanelab.driver.bed.remote import cross, sampler
from lanelab.driver.bed.remote import player as player_words
from lanelab.driver.collect.recording.this_machine import ThisMachine
from lanelab.driver.link.live import player as link_player
from lanelab.driver.link.selftest.session import PROBE
from lanelab.driver.trial.page_load import router_watch
from lanelab.driver.trial.page_load.node_settings import READER
from lanelab.driver.trial.recorders import server_series

SAMPLER = Program(sampler)


class Elsewhere(ThisMachine):
    """A node that has what was brought there, and nothing else of ours."""

    python = (sys.executable, "-I", "-S")

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def program_of_ours(self, path: Path) -> str:
        return str(shutil.copy(path, self._folder / path.name))


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Elsewhere]:
    tmp_path.chmod(0o755)
    elsewhere = Elsewhere(tmp_path)
    yield elsewhere
    elsewhere.close()


@pytest.mark.parametrize(
    "program", [*(each.PROGRAM for each in (link_player, router_watch, server_series)), READER, PROBE]
)
def test_a_program_is_brought_with_all_that_it_imports(node: Elsewhere, program: Program) -> None:
    asked = '{"folders": {}, "ports": [], "ports_behind": [], "network": "10.10.0.0/16"}'
    words = {server_series.PROGRAM.module: [asked], READER.module: ["lo", "127.0.0.0/8", "1"]}
    done = node.run(program.command(node, *words.get(program.module, [])).argv)
    assert done.stderr == ""


def test_one_that_is_told_what_it_is_to_answer_later(node: Elsewhere) -> None:
    watching = LineProgram(node, SAMPLER, "the sampler", NodeError)
    try:
        assert watching.answer() == {"ready": True}
        watching.tell("begin")
        report = watching.ask("end")
        assert isinstance(report, dict)
        assert {"before", "after", "samples"} <= report.keys()
        with pytest.raises(NodeError, match="the sampler has ended: it said nothing"):
            watching.answer()
        assert watching.failed
    finally:
        watching.close()


def test_the_last_line_of_a_traceback_says_why_it_failed(node: Elsewhere) -> None:
    failing = LineProgram(node, READER, "the reader", NodeError, "no-such0", "10.10.0.0/16", 1)
    try:
        with pytest.raises(NodeError, match=r"the reader failed: OSError: .*No such device"):
            failing.answer()
    finally:
        failing.close()


def test_one_that_says_nothing_is_not_waited_for(node: Elsewhere) -> None:
    silent = LineProgram(node, router_watch.PROGRAM, "the watch", NodeError, answers_within_s=0.1)
    try:
        with pytest.raises(NodeError, match=r"the watch said nothing for 0\.1 s"):
            silent.answer()
    finally:
        silent.close()


@pytest.mark.parametrize("kind", [player_words.Answer, cross.SenderReport])
def test_words_that_lack_something_are_its_own_error(node: Elsewhere, kind: type[object]) -> None:
    watching = LineProgram(node, SAMPLER, "the sampler", NodeError)
    try:
        with pytest.raises(NodeError, match=r"in what the sampler says, .* is missing"):
            watching.answer_as(kind)
        assert watching.failed
    finally:
        watching.close()


@pytest.mark.parametrize("line", ['{"unix_ns":', '{"unix_ns": "x"}'])
def test_words_that_cannot_be_read_are_its_own_error(tmp_path: Path, node: Elsewhere, line: str) -> None:
    path = tmp_path / "here" / "mistaken.py"
    path.parent.mkdir()
    path.write_text(f"input()\nprint({line!r}, flush=True)\n")
    mistaken = LineProgram(node, Program(cast("ModuleType", SimpleNamespace(__file__=path))), "the player", LinkError)
    try:
        with pytest.raises(LinkError, match="the player says"):
            mistaken.ask_for(player_words.Answer, "clock")
    finally:
        mistaken.close()
