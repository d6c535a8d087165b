"""`lanelab packets --cell`: which trial it opens."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.tables import median_trial
from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.cli.main import lanelab
from tests.kit.made_run import Made, make_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "run", Made(rounds=6))


def asked(folder: Path, *words: str) -> tuple[str, BaseException | None]:
    done = CliRunner().invoke(lanelab, ["packets", str(folder), *words])
    return done.stderr, done.exception


@pytest.mark.parametrize("name", ["dummy, 10mbit 100ms, h2", "dummy,10mbit 100ms,h2", f"{8:016x}"])
def test_a_cell_is_its_median_trial(folder: Path, name: str) -> None:
    run = read_run(folder)
    (cell,) = (cell for cell in run.cells if str(cell) == "dummy, 10mbit 100ms, h2")
    median = median_trial(run.by_cell()[cell.number])
    assert median
    told, refused = asked(folder, "--cell", name)
    assert f"dummy, 10mbit 100ms, h2: its median is trial {median.number}\n" in told
    assert isinstance(refused, LanelabError)  # made runs have no captures
    assert f"trial {median.number} " in str(refused)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "name a trial or a cell"),
        (("--cell", "h2", "--trial", "3"), "name a trial or a cell"),
        (("--cell", "h2"), "'h2' is 2 cells. Write 'dummy, 10mbit 20ms, h2' or 'dummy, 10mbit 100ms, h2'"),
        (("--cell", "h3"), "the run has no cell and no arm 'h3'"),
    ],
)
def test_what_is_no_single_cell_is_refused(folder: Path, words: tuple[str, ...], says: str) -> None:
    _, refused = asked(folder, *words)
    assert isinstance(refused, InputError)
    assert says in str(refused)
