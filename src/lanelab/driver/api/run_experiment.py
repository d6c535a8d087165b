"""Runs an experiment, or goes on with a run: from a file to a run folder."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lanelab.analysis.results.runs import find_run
from lanelab.driver.api.arguments import argument, whole
from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.opened_run import Run, open_run
from lanelab.driver.api.session import Means, play
from lanelab.driver.api.sweeps import ONE_BED, SweepOptions
from lanelab.driver.base.errors import ArgumentError, InputError
from lanelab.driver.base.programs.install import prepare
from lanelab.driver.base.settings.kinds import LARGEST_SEED, MOST_BEDS
from lanelab.driver.base.settings.source import error_at_its_line
from lanelab.driver.base.version import VERSION
from lanelab.driver.experiment.keys import MOST_TRIALS
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import over_beds, over_trials, read_experiment
from lanelab.driver.experiment.scale import over_scale
from lanelab.driver.experiment.schedule.portions import require_portions
from lanelab.driver.link import Link
from lanelab.driver.run import start
from lanelab.driver.run.built_programs import Programs
from lanelab.driver.run.events import Listener, unheard
from lanelab.driver.run.folder.format import EXPERIMENT
from lanelab.driver.run.folder.sources import found_in
from lanelab.driver.run.missing import TrialsMissing
from lanelab.driver.run.needs import needs_of
from lanelab.driver.run.runner import StopRequest
from lanelab.driver.run.start import BegunRun

THIS_MACHINE = BedOptions()


def run(  # noqa: PLR0913 - each is an option
    experiment: str | Path | Experiment,
    *,
    out: str | Path | None = None,
    on_event: Listener = unheard,
    stop: StopRequest | None = None,
    seed: int | None = None,
    trials: int | None = None,
    beds: int | None = None,
    scale: float | None = None,
    variant: str | None = None,
    reuse: str | Path | None = None,
    bed: BedOptions = THIS_MACHINE,
    sweep: SweepOptions = ONE_BED,
    command: Sequence[str] | None = None,
) -> Run:
    """Run an experiment to its end, and open the run.

    experiment: its file, or one that was read. out: the run folder, new or empty; without it runs/DATE-NAME. on_event:
    called with each event, in this thread or another one. stop: `stop.ask()` lets the run end after the trial that is
    under way. seed, trials (of each cell), beds, scale, variant: instead of what the experiment says. reuse: a run, or
    a folder of runs, whose trials are taken. bed: how beds are made. sweep: several beds at once. command: what the
    provenance calls it.

    Raises InputError for what is wrong in the file or the arguments, before anything is made; Interrupted after a stop,
    RunInterrupted, which is a KeyboardInterrupt, after Ctrl-C; another LanelabError where it cannot go on. A run that
    comes to its end may lack trials: `missing`."""
    _require_options(bed, sweep)
    sweep.check(bed)
    reused = _runs_in(reuse)
    read = experiment if isinstance(experiment, Experiment) else read_experiment(Path(experiment), variant)
    changed = _changed(read, trials, beds, scale)
    programs = ready(changed, bed, sweep)
    folder = Path(out) if out is not None else None
    placed = bed.placed(changed.workload, links_of(changed), on_event).to_json()
    try:
        begun = start.begin(changed, VERSION, folder, _seed(seed), placed)
    except InputError as error:  # what only the sites can judge
        if isinstance(experiment, Experiment):
            raise
        raise error_at_its_line(error, changed.text, str(experiment)) from error
    means = Means(on_event, stop or StopRequest(), sweep, reused, command)
    play_to_end(begun, bed, means, programs, "" if isinstance(experiment, Experiment) else str(experiment))
    return open_run(begun.store.folder)


def resume(
    name: str | Path,
    *,
    on_event: Listener = unheard,
    stop: StopRequest | None = None,
    accept_links: bool = False,
    reuse: str | Path | None = None,
    sweep: SweepOptions = ONE_BED,
    command: Sequence[str] | None = None,
) -> Run:
    """Go on with a run that was stopped, failed or killed: its folder, its name in ./runs, or `latest`. It keeps its
    folder, its seed and how its beds are made; what is stored is not made again. accept_links: from now on."""
    reused = _runs_in(reuse)
    sweep.check(THIS_MACHINE)
    begun = start.resume(find_run(str(name)))
    means = Means(on_event, stop or StopRequest(), sweep, reused, command)
    play_to_end(begun, replace(THIS_MACHINE, accept_links=accept_links), means)
    return open_run(begun.store.folder)


def play_to_end(
    begun: BegunRun, session_options: BedOptions, means: Means, programs: Programs | None = None, source: str = ""
) -> TrialsMissing | None:
    """Play a session of the run on beds as it began with, and end the use of its folder. `session_options`: what this
    session was given; `source`: the file that the experiment is of, where it is not the run's copy. Which cells lack
    trials afterwards."""
    try:
        bed = BedOptions.from_json(json.loads(begun.store.meta("bed"))).going_on(session_options)
        return play(begun, programs or ready(begun.experiment, bed, means.sweep), bed, means)
    except InputError as error:  # what only programs of the bed can judge
        raise error_at_its_line(error, begun.experiment.text, source or str(begun.store.folder / EXPERIMENT)) from error
    finally:
        begun.store.close()


def ready(experiment: Experiment, bed: BedOptions, sweep: SweepOptions = ONE_BED) -> Programs:
    """See to all that the experiment needs, so that no folder is made for one that cannot run: programs of others are
    installed, ours are built. What other machines need they have to have, and workers see to it themselves."""
    if sweep.is_asked_for:
        require_portions(experiment)
    bed.require(links_of(experiment))
    programs = Programs()
    if not sweep.is_elsewhere:
        prepare(bed.needs(needs_of(experiment)))
        programs = Programs.built(experiment)
    bed.nodes()  # an error in the inventory is reported now, too
    return programs


def links_of(experiment: Experiment) -> list[Link]:
    return [case.link for case in experiment.links]


def _changed(experiment: Experiment, trials: int | None, beds: int | None, scale: float | None) -> Experiment:
    """Return the experiment with what is asked for instead."""
    with argument("scale"):
        scaled = experiment if scale is None else over_scale(experiment, scale)
    if trials is not None:
        scaled = over_trials(scaled, whole(trials, "trials", 1, MOST_TRIALS))
    if beds is None:
        return scaled
    number = whole(beds, "beds", 1, MOST_BEDS)
    with argument("beds"):
        return over_beds(scaled, number)


def _seed(seed: int | None) -> int | None:
    return None if seed is None else whole(seed, "seed", 0, LARGEST_SEED)


def _require_options(bed: object, sweep: object) -> None:
    for name, value, kind in (("bed", bed, BedOptions), ("sweep", sweep, SweepOptions)):
        if not isinstance(value, kind):
            remedy = f"Write {name}=lanelab.{kind.__name__}(…)"
            raise ArgumentError(f"{type(value).__name__} is not what it takes", remedy, key=name)


def _runs_in(reuse: str | Path | None) -> Path | None:
    if reuse is None:
        return None
    with argument("reuse"):
        if not found_in(Path(reuse)):
            raise InputError(f"there is no run in {reuse}", "Name a run, or a folder that has runs")
    return Path(reuse)
