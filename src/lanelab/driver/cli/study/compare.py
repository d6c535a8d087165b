"""lanelab study compare: two runs of one study side by side."""

from pathlib import Path

import click

from lanelab.analysis.results.layout.data import data_of
from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.sections.compare import comparison_markdown, study_sections
from lanelab.analysis.results.study.compare import StudyComparison, compare_studies, names_of
from lanelab.analysis.results.study.page import judge_study
from lanelab.analysis.results.study.run import read_study_run
from lanelab.analysis.results.study.runs import find_study_run
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

    one, two = (read_study_run(find_study_run(name)) for name in (first, other))
    comparison = compare_studies((one, judge_study(one)), (two, judge_study(two)))
    if markdown:
        write_whole(markdown, comparison_markdown(comparison).encode())
        note(f"written: {markdown}")
    if as_json:
        print_json(data_of(comparison))
    else:
        show(comparison)


def show(comparison: StudyComparison) -> None:
    """Print both runs on a terminal."""

    out, names = console(), names_of(comparison)
    for name, read in zip(names, (comparison.first, comparison.other), strict=True):
        variant = f", variant {read.about.variant}" if read.about.variant else ""
        note(f"{name}: {read.folder}{variant}, begun {read.about.created_utc}")
    out.print(on_terminal(study_sections(comparison)))
