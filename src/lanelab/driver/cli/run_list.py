"""lanelab runs: the runs in a folder."""

from pathlib import Path

import click

from lanelab.driver.api.list_runs import runs as list_runs
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json, table


@click.command("runs")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"), required=False)
@json_option
def runs(folder: Path, *, as_json: bool) -> None:
    """List the runs in FOLDER (default: ./runs), of experiments and of studies, the newest last.

    `killed` is a run that says it is running but has no lanelab any more.
    """
    lines = list_runs(folder)
    if as_json:
        print_json([line.to_json() for line in lines])
        return
    if not lines:
        note(f"there is no run in {folder} yet. Make one: lanelab run EXPERIMENT")
        return
    rows = (
        (line.folder.name, line.name, line.created_utc[:16].replace("T", " "), line.state, str(line.trials),
         str(line.failures), line.problem)
        for line in lines
    )  # fmt: skip
    columns = ("run", "of", "begun (UTC)", "state", "trials", "failed", "")
    console().print(table(columns, rows, right=("trials", "failed")))
