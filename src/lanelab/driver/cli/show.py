"""lanelab show: the results of a run, on a terminal or as JSON."""

from typing import TYPE_CHECKING

import click

from lanelab.driver.api.opened_run import open_run
from lanelab.driver.cli.common import json_option, run_argument
from lanelab.driver.cli.completions import complete_trial
from lanelab.driver.cli.output import console, note, print_json

if TYPE_CHECKING:
    from lanelab.driver.api.trial import Trial


@click.command("show")
@run_argument
@click.option(
    "--trial", shell_complete=complete_trial, type=click.IntRange(min=1), metavar="N", help="Everything about one trial"
)
@json_option
def show(name: str, *, trial: int | None, as_json: bool) -> None:
    """Show a run's results: medians with intervals, comparisons, failures.

    RUN is a folder, the name of a run in ./runs, the name of an experiment (its newest run), or `latest`; of a study's
    run one of its figures, as NAME/figure-1. The run may still go on. How to read the table: docs/guide.md

    \b
    Examples:
      lanelab show latest
      lanelab show latest --trial 12
    """
    run = open_run(name)
    if trial is not None:
        _show_trial(run.trial(trial), as_json=as_json)
        return
    if as_json:
        print_json(run.results())
        return
    note(run.summary())
    out = console()
    for part in run.each_result():  # of a large run, the first ones are read while the others are worked out
        out.print(part.renderable())


def _show_trial(trial: "Trial", *, as_json: bool) -> None:
    if as_json:
        print_json(trial.to_json())
        return
    note(trial.heading)
    console().print(trial.result().renderable())
