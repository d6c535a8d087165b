"""lanelab merge: one run of several."""

import datetime
from pathlib import Path

import click

from lanelab.analysis.results.runs import RUNS, find_run
from lanelab.driver.api.opened_run import open_run
from lanelab.driver.base.version import VERSION
from lanelab.driver.cli.output import note
from lanelab.driver.cli.runs import write_run_report
from lanelab.driver.run.merging import merge as merge_runs


@click.command("merge")
@click.argument("names", metavar="RUN RUN...", nargs=-1, required=True)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the new run (default: runs/DATE-merged)")
def merge(names: tuple[str, ...], *, out: Path | None) -> None:
    """Make one run of several runs of equal experiments. RUN is a folder, the name of a run in ./runs, or `latest`.

    Rounds are numbered on, run after run; beds, machines, self-tests and artifacts come along, and the runs stay as
    they are. A trial that is in two of them comes in once. What merging means: docs/reference/reuse.md

    \b
    Examples:
      lanelab merge runs/20261120T101500Z-quickstart runs/20261121T091000Z-quickstart
      lanelab merge monday tuesday --out runs/both
    """

    folders = [find_run(name) for name in names]
    if out is None:
        stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
        out = RUNS / f"{stamp}-merged"
    merged = merge_runs(folders, out, VERSION, note)
    for sentence in merged.differences:
        note(f"mind: {sentence}")
    note(merged.sentence())
    note(f"run folder {merged.folder}")
    write_run_report(open_run(merged.folder))
