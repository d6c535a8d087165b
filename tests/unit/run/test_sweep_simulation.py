"""The simulation of a sweep: nothing is lost or doubled, and what slept is never taken for a page load."""

from pathlib import Path

import pytest

from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.statistics import KNOWN
from lanelab.driver.base.errors import InputError, LanelabError, RecordError, StoreError
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.sweep.cluster import Finished, Joined
from lanelab.driver.run.sweep.messages import EndRequest
from tools.bench.sleeping import SleepEvidence, registered, sleeping_experiment
from tools.bench.sweep import Simulation, measure_sweep, slope
from tools.bench.sweep_kills import measure_sweep_kills
from tools.bench.thread_cluster import ThreadCluster

MADE = {
    "workload": "sleep",
    "started_utc": "2026-11-23T08:00:00.000Z",
    "measures": {"slept_s": 1.0},
    "series": {},
    "requests": [],
    "failures": [],
    "artifacts": [],
    "marks": {},
    "evidence": {"simulated": True, "asked_s": 1.0},
    "flags": [],
    "recordings": {},
}


def test_eight_workers_make_each_trial_once(tmp_path: Path) -> None:
    simulation = Simulation(workers=8, trials=200, seconds=0.05, artifact_bytes=100, dask=False, links=10)
    figures = {figure.what: figure for figure in measure_sweep(simulation, KNOWN, lambda _line: None, tmp_path / "s")}
    assert list(figures["trials lost, doubled"].values) == [0, 0]
    assert figures["trials lost, doubled"].figure == "0 and 0 of 200"
    assert figures["portions begun anew, workers that left"].values[0] == 0
    with pytest.raises(StoreError, match="does not know"):  # no command takes it for a run
        read_run(tmp_path / "s" / "run")


def test_a_controller_that_is_killed_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    figure = measure_sweep_kills(tmp_path / "run", kills=4, trials=640, tell=lambda _line: None)
    assert list(figure.values[:3]) == [0, 0, 0], figure
    assert figure.values[3] > 0


def test_an_experiment_file_cannot_ask_for_it() -> None:
    text = "sites: [dummy]\nlinks: {rtt: 20ms}\narms: {a: {}}\ntrials: 1\nworkload: sleep\n"
    for _ in range(2):
        with pytest.raises(InputError):
            parse_experiment(text, "made.yaml", ["dummy"])
        with registered(), pytest.raises(InputError):
            parse_experiment(text, "made.yaml", ["dummy"])


def test_a_record_says_that_it_is_simulated_and_is_read_nowhere_else() -> None:
    with registered():
        assert TrialRecord.from_json(MADE).evidence == SleepEvidence(simulated=True, asked_s=1.0)
    with pytest.raises(RecordError):
        TrialRecord.from_json(MADE)


def test_the_grid_has_as_many_trials_as_wanted() -> None:
    experiment = sleeping_experiment(1000, links=32)
    assert (len(experiment.cells), experiment.repeat.trials) == (128, 8)


def test_a_thread_answers_and_says_what_it_could_not_do() -> None:
    class Worker:
        def run(self, name: str, payload: object) -> object:
            if name == "play":
                raise LanelabError("no")
            return payload

    cluster = ThreadCluster({"w": Worker()})
    assert cluster.wait(1) == [Joined("w", "w")]
    order = EndRequest("x", measure_links=False)
    first, second = cluster.start("w", "assign", order), cluster.start("w", "play", order)
    happened: list[object] = []
    while len(happened) < 2:
        happened += cluster.wait(1)
    assert happened[0] == Finished(first, "w", {"run": "x", "measure_links": False})
    assert isinstance(happened[1], Finished)
    assert happened[1].job == second
    assert str(happened[1].error) == "no"
    cluster.close()


def test_memory_that_jumps_once_has_no_slope() -> None:
    assert slope([(n, 100 + (50 if n == 30 else 0)) for n in range(100)]) == 0
    assert slope([(n, 2 * n) for n in range(100)]) == 2
    assert slope([(1, 5)]) == 0
