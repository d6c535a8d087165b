"""lanelab run: runs an experiment."""

import sys
import webbrowser
from contextlib import nullcontext
from pathlib import Path

import click

from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.events_file import event_lines
from lanelab.driver.api.opened_run import Run
from lanelab.driver.api.run_experiment import resume
from lanelab.driver.api.run_experiment import run as run_experiment
from lanelab.driver.api.studies import MOST_TRIALS
from lanelab.driver.api.sweeps import SweepOptions
from lanelab.driver.base.errors import EXIT_INCOMPLETE, InputError
from lanelab.driver.base.settings.kinds import LARGEST_SEED, MOST_BEDS
from lanelab.driver.cli.bed_options import bed_options
from lanelab.driver.cli.completions import complete_run
from lanelab.driver.cli.file_completions import complete_experiment, complete_variant
from lanelab.driver.cli.interrupts import stopping
from lanelab.driver.cli.output import console
from lanelab.driver.cli.progress import watching
from lanelab.driver.cli.report import write_run_report
from lanelab.driver.cli.sweep_options import sweep_options


@click.command("run")
@click.argument(
    "file", required=False, shell_complete=complete_experiment, type=click.Path(dir_okay=False, path_type=Path)
)
@click.option(
    "--resume",
    "resumed",
    metavar="RUN",
    shell_complete=complete_run,
    help="Go on with that run: its folder, its name, or latest",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the run (default: runs/DATE-NAME)")
@click.option(
    "--seed",
    type=click.IntRange(0, LARGEST_SEED),
    metavar="N",
    help="Seed of the order, instead of the experiment's or a random one",
)
@click.option(
    "--scale", type=float, metavar="X", help="Of a load: so much of the users in so much of the time, for a look"
)
@click.option(
    "--trials",
    type=click.IntRange(1, MOST_TRIALS),
    metavar="N",
    help="Of each cell, instead of what the experiment says",
)
@click.option(
    "--beds",
    type=click.IntRange(1, MOST_BEDS),
    metavar="N",
    help="Over how many fresh beds the rounds are divided, instead of the experiment's",
)
@click.option(
    "--reuse",
    "reused",
    metavar="STORE",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Take what this run, or the runs in this folder, have of the same trials; measure the rest",
)
@click.option(
    "--variant",
    metavar="NAME",
    shell_complete=complete_variant,
    help="Which of the experiment's variants is run (default: the first)",
)
@click.option("--open", "open_report", is_flag=True, help="Open the report in this machine's browser at the end")
@click.option("--json", "as_json", is_flag=True, help="Print events as JSON lines instead of the table")
@click.option(
    "--events",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Add the events to this file, each a JSON line as it happens, beside what is shown",
)
@click.option("--allow-missing", is_flag=True, help="Exit with status 0, not 3, where cells lack trials that count")
@click.option("--accept-links", is_flag=True, help="Go on where a link is out of tolerance; results then say so")
@sweep_options
@bed_options
def run(  # noqa: PLR0913 - an option each
    file: Path | None,
    resumed: str | None,
    out: Path | None,
    seed: int | None,
    trials: int | None,
    beds: int | None,
    scale: float | None,
    *,
    reused: Path | None,
    variant: str | None,
    options: BedOptions,
    sweep: SweepOptions,
    open_report: bool,
    as_json: bool,
    events: Path | None,
    allow_missing: bool,
) -> None:
    """Run an experiment: FILE says which sites, links and arms. Ends with a table of medians and a report.

    An experiment of lanelab's own goes by its name, too: quickstart, labs/1-slow-start.

    Ctrl-C finishes the trial and stops; a second one stops at once. Either way nothing that was finished is lost, and
    --resume goes on.

    Installs what the experiment needs where it may. On a terminal a live line shows how far the run is. With --workers,
    --listen or --cluster it runs on many beds: docs/reference/sweeps.md. For --reuse see docs/reference/reuse.md, for
    --scale docs/reference/load.md.

    Exit status: 0; 3 where a cell has fewer trials that count than asked for; 2 for bad input, 1 for a failure, 130
    after Ctrl-C. docs/guide.md says more of each.

    \b
    Examples:
      lanelab run quickstart
      lanelab run experiments/quickstart.yaml --substrate ssh --inventory machines.yml
      lanelab run --resume runs/20261120T101500Z-quickstart
      lanelab run experiments/quickstart.yaml --reuse runs
      lanelab run experiments/rtt-bandwidth-grid.yaml --workers 2
    """
    if (file is None) == (resumed is None):
        what = "name an experiment file, or with --resume the folder of a run to go on with, and not both"
        raise InputError(what, "Write: lanelab run FILE, or: lanelab run --resume DIR")
    given = any(value is not None for value in (out, seed, trials, beds, scale, variant))
    if resumed and (given or not options.may_go_on):
        what = "a run that goes on keeps its folder, its seed and how its beds are made"
        refused = "--out, --seed, --trials, --beds, --scale, --variant, --substrate, --inventory, --router and --pin"
        raise InputError(what, f"Leave {refused} out")
    with (
        watching(as_json=as_json, many_beds=sweep.is_asked_for) as shown,
        event_lines(events, shown) if events else nullcontext(shown) as tell,
        stopping() as stop,
    ):
        if resumed:
            done = resume(
                resumed,
                on_event=tell,
                stop=stop,
                accept_links=options.accept_links,
                reuse=reused,
                sweep=sweep,
                command=sys.argv[1:],
            )
        elif file:
            done = run_experiment(
                file,
                out=out,
                on_event=tell,
                stop=stop,
                seed=seed,
                trials=trials,
                beds=beds,
                scale=scale,
                variant=variant,
                reuse=reused,
                bed=options,
                sweep=sweep,
                command=sys.argv[1:],
            )
    _tell_results(done, as_json=as_json, open_report=open_report)
    if done.missing and not allow_missing:
        sys.exit(EXIT_INCOMPLETE)


def _tell_results(run: Run, *, as_json: bool, open_report: bool) -> None:
    if not as_json:
        console().print(run.result().renderable())
    report = write_run_report(run, tell=not as_json)
    if open_report:
        webbrowser.open(report.resolve().as_uri())
