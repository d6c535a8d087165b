"""lanelab plan and lanelab new."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import lanelab
from lanelab.driver.base.amounts import minutes, size
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.cli.experiments import new, plan
from lanelab.driver.experiment.read import read_experiment
from lanelab.driver.experiment.schedule.estimate import SiteLoad, estimate
from lanelab.driver.experiment.schedule.warnings import warnings

QUICKSTART = PROJECT / "experiments" / "quickstart.yaml"
GRID = PROJECT / "experiments" / "rtt-bandwidth-grid.yaml"


def run_plan(*arguments: str) -> Result:
    return CliRunner().invoke(plan, arguments, catch_exceptions=False, standalone_mode=False)


def test_the_plan_is_a_table_with_the_costs() -> None:
    result = run_plan(str(QUICKSTART))
    for cell in read_experiment(QUICKSTART).cells:
        assert any(cell.link.label in line and cell.arm.name in line for line in result.stdout.splitlines())
    assert "quickstart: 8 cells x 3 trials = 24 trials" in result.stdout
    assert "from a new seed for each run" in result.stdout
    assert "lanelab: mind: 3 trials in each cell" in result.stderr


def test_the_quickstart_is_quick() -> None:
    assert json.loads(run_plan(str(QUICKSTART), "--json").stdout)["seconds"]["most"] < 180


def test_a_plan_for_programs() -> None:
    data = json.loads(run_plan(str(GRID), "--json").stdout)
    experiment = read_experiment(GRID)
    assert [cell["id"] for cell in data["cells"]] == [cell.id for cell in experiment.cells]
    assert data["arms"]["HTTP/2"]["protocol"] == "h2"
    assert data["links"]["10mbit 50ms"]["rtt"] == "50ms"
    assert [sorted(numbers) for numbers in data["rounds"]] == [list(range(1, 49))] * 2
    assert data["trials"] == {"least": 384, "most": 1440}
    assert data["warnings"] == []


def test_a_plan_for_scripts_is_the_same() -> None:
    planned = lanelab.plan(QUICKSTART, workers=2)
    as_json = run_plan(str(QUICKSTART), "--json", "--workers", "2").stdout
    assert json.loads(json.dumps(planned.to_json())) == json.loads(as_json)
    shown = " ".join(run_plan(str(QUICKSTART), "--workers", "2").stdout.split())
    assert all(" ".join(line.split()) in shown for line in planned.words())


def test_a_wrong_file_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text("sites: dummy\nlinks: {rtt: 20}\narms: {a: {}}\n")
    with pytest.raises(InputError) as error:
        run_plan(str(file))
    assert str(error.value).startswith(f"{file}:2: links.rtt: 20 has no unit")


def test_the_file_of_a_study_is_told_from_one_of_an_experiment(tmp_path: Path) -> None:
    file = tmp_path / "paper" / "study.yaml"
    file.parent.mkdir()
    file.write_text("title: A paper\n")
    with pytest.raises(InputError, match=f"describes a study.*Write lanelab study run {file.parent}"):
        run_plan(str(file))


def run_new(*arguments: str) -> Result:
    return CliRunner().invoke(new, arguments, catch_exceptions=False, standalone_mode=False)


def test_what_new_writes_is_an_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_new()
    text = Path("experiment.yaml").read_text()
    assert read_experiment(Path("experiment.yaml")).name == "experiment"
    first = text.splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=")
    assert Path(first.partition("=")[2]).is_file()
    with pytest.raises(InputError, match=r"FILE: experiment\.yaml is there already, and stays as it is"):
        run_new()
    assert Path("experiment.yaml").read_text() == text


def test_what_new_writes_warns_of_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_new()
    experiment = read_experiment(Path("experiment.yaml"))
    loads = dict.fromkeys(experiment.sites, SiteLoad(24, 1, 1_100_000))
    assert warnings(experiment, estimate(experiment, loads)) == []


def test_new_can_print() -> None:
    assert run_new("-").stdout.startswith("# yaml-language-server: $schema=/")


def test_new_says_where_it_cannot_write(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file or directory"):
        run_new(str(tmp_path / "nowhere" / "a.yaml"))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (119, "119 s"), (120, "2 min 00 s"), (601, "10 min"), (7199, "120 min"), (7260, "2 h 01 min")],
)
def test_lengths_of_time(seconds: float, words: str) -> None:
    assert minutes(seconds) == words


@pytest.mark.parametrize(
    ("amount", "words"), [(0, "0 B"), (999, "999 B"), (1340000, "1.34 MB"), (2 * 10**12, "2 TB"), (999_999, "1 MB")]
)
def test_amounts_of_data(amount: int, words: str) -> None:
    assert size(amount) == words
