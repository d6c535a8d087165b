"""lanelab show: the results of a run, on a terminal or as JSON."""

import click

from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.runs import find_run
from lanelab.analysis.results.sections.of_run import each_section
from lanelab.analysis.results.sections.seen import Seen
from lanelab.driver.cli.common import json_option, run_argument
from lanelab.driver.cli.output import console, note, print_json


@click.command("show")
@run_argument
@click.option("--trial", type=click.IntRange(min=1), metavar="N", help="Everything about one trial")
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
    folder = find_run(name)
    if trial is not None:
        from lanelab.driver.cli.show_trial import show_trial  # noqa: PLC0415 - only this needs records

        show_trial(folder, trial, as_json=as_json)
        return
    run = read_run(folder)
    if as_json:
        from lanelab.analysis.results.export import results  # noqa: PLC0415 - only this needs exports

        print_json({"name": run.name, "state": run.state, "created_utc": run.created_utc, **results(run)})
        return

    counts = f"{len(run.ok)} trials count, {len(run.failed)} failed"
    note(f"{run.name}, {run.state}, begun {run.created_utc[:16].replace('T', ' ')} UTC: {counts}")
    out = console()
    for section in each_section(Seen(run)):  # of a large run, the first ones are read while the others are worked out
        out.print(on_terminal([section]))
