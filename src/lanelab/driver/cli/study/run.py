"""lanelab study run: the figures of a study, one after the other, and then what they say of its claims."""

import sys
from pathlib import Path

import click

from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.studies import MOST_TRIALS, resume_study
from lanelab.driver.api.studies import run_study as play
from lanelab.driver.api.sweeps import SweepOptions
from lanelab.driver.base.errors import EXIT_FAILED, EXIT_INCOMPLETE, InputError
from lanelab.driver.base.settings.kinds import LARGEST_SEED, MOST_BEDS
from lanelab.driver.cli.bed_options import bed_options
from lanelab.driver.cli.completions import complete_study_run
from lanelab.driver.cli.file_completions import complete_figure, complete_study, complete_variant
from lanelab.driver.cli.interrupts import stopping
from lanelab.driver.cli.output import note
from lanelab.driver.cli.progress import watching
from lanelab.driver.cli.study.report import tell_report
from lanelab.driver.cli.sweep_options import sweep_options


@click.command("run")
@click.argument("name", required=False, shell_complete=complete_study)
@click.option(
    "--resume",
    "resumed",
    metavar="RUN",
    shell_complete=complete_study_run,
    help="Go on with that run: its folder, its name, or latest",
)
@click.option(
    "--variant", shell_complete=complete_variant, help="Which of the study's variants is run (default: the first)"
)
@click.option(
    "--figure",
    "figures",
    shell_complete=complete_figure,
    type=int,
    multiple=True,
    metavar="N",
    help="Only this one; may be given again",
)
@click.option(
    "--trials",
    type=click.IntRange(1, MOST_TRIALS),
    metavar="N",
    help="Of each cell, instead of what the experiments say",
)
@click.option(
    "--beds",
    type=click.IntRange(1, MOST_BEDS),
    metavar="N",
    help="Over how many fresh beds rounds are divided, likewise",
)
@click.option(
    "--scale", type=float, metavar="X", help="Of loads: so much of the users in so much of the time, for a look"
)
@click.option("--seed", type=click.IntRange(0, LARGEST_SEED), metavar="N", help="From which each figure's seed is made")
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
    options: BedOptions,
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
    given = any(value is not None for value in (variant, trials, beds, scale, seed, out))
    if resumed and (given or not options.may_go_on):
        what = "a run that goes on keeps its variant, its trials, its folder, its seed and how its beds are made"
        refused = "--variant, --trials, --beds, --scale, --seed, --out, --substrate, --inventory, --router and --pin"
        raise InputError(what, f"Leave {refused} out; --figure and --accept-links may be given")
    with watching(as_json=False, many_beds=sweep.is_asked_for) as tell, stopping() as stop:
        if resumed:
            played = resume_study(
                resumed, figures=figures, bed=options, sweep=sweep, on_event=tell, stop=stop, command=sys.argv[1:]
            )
        else:
            played = play(
                name or "", variant=variant, figures=figures, trials=trials, beds=beds, scale=scale, seed=seed,
                out=out, bed=options, sweep=sweep, on_event=tell, stop=stop, command=sys.argv[1:],
            )  # fmt: skip
    note(f"the study's run is in {played.folder}")
    tell_report(played.folder)
    if played.failed:
        sys.exit(EXIT_FAILED)
    if played.missing and not allow_missing:
        sys.exit(EXIT_INCOMPLETE)
