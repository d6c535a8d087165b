"""Result tables on terminals of several widths: columns are left out, names stay whole."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from lanelab.analysis.results.layout.terminal import on_terminal
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
