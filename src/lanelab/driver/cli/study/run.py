"""lanelab study run: the figures of a study, one after the other, and then what they say of its claims."""

from __future__ import annotations

import json
import secrets
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from lanelab.analysis.results.study.run import read_about
from lanelab.analysis.results.study.runs import find_study_run
from lanelab.driver.base.errors import EXIT_FAILED, EXIT_INCOMPLETE, InputError, Interrupted, LanelabError
from lanelab.driver.base.settings.kinds import LARGEST_SEED, MOST_BEDS
from lanelab.driver.base.version import VERSION
from lanelab.driver.cli.experiments import minutes, size
from lanelab.driver.cli.missing import tell_missing
from lanelab.driver.cli.options import BedOptions, bed_options
from lanelab.driver.cli.output import note
from lanelab.driver.cli.runs import links_of, placed, play, programs_of, warn_of, write_run_report
from lanelab.driver.cli.study.cost import costs, time_words
from lanelab.driver.cli.study.report import tell_report, tell_unwritten
from lanelab.driver.cli.study.standing import standings_of
from lanelab.driver.cli.sweep_options import ONE_BED, SweepOptions, sweep_options
from lanelab.driver.experiment.keys import MOST_TRIALS
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.estimate import Estimate
from lanelab.driver.experiment.schedule.portions import require_portions
from lanelab.driver.experiment.schedule.verdicts import ENOUGH_BEDS, ENOUGH_ROUNDS
from lanelab.driver.run import start
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.study.figures import (
    Asked,
    chosen,
    chosen_variant,
    figure_seed,
    remaining_s,
    still_to_run,
    too_few_for_verdicts,
)
from lanelab.driver.run.study.read import StudyFolder, is_here, read_study_folder
from lanelab.driver.run.study.run_folder import OpenStudyRun, begin_with, changed_since, create, new_folder, opened
from lanelab.driver.run.study.study import StudyRun


@click.command("run")
@click.argument("name", required=False)
@click.option("--resume", "resumed", metavar="RUN", help="Go on with that run: its folder, its name, or latest")
@click.option("--variant", help="Which of the study's variants is run (default: the first)")
@click.option("--figure", "figures", type=int, multiple=True, metavar="N", help="Only this one; may be given again")
@click.option("--trials", type=click.IntRange(1, MOST_TRIALS), help="Of each cell, instead of what the experiments say")
@click.option("--beds", type=click.IntRange(1, MOST_BEDS), help="Over how many fresh beds rounds are divided, likewise")
@click.option("--scale", type=float, help="Of loads: so much of the users in so much of the time, for a look")
@click.option("--seed", type=click.IntRange(0, LARGEST_SEED), help="From which each figure's seed is made")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the run (default: runs/DATE-NAME-VARIANT)")
@click.option("--allow-missing", is_flag=True, help="Exit with status 0, not 3, where cells lack trials that count")
@click.option("--accept-links", is_flag=True, help="Go on where a link is out of tolerance; results then say so")
@sweep_options
@bed_options
def run_study(  # noqa: PLR0913 - an option each
    name: str | None,
    resumed: str | None,
    *,
    variant: str | None,
    figures: tuple[int, ...],
    trials: int | None,
    beds: int | None,
    scale: float | None,
    seed: int | None,
    out: Path | None,
    made: BedOptions,
    sweep: SweepOptions,
    allow_missing: bool,
) -> None:
    """Run the study NAME: each of its figures, one after the other. Ends with a verdict on each claim, and a report.

    NAME is that of a folder in experiments/, or the path of a folder with study.yaml. Experiments and claims are those
    of the moment at which the run begins, also when it goes on later.

    Ctrl-C finishes the trial and stops; --resume goes on with the figures that are not finished.

    Exit status: 0; 3 where a cell has fewer trials that count than asked for; 2 for bad input, 1 where a figure could
    not be run, 130 after Ctrl-C.

    \b
    Examples:
      lanelab study run spdy-vs-http-2012
      lanelab study run spdy-vs-http-2012 --figure 4 --trials 6 --beds 3
      lanelab study run --resume latest
    """
    if (name is None) == (resumed is None):
        what = "name a study, or with --resume a run to go on with, and not both"
        raise InputError(what, "Write: lanelab study run NAME, or: lanelab study run --resume RUN")
    if sweep.listen:
        what = "each figure of a study is a run of its own, with keys of its own, so nobody can join all of them"
        raise InputError(what, "Use --workers, or --cluster with a scheduler that stays", key="--listen")
    sweep.check(made)
    if resumed:
        given = (variant, trials, beds, scale, seed, out)
        if any(value is not None for value in given) or not made.may_go_on:
            what = "a run that goes on keeps its variant, its trials, its folder, its seed and how its beds are made"
            options = (
                "--variant, --trials, --beds, --scale, --seed, --out, --substrate, --inventory, --router and --pin"
            )
            raise InputError(what, f"Leave {options} out; --figure and --accept-links may be given")
        folder, about = _to_go_on_with(resumed)
    else:
        asked = AskedStudy(Asked(trials, beds, scale), variant, figures, seed, out, made)
        folder, about = begin_study(read_study_folder(name or ""), asked)
    wanted = chosen(about.study, figures)
    try:
        with opened(folder, about) as run:
            played = play_figures(run, wanted, BedOptions.from_json(about.bed).going_on(made), sweep)
    except (Interrupted, KeyboardInterrupt) as error:
        only = "".join(f" --figure {number}" for number in wanted)
        remedy = f"Go on with: lanelab study run --resume {folder}{only}"
        raise Interrupted("stopped; everything that was finished is stored", remedy) from error
    _tell_results(folder)
    if played.failed:
        sys.exit(EXIT_FAILED)
    if played.missing and not allow_missing:
        sys.exit(EXIT_INCOMPLETE)


