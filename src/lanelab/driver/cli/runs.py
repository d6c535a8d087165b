"""lanelab run: runs an experiment."""

from __future__ import annotations

import json
import shutil
import signal
import sys
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import click

from lanelab.analysis.results.report import write_report
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.runs import find_run
from lanelab.analysis.results.terminal import results
from lanelab.analysis.statistics import KNOWN
from lanelab.driver.base import paths
from lanelab.driver.base.errors import EXIT_INCOMPLETE, InputError, Interrupted, LanelabError, StoreError
from lanelab.driver.base.programs.install import prepare
from lanelab.driver.base.settings.kinds import LARGEST_SEED, MOST_BEDS
from lanelab.driver.base.settings.source import error_at_its_line
from lanelab.driver.base.version import VERSION
from lanelab.driver.cli.missing import tell_missing
from lanelab.driver.cli.options import BedOptions, bed_options
from lanelab.driver.cli.output import console, note
from lanelab.driver.cli.progress import watching
from lanelab.driver.cli.reusing import check_reuse, reuse_first
from lanelab.driver.cli.sweep_options import ONE_BED, SweepOptions, play_sweep, sweep_options
from lanelab.driver.cli.sweep_progress import watching_sweep
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import over_beds, read_experiment
from lanelab.driver.experiment.scale import over_scale
from lanelab.driver.experiment.schedule.portions import require_portions
from lanelab.driver.experiment.schedule.rounds import Schedule
from lanelab.driver.link import Link
from lanelab.driver.record.metrics import primary_of
from lanelab.driver.run import start
from lanelab.driver.run.built_programs import Programs
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.run.events import Event, Listener
from lanelab.driver.run.folder.format import EXPERIMENT
from lanelab.driver.run.needs import needs_of
from lanelab.driver.run.provenance import host_facts, load
from lanelab.driver.run.runner import Runner, StopRequest
from lanelab.driver.run.start import BegunRun
from lanelab.driver.run.this_machine import this_machine

NEVER_BEGUN = "failed: there was no bed to begin with"


@click.command("run")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--resume", "resumed", metavar="RUN", help="Go on with that run: its folder, its name, or latest")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the run (default: runs/DATE-NAME)")
@click.option(
    "--seed",
    type=click.IntRange(0, LARGEST_SEED),
    help="Seed of the order, instead of the experiment's or a random one",
)
@click.option("--scale", type=float, help="Of a load: so much of the users in so much of the time, for a look")
@click.option(
    "--beds",
    type=click.IntRange(1, MOST_BEDS),
    help="Over how many fresh beds the rounds are divided, instead of the experiment's",
)
@click.option(
    "--reuse",
    "reused",
    metavar="STORE",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Take what this run, or the runs in this folder, have of the same trials; measure the rest",
)
@click.option("--variant", help="Which of the experiment's variants is run (default: the first)")
@click.option("--open", "open_report", is_flag=True, help="Open the report in this machine's browser at the end")
@click.option("--json", "as_json", is_flag=True, help="Print events as JSON lines instead of the table")
@click.option("--allow-missing", is_flag=True, help="Exit with status 0, not 3, where cells lack trials that count")
@click.option("--accept-links", is_flag=True, help="Go on where a link is out of tolerance; results then say so")
@sweep_options
@bed_options
def run(  # noqa: PLR0913 - an option each
    file: Path | None,
    resumed: str | None,
    out: Path | None,
    seed: int | None,
    beds: int | None,
    scale: float | None,
    *,
    reused: Path | None,
    variant: str | None,
    made: BedOptions,
    sweep: SweepOptions,
    open_report: bool,
    as_json: bool,
    allow_missing: bool,
) -> None:
    """Run an experiment: FILE says which sites, links and arms. Ends with a table of medians and a report.

    Ctrl-C finishes the trial and stops; a second one stops at once. Either way nothing that was finished is lost, and
    --resume goes on.

    Exit status: 0; 3 where a cell has fewer trials that count than asked for; 2 for bad input, 1 for a failure, 130
    after Ctrl-C.

    \b
    Examples:
      lanelab run experiments/quickstart.yaml
      lanelab run experiments/quickstart.yaml --substrate ssh --inventory machines.yml
      lanelab run --resume runs/20261120T101500Z-quickstart
      lanelab run experiments/quickstart.yaml --reuse runs
      lanelab run experiments/rtt-bandwidth-grid.yaml --workers 2
    """

    start.require_not_both(file, resumed)
    if resumed and (out or seed is not None or beds is not None or scale or variant or not made.may_go_on):
        what = "a run that goes on keeps its folder, its seed and how its beds are made"
        options = "--out, --seed, --beds, --scale, --variant, --substrate, --inventory, --router and --pin"
        raise InputError(what, f"Leave {options} out")
    sweep.check(made)
    check_reuse(reused)
    if file:
        experiment = _prepared(file, made, sweep, (beds, scale), variant)
        if sweep.is_asked_for:
            require_portions(experiment)
        begun = start.begin(experiment, VERSION, out, seed, placed(made, experiment).to_json())
    else:
        begun = start.resume(find_run(resumed or ""))
    store = begun.store
    try:
        made = BedOptions.from_json(json.loads(store.meta("bed"))).going_on(made)
        if resumed:
            made.nodes()
        warn_of(made)
        try:
            play(begun, programs_of(begun.experiment, made, sweep), made, sweep, reused, as_json=as_json)
        except InputError as error:  # what only programs of the bed can judge
            source = str(file or store.folder / EXPERIMENT)
            raise error_at_its_line(error, begun.experiment.text, source) from error
        missing = tell_missing(begun, as_json=as_json)
    finally:
        store.close()
    _tell_results(store.folder, as_json=as_json, open_report=open_report)
    if missing and not allow_missing:
        sys.exit(EXIT_INCOMPLETE)


