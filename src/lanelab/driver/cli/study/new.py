"""lanelab study new."""

from pathlib import Path

import click

from lanelab.driver.api.new_study import write_skeleton
from lanelab.driver.cli.output import note


@click.command("new")
@click.argument("folder", type=click.Path(path_type=Path))
def new_study(folder: Path) -> None:
    """Write a commented skeleton of a study into FOLDER, which is new or empty: to be changed to a paper of yours.

    It can be shown and run as it is. docs/reproduce-a-paper.md says how to go on.

    \b
    Example:
      lanelab study new experiments/my-paper
    """
    for path in write_skeleton(folder):
        note(f"wrote {path}")
    note(f"what it would do: lanelab study show {folder}")
