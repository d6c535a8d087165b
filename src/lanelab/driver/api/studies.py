"""Runs a study: the figures that are not finished, one after the other, each as a run of its own."""

import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lanelab.analysis.results.study.run import read_about
from lanelab.analysis.results.study.runs import find_study_run
from lanelab.analysis.statistics import ENOUGH
from lanelab.analysis.statistics.one_bed import ENOUGH_BEDS
from lanelab.driver.api.arguments import argument
from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.opened_run import open_run
from lanelab.driver.api.run_experiment import THIS_MACHINE, links_of, play_to_end, ready
from lanelab.driver.api.session import STOPPED, Means
from lanelab.driver.api.sweeps import ONE_BED, SweepOptions
from lanelab.driver.base.amounts import form_for
from lanelab.driver.base.errors import Interrupted, LanelabError, interruption
from lanelab.driver.base.settings.kinds import LARGEST_SEED
from lanelab.driver.base.version import VERSION
from lanelab.driver.experiment.keys import MOST_TRIALS
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.estimate import Estimate
from lanelab.driver.experiment.schedule.portions import require_portions
from lanelab.driver.run import start
from lanelab.driver.run.events import Listener, Notice, unheard
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.runner import StopRequest
from lanelab.driver.run.study.events import FigureBegun, FigureEnded, FigureFailed, StudyBegun
from lanelab.driver.run.study.figures import (
    Wishes,
    chosen,
    chosen_variant,
    figure_seed,
    remaining_s,
    still_to_run,
    too_few_for_verdicts,
)
from lanelab.driver.run.study.placeholders import unwritten
from lanelab.driver.run.study.read import StudyFolder, is_here, read_study_folder
from lanelab.driver.run.study.run_folder import OpenStudyRun, begin_with, changes_since, create, new_folder, opened
from lanelab.driver.run.study.study import StudyRun
from lanelab.driver.run.study.study_progress import costs, standings_of

__all__ = ["MOST_TRIALS", "AskedStudy", "Played", "begin_study", "play_study", "resume_study", "run_study"]


@dataclass(frozen=True, slots=True)
class AskedStudy:
    """The wishes with which a run of a study begins."""

    instead: Wishes
    variant: str | None
    figures: Sequence[int]
    seed: int | None
    out: Path | None
    bed: BedOptions


@dataclass
class Played:
    """The outcome of the figures that were run."""

    folder: Path
    missing: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)


def run_study(  # noqa: PLR0913 - each is an option
    name: str,
    *,
    variant: str | None = None,
    figures: Sequence[int] = (),
    trials: int | None = None,
    beds: int | None = None,
    scale: float | None = None,
    seed: int | None = None,
    out: Path | None = None,
    bed: BedOptions = THIS_MACHINE,
    sweep: SweepOptions = ONE_BED,
    on_event: Listener = unheard,
    stop: StopRequest | None = None,
    command: Sequence[str] | None = None,
) -> Played:
    """Run the figures of a study, one after the other. name: of a folder in experiments/, or a folder. figures: these
    alone. The others are the options of `lanelab study run`."""
    sweep.check(bed)
    read = read_study_folder(name)
    if words := unwritten(read.folder, read.study):
        on_event(Notice(f"mind: {words}"))
    request = AskedStudy(Wishes(trials, beds, scale), variant, figures, seed, out, bed)
    folder, about = begin_study(read, request, on_event)
    return play_study(folder, about, figures, bed, Means(on_event, stop or StopRequest(), sweep, command=command))


def resume_study(
    name: str,
    *,
    figures: Sequence[int] = (),
    bed: BedOptions = THIS_MACHINE,
    sweep: SweepOptions = ONE_BED,
    on_event: Listener = unheard,
    stop: StopRequest | None = None,
    command: Sequence[str] | None = None,
) -> Played:
    """Go on with the figures of a run that are not finished. bed: what this session was given."""
    sweep.check(bed)
    folder, about = study_to_go_on_with(name, on_event)
    return play_study(folder, about, figures, bed, Means(on_event, stop or StopRequest(), sweep, command=command))


def begin_study(read: StudyFolder, request: AskedStudy, tell: Listener) -> tuple[Path, StudyRun]:
    """A new run, once it is known that it can be made: no folder is made for one that cannot run."""
    study = read.study
    with argument("variant"):
        variant = chosen_variant(study, request.variant)
    wanted = chosen(study, request.figures)
    each = read.experiments(variant)
    with argument("scale"):
        scaled = {number: request.instead.scaled(one) for number, one in each.items()}
    with argument("beds"):
        experiments = {number: request.instead.repeated(one) for number, one in scaled.items()}
    _tell_too_few({number: one for number, one in experiments.items() if not wanted or number in wanted}, tell)
    for number in wanted or experiments:
        ready(experiments[number], request.bed)
    seed = secrets.randbelow(LARGEST_SEED + 1) if request.seed is None else request.seed
    about = begin_with(read, variant, request.instead, seed=seed, bed=request.bed.to_json(), lanelab=VERSION)
    folder = request.out or new_folder(study.name, variant)
    create(folder, about, read)
    return folder, about


