"""lanelab study matrix: all studies that were run on one page."""

from pathlib import Path

import click

from lanelab.driver.api.study_matrix import study_matrix
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.completions import complete_study_run
from lanelab.driver.cli.output import console, note, print_json


@click.command("matrix")
@click.argument("runs", metavar="[RUN]...", nargs=-1, shell_complete=complete_study_run)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Write it as a page, with the report of each run beside it")  # fmt: skip
@json_option
def matrix(runs: tuple[str, ...], *, out: Path | None, as_json: bool) -> None:
    """Show all studies on one page: what each work said, and what of it holds.

    RUN is a run of a study: a folder, a name, or the file of an artifact, as of another machine. Without RUN those in
    ./runs. Of several runs of a study and variant the newest counts, and for a figure that it lacks the one before it.

    \b
    Examples:
      lanelab study matrix
      lanelab study matrix --out public
      lanelab study matrix runs/here-period runs/here-today --json
      lanelab study matrix runs/here-today theirs/here-period-artifact.tar.gz --out public
    """
    whole = study_matrix(runs)
    for problem in whole.unreadable:
        note(f"left out: {problem}")
    if out:
        note(f"written: {whole.write(out)}")
    if as_json:
        print_json(whole.to_json())
    elif not out:
        console().print(whole.renderable())
