"""lanelab merge: one run of several."""

from pathlib import Path

import click

from lanelab.driver.api.merge_runs import merge as merge_runs
from lanelab.driver.cli.completions import complete_run
from lanelab.driver.cli.output import note
from lanelab.driver.cli.report import write_run_report


@click.command("merge")
@click.argument("names", metavar="RUN RUN...", shell_complete=complete_run, nargs=-1, required=True)
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
    merged = merge_runs(names, out, on_event=lambda event: note(event.words))
    note(f"run folder {merged.folder}")
    write_run_report(merged)
