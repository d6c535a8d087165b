"""lanelab runs, show, export, report: the results of runs."""

import json
import sys
import webbrowser
from pathlib import Path
from typing import Any

import click

from lanelab.analysis.results import export as exporting
from lanelab.analysis.results.export import results, write_hars
from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.report import save_figures, write_report
from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.runs import find_run
from lanelab.analysis.results.sections.of_run import results_markdown
from lanelab.analysis.results.sections.of_run import results_on_terminal as shown
from lanelab.analysis.results.study.runs import list_all_runs
from lanelab.analysis.results.trial_table import trial_section
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.common import json_option, run_argument
from lanelab.driver.cli.output import console, note, print_json, table
from lanelab.driver.record.metrics import LOAD
from lanelab.driver.run.folder.trial_content import artifact_path, read_artifacts, read_record

FORMATS = ("csv", "parquet", "har", "json")


@click.command("runs")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"), required=False)
@json_option
def runs(folder: Path, *, as_json: bool) -> None:
    """List the runs in FOLDER (default: ./runs), of experiments and of studies, the newest last.

    `killed` is a run that says it is running but has no lanelab any more.
    """

    lines = list_all_runs(folder)
    if as_json:
        fields = ("kind", "name", "created_utc", "state", "trials", "failures", "problem")
        print_json([{"folder": str(line.folder), **{key: getattr(line, key) for key in fields}} for line in lines])
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


def _run_folder(name: str) -> Path:

    return find_run(name)


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

    folder = _run_folder(name)
    if trial is not None:
        _show_trial(folder, trial, as_json=as_json)
        return
    run = read_run(folder)
    if as_json:
        print_json({"name": run.name, "state": run.state, "created_utc": run.created_utc, **results(run)})
        return

    counts = f"{len(run.ok)} trials count, {len(run.failed)} failed"
    note(f"{run.name}, {run.state}, begun {run.created_utc[:16].replace('T', ' ')} UTC: {counts}")
    console().print(shown(run))


def _show_trial(folder: Path, number: int, *, as_json: bool) -> None:

    record = read_record(folder, number)
    if as_json:
        print_json(record.to_json())
        return

    trial = next(one for one in read_run(folder).trials if one.number == number)
    artifacts = [
        (file, length if artifact_path(folder, number, file).exists() else None)
        for file, length, _ in read_artifacts(folder, number)
    ]
    section = trial_section(trial, record, artifacts)
    note(section.title)
    console().print(on_terminal([section]))


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
    run = read_run(_run_folder(name))
    if run.workload == LOAD and (kind == "har" or requests):
        what = "it means nothing for a load of a server, which has no request of a browser"
        raise InputError(what, "Write --format csv, parquet or json", key="--requests" if requests else "--format har")
    if kind == "har":
        _export_hars(run, output or Path(f"{run.folder.resolve().name}-har"), median=median)
    elif kind == "json":
        _export_json(run, output, requests=requests)
    else:
        _export_rows(run, kind, output, what="requests" if requests else "series" if series else "trials")


def _export_rows(run: Any, kind: str, output: Path | None, *, what: str) -> None:  # noqa: ANN401

    of = {"requests": exporting.request_rows, "series": exporting.series_rows, "trials": exporting.trial_rows}
    rows = of[what](run)
    counted = "points of series" if what == "series" else what
    if kind == "parquet":
        target = output or Path(f"{run.folder.resolve().name}-{what}.parquet")
        note(f"{exporting.write_parquet(rows, target)} {counted} written to {target}")
    elif output:
        note(f"{exporting.write_text(output, exporting.write_csv, rows)} {counted} written to {output}")
    else:
        exporting.write_csv(rows, sys.stdout)


def _export_json(run: Any, output: Path | None, *, requests: bool) -> None:  # noqa: ANN401

    data = exporting.everything(run, requests=requests)
    if output is None:
        print_json(data)
        return

    def write(whole: Any, file: Any) -> int:  # noqa: ANN401
        json.dump(whole, file, indent=1)
        return 1

    exporting.write_text(output, write, data)  # type: ignore[arg-type] # one object instead of rows
    note(f"the run is written to {output}")


def _export_hars(run: Any, folder: Path, *, median: bool) -> None:  # noqa: ANN401

    written, lacking = write_hars(run, folder, median=median)
    note(f"{len(written)} HAR files written to {folder}")
    if lacking:
        note(f"{counted(lacking, 'trial')} without a HAR in the run folder")


@click.command("report")
@run_argument
@click.option("--output", type=click.Path(path_type=Path), help="Where to (default: report.html in the run folder)")
@click.option("--open", "open_it", is_flag=True, help="Show it in a browser")
@click.option("--figures", type=click.Choice(("svg", "png")), help="Save each figure as a file in RUN/figures too")
@click.option("--markdown", type=click.Path(path_type=Path), metavar="FILE", help="Write the results as Markdown, too")
def report(name: str, *, output: Path | None, open_it: bool, figures: str | None, markdown: Path | None) -> None:
    """Write the report of a run: one HTML page with tables, charts, waterfalls and provenance.

    \b
    Examples:
      lanelab report latest --open
      lanelab report latest --figures svg
      lanelab report latest --markdown results.md
    """

    folder = _run_folder(name)
    target = write_report(folder, output)
    note(f"the report is {target}")
    if markdown:
        write_whole(markdown, results_markdown(read_run(folder)).encode())
        note(f"written: {markdown}")
    if figures:
        for path in save_figures(folder, "svg" if figures == "svg" else "png"):
            note(f"figure {path}")
    if open_it and not webbrowser.open(target.resolve().as_uri()):
        note("no browser could be started: open the file yourself")
