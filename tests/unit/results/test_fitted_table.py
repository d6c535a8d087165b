"""Result tables on terminals of several widths: columns are left out, names stay whole."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from lanelab.analysis.results.layout.markdown import table_markdown
from lanelab.analysis.results.layout.model import Column, Group, table
from lanelab.analysis.results.layout.terminal import fitted, on_terminal
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.cells import cells_section
from lanelab.analysis.results.sections.seen import Seen
from tests.kit.made_run import Made, make_run

NAME = "http keepalive"


def shown(folder: Path, width: int) -> str:
    run = read_run(folder)
    out = io.StringIO()
    Console(file=out, width=width).print(on_terminal([cells_section(Seen(run))]))
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run", Made(rounds=3))


def test_a_wide_terminal_has_all_columns(folder: Path) -> None:
    text = shown(folder, 200)
    assert "quartiles" in text
    assert "left out" not in text


@pytest.mark.parametrize("width", [80, 100, 110])
def test_a_narrow_one_cuts_columns_and_no_names(folder: Path, width: int) -> None:
    text = shown(folder, width)
    assert text.count(NAME) == 2, "once on each link, in one line"
    assert "median" in text
    assert "left out, for the terminal is narrow: quartiles" in text
    assert "quartiles" not in text.splitlines()[0]
    assert max(map(len, text.splitlines())) <= width


def test_a_note_of_a_group_is_below_its_words() -> None:
    columns = (Column[str]("claim", lambda row: row),)
    groups = Group(("1. Pages load faster",), "Only two round trips are known.")
    out = io.StringIO()
    Console(file=out, width=80).print(fitted(table(columns, ["faster"], group=lambda _: groups)))
    text = out.getvalue()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    assert lines[-3:] == ["1. Pages load faster", "Only two round trips are known.", "faster"]


def test_heads_of_a_markdown_table_are_shown_as_they_are() -> None:
    columns = (Column[str]("al|pha <b>", lambda row: row),)
    assert table_markdown(table(columns, ["x|y"])).splitlines()[0] == "| al\\|pha \\<b\\> |"