def _prepared(
    file: Path, made: BedOptions, sweep: SweepOptions, instead: tuple[int | None, float | None], variant: str | None
) -> Experiment:
    """The experiment, once all is there that it needs: no run folder is made for one that cannot run."""

    experiment, (beds, scale) = read_experiment(file, variant), instead
    if scale is not None:
        experiment = over_scale(experiment, scale)
    if beds is not None:
        experiment = over_beds(experiment, beds, "--beds")
    made.require(links_of(experiment))
    programs_of(experiment, made, sweep)
    made.nodes()  # an error in the inventory is reported now, too
    return experiment


def links_of(experiment: Experiment) -> list[Link]:
    return [case.link for case in experiment.links]


def placed(made: BedOptions, experiment: Experiment) -> BedOptions:
    """How beds are made for this experiment: with processors of their own where its workload needs that."""
    return made.placed(experiment.workload, links_of(experiment))


def warn_of(made: BedOptions) -> None:
    if warning := made.kind.warning(made.given):
        note(warning)


def programs_of(experiment: Experiment, made: BedOptions, sweep: SweepOptions = ONE_BED) -> Programs:
    """Others' are installed, ours are built, where they are not there. What other machines need they have to have, and
    workers see to it themselves."""

    if sweep.is_elsewhere:
        return Programs()
    prepare(made.needs(needs_of(experiment)))
    return Programs.built(experiment)


def play(
    begun: BegunRun,
    programs: Programs,
    made: BedOptions,
    sweep: SweepOptions = ONE_BED,
    reused: Path | None = None,
    *,
    as_json: bool,
) -> None:
    """Make the trials that the run still lacks, and show how it goes."""

    store, experiment = begun.store, begun.experiment
    facts = {**host_facts(VERSION), **programs.facts(), **made.facts(), "command": sys.argv[1:]}
    store.begin_session(facts, this_machine())
    store.set_meta("state", "running")
    stop = StopRequest()
    ending = "failed"
    try:
        if reused and not sweep.is_asked_for:
            reuse_first(begun, reused, programs, made, as_json=as_json)
        done = sum(attempt.ok for attempts in store.history().values() for attempt in attempts)
        trials = experiment.repeat.max * len(experiment.cells)
        primary = primary_of(store.workload)
        rounds = experiment.repeat.max
        if sweep.is_asked_for:
            watched = watching_sweep(as_json=as_json, trials=trials, done=done, primary=primary, rounds=rounds)
        else:
            watched = watching(as_json=as_json, trials=trials, done=done, primary=primary)
        with watched as tell, _stopping(stop, tell):
            tell(Event("run", {"folder": str(store.folder), "seed": int(store.meta("seed")), "trials": trials}))
            if sweep.is_asked_for:
                play_sweep(sweep, begun, made, reused, tell, stop)
            else:
                _play_one_bed(begun, programs, made, tell, stop)
        ending = "finished"
    except (Interrupted, KeyboardInterrupt) as error:
        ending = "stopped"
        remedy = f"Go on with: lanelab run --resume {store.folder}{sweep.words}"
        raise Interrupted("stopped; everything that was finished is stored", remedy) from error
    except LanelabError as error:
        ending = f"failed: {error}"
        if not store.last_bed() and store.session == 1:
            ending = NEVER_BEGUN
        raise
    finally:
        with suppress(StoreError):  # a full disk was reported already, and must not hide what went wrong first
            store.add_provenance("load_at_the_end", load())
            store.end_session(ending)
            store.set_meta("state", ending if ending in ("finished", "stopped") else "failed")
        if ending == NEVER_BEGUN:  # there is nothing in it to look at or to go on with
            shutil.rmtree(store.folder, ignore_errors=True)


def _play_one_bed(begun: BegunRun, programs: Programs, made: BedOptions, tell: Listener, stop: StopRequest) -> None:

    store = begun.store

    @contextmanager
    def open_bed() -> Iterator[Bed]:
        with paths.bed_folder() as folder, Bed(made.settings(folder)) as bed:
            yield bed

    schedule = Schedule(begun.experiment, int(store.meta("seed")), KNOWN, store.history())
    with Runner(begun, open_bed, tell, stop, programs) as runner:
        runner.run(schedule)


@contextmanager
def _stopping(stop: StopRequest, tell: Listener) -> Iterator[None]:
    """The first Ctrl-C lets the trial finish; the second does not."""
    interrupted = False

    def asked(_number: int, _frame: FrameType | None) -> None:
        nonlocal interrupted
        if stop.asked or not stop.under_way:
            interrupted = True
            for each in watched:  # ending takes a moment, in which another Ctrl-C would only do harm
                signal.signal(each, signal.SIG_IGN)
            raise KeyboardInterrupt
        stop.ask()
        tell(Event("stopping"))

    numbers = [signal.SIGINT, signal.SIGTERM]
    watched = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, asked) for number in watched}
    try:
        yield
    finally:
        for number, handler in before.items():
            if not interrupted:
                signal.signal(number, handler)


def _tell_results(folder: Path, *, as_json: bool, open_report: bool) -> None:

    if not as_json:
        console().print(results(read_run(folder)))
    report = write_run_report(folder, tell=not as_json)
    if open_report:
        webbrowser.open(report.resolve().as_uri())


def write_run_report(folder: Path, *, tell: bool = True) -> Path:
    """The report of a run, in its folder. `tell`: say where it is."""

    started = time.monotonic()
    report = write_report(folder)
    if tell:
        note(f"report: {report} (made in {time.monotonic() - started:.1f} s)")
    return report
