"""lanelab export: a run for other programs."""

import sys
from pathlib import Path

import click

from lanelab.driver.api import exports
from lanelab.driver.api.opened_run import Run, open_run
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.common import run_argument
from lanelab.driver.cli.output import note, print_json

FORMATS = ("csv", "parquet", "har", "json")


@click.command("export")
@run_argument
@click.option("--format", "kind", type=click.Choice(FORMATS), required=True, help="What to write")
@click.option("--output", type=click.Path(path_type=Path), help="Where to (default: stdout, or beside you)")
@click.option("--requests", is_flag=True, help="One row for each request, not each trial; in JSON: requests too")
@click.option("--series", is_flag=True, help="One row for each point of each series over time, not each trial")
@click.option("--median", is_flag=True, help="HAR of the median trial of each cell only")
def export(name: str, *, kind: str, output: Path | None, requests: bool, series: bool, median: bool) -> None:
    """Write a run for other programs: csv and json to stdout, parquet to a file, har to a folder.

    Failed trials are in it, with their status. What the columns are: docs/reference/json.md

    \b
    Examples:
      lanelab export latest --format csv --output trials.csv
      lanelab export latest --format parquet --requests
    """
    if median and kind != "har":
        raise InputError(
            f"it means nothing with --format {kind}", "Write --format har, or leave it out", key="--median"
        )
    if series and (requests or kind not in ("csv", "parquet")):
        what = "--requests" if requests else f"--format {kind}"
        remedy = "Write it with --format csv or parquet alone; json has series anyway"
        raise InputError(f"it means nothing with {what}", remedy, key="--series")
    if requests and kind == "har":
        raise InputError("a HAR has all requests anyway", "Leave it out", key="--requests")
    run = open_run(name)
    if not run.loads_pages and (kind == "har" or requests):
        what = "it means nothing for a load of a server, which has no request of a browser"
        raise InputError(what, "Write --format csv, parquet or json", key="--requests" if requests else "--format har")
    if kind == "har":
        _export_hars(run, output or Path(f"{run.folder.resolve().name}-har"), median=median)
    elif kind == "json":
        _export_json(run, output, requests=requests)
    else:
        _export_rows(run, kind, output, "requests" if requests else "series" if series else "trials")


def _export_rows(run: Run, kind: str, output: Path | None, rows: exports.Rows) -> None:
    unit = "points of series" if rows == "series" else rows
    if kind == "parquet":
        target = output or Path(f"{run.folder.resolve().name}-{rows}.parquet")
        note(f"{exports.parquet_to(run, rows, target)} {unit} written to {target}")
    elif output:
        note(f"{exports.csv_to(run, rows, output)} {unit} written to {output}")
    else:
        exports.csv_to(run, rows, sys.stdout)


def _export_json(run: Run, output: Path | None, *, requests: bool) -> None:
    if output is None:
        print_json(run.everything(requests=requests))
        return
    exports.json_to(run, output, requests=requests)
    note(f"the run is written to {output}")


def _export_hars(run: Run, folder: Path, *, median: bool) -> None:
    written, lacking = run.export_hars(folder, median=median)
    note(f"{len(written)} HAR files written to {folder}")
    if lacking:
        note(f"{counted(lacking, 'trial')} without a HAR in the run folder")