# --- beginning, or going on


@dataclass(frozen=True, slots=True)
class AskedStudy:
    """What the command was asked for."""

    instead: Asked
    variant: str | None
    figures: Sequence[int]
    seed: int | None
    out: Path | None
    made: BedOptions


def begin_study(read: StudyFolder, asked: AskedStudy) -> tuple[Path, StudyRun]:
    """A new run, once it is known that it can be made: no folder is made for one that cannot run."""
    study = read.study
    variant = chosen_variant(study, asked.variant)
    wanted = chosen(study, asked.figures)
    experiments = {number: asked.instead.of(one) for number, one in read.experiments(variant).items()}
    _tell_too_few({number: one for number, one in experiments.items() if not wanted or number in wanted})
    tell_unwritten(read.folder, study)
    for number in wanted or experiments:
        asked.made.require(links_of(experiments[number]))
        programs_of(experiments[number], asked.made)
    asked.made.nodes()  # an error in the inventory is reported now, too
    seed = secrets.randbelow(LARGEST_SEED + 1) if asked.seed is None else asked.seed
    about = begin_with(read, variant, asked.instead, seed=seed, bed=asked.made.to_json(), lanelab=VERSION)
    folder = asked.out or new_folder(study.name, variant)
    create(folder, about, read)
    return folder, about


def _tell_too_few(experiments: Mapping[int, Experiment]) -> None:
    if few := too_few_for_verdicts(experiments):
        named = f"figure{'s' if len(few) > 1 else ''} {', '.join(map(str, few))}"
        note(
            f"mind: {named} cannot give verdicts from so few trials; changes need {ENOUGH_ROUNDS} on one bed, or "
            f"{ENOUGH_BEDS} beds"
        )


def _to_go_on_with(name: str) -> tuple[Path, StudyRun]:

    folder = find_study_run(name)
    about = read_about(folder)
    _tell_changed(about)
    return folder, about


def _tell_changed(about: StudyRun) -> None:
    """The files of a study may have been changed since, or may not be here at all."""
    if not is_here(about.study.name):
        return
    try:
        changed = changed_since(about, read_study_folder(about.study.name))
    except LanelabError as error:
        note(f"the study as it is now cannot be read ({error}); the run goes on with its own copies")
        return
    for number in changed:
        note(f"the experiment of figure {number} was changed since this run began; the run goes on with its own copy")


# --- playing


@dataclass
class Played:
    """How the figures went."""

    missing: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)


def play_figures(run: OpenStudyRun, wanted: Sequence[int], made: BedOptions, sweep: SweepOptions = ONE_BED) -> Played:
    """Every figure that is not finished. One that fails does not keep the others from being run."""
    estimates = costs(run.experiments)
    numbers = still_to_run(standings_of(run, estimates), wanted)
    _tell_plan(run, numbers, estimates)
    made.nodes()
    warn_of(made)
    played = Played()
    expected_s = taken_s = 0.0
    for place, number in enumerate(numbers):
        standings = standings_of(run, estimates)
        pace = taken_s / expected_s if expected_s else 1.0
        own = remaining_s(standings, [number], pace)
        rest = remaining_s(standings, numbers[place:], pace)
        title = next(figure.title for figure in run.study.figures if figure.number == number)
        note(f"figure {number} ({place + 1} of {len(numbers)}), {title}: about {minutes(own)} of {minutes(rest)}")
        began = time.monotonic()
        try:
            if not _play_figure(run, number, made, sweep):
                played.missing.append(number)
        except Interrupted:
            raise
        except LanelabError as error:
            played.failed.append(number)
            note(f"figure {number} could not be run: {error}")
            continue
        expected_s += remaining_s(standings, [number])
        taken_s += time.monotonic() - began
    return played


def _tell_plan(run: OpenStudyRun, numbers: Sequence[int], estimates: Mapping[int, Estimate]) -> None:
    words = ", ".join(filter(None, [run.study.title, run.about.variant and f"variant {run.about.variant}"]))
    if not numbers:
        note(f"{words}: every figure is finished, in {run.folder}")
        return
    made = [estimates[number] for number in numbers]
    trials = sum(one.trials for one in made)
    standings = standings_of(run, estimates)
    least = remaining_s(standings, numbers)
    most = least + sum(one.most_seconds - one.seconds for one in made)
    disk = size(sum(one.most_disk_bytes for one in made))
    count = f"{len(numbers)} figure{'s' if len(numbers) > 1 else ''}"
    note(f"{words}: {count}, {trials} trials, about {time_words(least, most)}, {disk}, in {run.folder}")


def _play_figure(run: OpenStudyRun, number: int, made: BedOptions, sweep: SweepOptions) -> bool:
    """Whether every cell has what was asked for."""
    folder, experiment = run.figure_folder(number), run.experiments[number]
    if sweep.is_asked_for:
        require_portions(experiment)
    if (folder / run_format.DATABASE).is_file():
        begun = start.resume(folder)
    else:
        shutil.rmtree(folder, ignore_errors=True)  # what was killed before it had its database
        own = placed(made, experiment).to_json()
        begun = start.begin(experiment, VERSION, folder, figure_seed(run.about.seed, number), own)
    made = BedOptions.from_json(json.loads(begun.store.meta("bed"))).going_on(made)
    try:
        play(begun, programs_of(begun.experiment, made, sweep), made, sweep, as_json=False)
        missing = tell_missing(begun, as_json=False)
    finally:
        begun.store.close()
    write_run_report(folder)
    return not missing


def _tell_results(folder: Path) -> None:
    note(f"the study's run is in {folder}")
    tell_report(folder)
