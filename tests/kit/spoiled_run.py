"""A whole run, self-test and all, in which something is spoilt before each load."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lanelab.analysis.results.model import Run
from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.experiment.schedule.rounds import Schedule
from lanelab.driver.run.built_programs import Programs
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.run.runner import Runner, StopRequest
from lanelab.driver.run.start import begin
from lanelab.driver.run.this_machine import this_machine
from lanelab.driver.site.load import site_names
from tests.kit.bench import Bench


class SpoiledBed(Bed):
    """A bed on which something happens when all is ready for a load."""

    def __init__(self, settings: BedSettings, spoil: Callable[[Bench], None]) -> None:
        super().__init__(settings)
        self._spoil, self._bench = spoil, Bench(self, settings.folder)

    def run_trial(self, timeout_s: float) -> Any:
        self._spoil(self._bench)
        return super().run_trial(timeout_s)


def play_spoiled(folder: Path, text: str, spoil: Callable[[Bench], None], known: Any) -> Run:
    """The run that this experiment makes; links are accepted as a busy machine measures them. `known`: how a run
    learns when it has measured enough."""
    experiment = parse_experiment(text, "spoiled", site_names())
    begun = begin(experiment, "test", folder / "run", 1, {"accept_links": True})
    bed = folder / "bed"
    bed.mkdir()
    begun.store.begin_session({}, this_machine())
    try:
        opened = lambda: SpoiledBed(BedSettings(folder=bed), spoil)  # noqa: E731
        schedule = Schedule(experiment, int(begun.store.meta("seed")), known, begun.store.history())
        with Runner(begun, opened, lambda _event: None, StopRequest(), Programs.built(experiment)) as runner:
            runner.run(schedule)
    finally:
        begun.store.close()
    return read_run(folder / "run")
