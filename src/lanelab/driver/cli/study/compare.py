"""lanelab study compare: two runs of one study side by side."""

from pathlib import Path

import click

from lanelab.driver.api.study_run import StudyAgreement, open_study_run
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.completions import complete_study_run
from lanelab.driver.cli.output import console, note, print_json


@click.command("compare")
@click.argument("first", metavar="RUN", shell_complete=complete_study_run)
@click.argument("other", metavar="RUN", shell_complete=complete_study_run)
@click.option("--markdown", type=click.Path(path_type=Path), metavar="FILE", help="Write the same as Markdown, too")
@json_option
def compare_runs_of_study(first: str, other: str, *, markdown: Path | None, as_json: bool) -> None:
    """Two runs of one study side by side: two variants, two machines, two dates.

    Each claim with its verdict and effect in both, and each figure's medians with their change. RUN is a folder, the
    name of a run in ./runs, the name of a study, or `latest`.

    \b
    Examples:
      lanelab study compare period today
      lanelab study compare runs/here runs/there --markdown both.md
    """
    agreement = open_study_run(first).against(open_study_run(other))
    if markdown:
        agreement.write_markdown(markdown)
        note(f"written: {markdown}")
    if as_json:
        print_json(agreement.to_json())
    else:
        show(agreement)


def show(agreement: StudyAgreement) -> None:
    """Print both runs on a terminal."""
    for line in agreement.runs():
        note(line)
    console().print(agreement.renderable())
