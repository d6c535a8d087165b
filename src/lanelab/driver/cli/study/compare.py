"""lanelab study compare: two runs of one study side by side."""

from pathlib import Path

import click
from rich.text import Text

from lanelab.analysis.results.layout.data import data_of
from lanelab.analysis.results.report.whole import write_whole
from lanelab.analysis.results.study.compare import NOT_PAIRED, StudyComparison, compare_studies, names_of
from lanelab.analysis.results.study.compare_markdown import (
    cell_heads,
    cell_rows,
    claim_heads,
    claim_rows,
    comparison_markdown,
)
from lanelab.analysis.results.study.report import judge_study
from lanelab.analysis.results.study.run import read_study_run
from lanelab.analysis.results.study.runs import find_study_run
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json, table


@click.command("compare")
@click.argument("first", metavar="RUN")
@click.argument("other", metavar="RUN")
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
    made = compare_studies((one, judge_study(one)), (two, judge_study(two)))
    if markdown:
        write_whole(markdown, comparison_markdown(made).encode())
        note(f"written: {markdown}")
    if as_json:
        print_json(data_of(made))
    else:
        show(made)


def show(made: StudyComparison) -> None:
    """Print both runs on a terminal."""

    out, names = console(), names_of(made)
    for name, read in zip(names, (made.first, made.other), strict=True):
        variant = f", variant {read.about.variant}" if read.about.variant else ""
        note(f"{name}: {read.folder}{variant}, begun {read.about.created_utc}")
    out.print(table(claim_heads(names), list(claim_rows(made))))
    out.print(f"{made.outcome()}\n")
    for sentence in made.caveats():
        out.print(Text(sentence, style="yellow"))
    for figure in made.figures:
        out.print(f"Figure {figure.number}. {figure.title}")
        if figure.against is None:
            out.print(f"Not compared: {figure.why_not}.\n")
            continue
        heads = cell_heads(names, figure.against.first.primary.unit)
        out.print(table(heads, list(cell_rows(figure.against)), right=heads[3:7]))
    out.print(NOT_PAIRED)
    if made.conditions:
        out.print(table(("what differs besides", *names), made.conditions))
