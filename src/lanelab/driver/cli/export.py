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

OF_FILES: dict[str, exports.Kind] = {"har": "har", "pcapng": "pcapng", "trace": "trace"}
FORMATS = ("csv", "parquet", "json", *OF_FILES)
CALLED = {"har": "HAR", "pcapng": "capture", "trace": "trace"}


@click.command("export")
@run_argument
@click.option("--format", "kind", type=click.Choice(FORMATS), required=True, help="What to write")
@click.option("--output", type=click.Path(path_type=Path), help="Where to (default: stdout, or beside you)")
@click.option("--requests", is_flag=True, help="One row for each request, not each trial; in JSON: requests too")
@click.option("--series", is_flag=True, help="One row for each point of each series over time, not each trial")
@click.option("--median", is_flag=True, help="Files of the median trial of each cell only")
def export(name: str, *, kind: str, output: Path | None, requests: bool, series: bool, median: bool) -> None:
    """Write a run for other programs: csv and json to stdout, parquet to a file, files of its trials to a folder.

    Failed trials are in csv, json and parquet, with their status. What the columns are: docs/reference/json.md

    har: for DevTools and what else reads HAR 1.2. pcapng: for Wireshark, decrypted, with a key log beside it for
    programs that look for one; of a load of a server its first packets. trace: for Perfetto and DevTools.

    \b
    Examples:
      lanelab export latest --format csv --output trials.csv
      lanelab export latest --format parquet --requests
    """
    if median and kind not in OF_FILES:
        remedy = f"Write --format {' or '.join(OF_FILES)}, or leave it out"
        raise InputError(f"it means nothing with --format {kind}", remedy, key="--median")
    if series and (requests or kind not in ("csv", "parquet")):
        what = "--requests" if requests else f"--format {kind}"
        remedy = "Write it with --format csv or parquet alone; json has series anyway"
        raise InputError(f"it means nothing with {what}", remedy, key="--series")
    if requests and kind in OF_FILES:
        raise InputError(f"it means nothing with --format {kind}", "Leave it out", key="--requests")
    run = open_run(name)
    if not run.loads_pages and (kind in ("har", "trace") or requests):
        what = "it means nothing for a load of a server, which has no request of a browser"
        key = "--requests" if requests else f"--format {kind}"
        remedy = "Leave it out" if requests else "Write --format csv, parquet, json or pcapng"
        raise InputError(what, remedy, key=key)
    if kind in OF_FILES:
        _export_files(run, OF_FILES[kind], output or Path(f"{run.folder.resolve().name}-{kind}"), median=median)
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


def _export_files(run: Run, kind: exports.Kind, folder: Path, *, median: bool) -> None:
    exported = run.export_files(kind, folder, median=median)
    note(f"{counted(len(exported.files), 'file')} written to {folder}")
    if kind == "pcapng" and not run.loads_pages and exported.files:
        note("a load of a server keeps its first packets alone: the beginnings of its connections")
    if exported.lacking:
        note(f"{counted(exported.lacking, 'trial')} without a {CALLED[kind]} in the run folder")