def study_to_go_on_with(name: str, tell: Listener) -> tuple[Path, StudyRun]:
    """Return the run of a study that a name means. Tells what was changed since it began, but for words."""
    folder = find_study_run(name)
    about = read_about(folder)
    _tell_changed(folder, about, tell)
    return folder, about


def play_study(
    folder: Path, about: StudyRun, figures: Sequence[int], session_options: BedOptions, means: Means, go_on: str = ""
) -> Played:
    """Run every figure of these (none named: all) that is not finished. One that fails does not keep the others from
    being run. `session_options`: what this session was given; `go_on`: how to go on after a stop."""
    wanted = chosen(about.study, figures)
    only = "".join(f" --figure {number}" for number in wanted)
    try:
        with opened(folder, about) as run:
            return _play_figures(run, wanted, BedOptions.from_json(about.bed).going_on(session_options), means)
    except (Interrupted, KeyboardInterrupt) as error:
        remedy = go_on or f"Go on with: lanelab study run --resume {folder}{only}"
        raise interruption(error, STOPPED, remedy) from error


def _tell_too_few(experiments: Mapping[int, Experiment], tell: Listener) -> None:
    if few := too_few_for_verdicts(experiments):
        named = f"{form_for(len(few), 'figure')} {', '.join(map(str, few))}"
        needed = f"changes need {ENOUGH} on one bed, or {ENOUGH_BEDS} beds"
        tell(Notice(f"mind: {named} cannot give verdicts from so few trials; {needed}"))


def _tell_changed(folder: Path, about: StudyRun, tell: Listener) -> None:
    """The files of a study may have been changed since, or may not be here at all."""
    if not is_here(about.study.name):
        return
    try:
        changes = changes_since(folder, about, read_study_folder(about.study.name))
    except LanelabError as error:
        tell(Notice(f"what was changed since this run began is not known ({error}); it goes on with its own copies"))
        return
    for number, words in changes.items():
        what = f"the experiment of figure {number} was changed since this run began"
        tell(Notice(f"{what}; the run goes on with its own copy, {words}"))


def _play_figures(run: OpenStudyRun, wanted: Sequence[int], bed: BedOptions, means: Means) -> Played:
    estimates = costs(run.experiments)
    numbers = still_to_run(standings_of(run, estimates), wanted)
    means.tell(_begun(run, numbers, estimates))
    bed.nodes()
    played = Played(run.folder)
    expected_s = taken_s = 0.0
    for place, number in enumerate(numbers):
        if means.stop.asked:
            raise Interrupted("stopped between two figures")
        standings = standings_of(run, estimates)
        pace = taken_s / expected_s if expected_s else 1.0
        now, rest = remaining_s(standings, [number], pace), remaining_s(standings, numbers[place:], pace)
        title = next(figure.title for figure in run.study.figures if figure.number == number)
        means.tell(FigureBegun(number, title, place + 1, len(numbers), now, rest))
        began = time.monotonic()
        try:
            whole = _play_figure(run, number, bed, means)
        except Interrupted:
            raise
        except LanelabError as error:
            played.failed.append(number)
            means.tell(FigureFailed(number, str(error)))
            continue
        if not whole:
            played.missing.append(number)
        expected_s += remaining_s(standings, [number])
        taken_s += time.monotonic() - began
    return played


def _begun(run: OpenStudyRun, numbers: Sequence[int], estimates: Mapping[int, Estimate]) -> StudyBegun:
    costs_of = [estimates[number] for number in numbers]
    least = remaining_s(standings_of(run, estimates), numbers)
    return StudyBegun(
        title=run.study.title,
        variant=run.about.variant,
        folder=str(run.folder),
        figures=len(numbers),
        trials=sum(one.trials for one in costs_of),
        least_s=least,
        most_s=least + sum(one.most_seconds - one.seconds for one in costs_of),
        disk_bytes=sum(one.most_disk_bytes for one in costs_of),
    )


def _play_figure(run: OpenStudyRun, number: int, bed: BedOptions, means: Means) -> bool:
    """Play a figure, and return whether every cell has what was asked for."""
    folder, experiment = run.figure_folder(number), run.experiments[number]
    if means.sweep.is_asked_for:
        require_portions(experiment)
    if (folder / run_format.DATABASE).is_file():
        begun = start.resume(folder)
    else:
        shutil.rmtree(folder, ignore_errors=True)  # what was killed before it had its database
        placed = bed.placed(experiment.workload, links_of(experiment), means.tell).to_json()
        begun = start.begin(experiment, VERSION, folder, figure_seed(run.about.seed, number), placed)
    missing = play_to_end(begun, bed, means)
    started = time.monotonic()
    report = open_run(folder).report()
    means.tell(FigureEnded(number, missing is None, str(report), time.monotonic() - started))
    return missing is None
