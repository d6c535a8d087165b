"""lanelab explain: why load times are what they are."""

from pathlib import Path

import click

from lanelab.analysis.results.explain import explain as explained_of
from lanelab.analysis.results.layout.data import data_of
from lanelab.analysis.results.layout.markdown import markdown
from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.runs import find_run
from lanelab.analysis.results.sections.explained import explained_sections
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.common import json_option, run_argument
from lanelab.driver.cli.output import console, print_json
from lanelab.driver.record.evidence.parts import Parts
from lanelab.driver.run.folder.trial_records import read_record


@click.command("explain")
@run_argument
@click.argument("what", metavar="[CELL | ARM [ARM]]", nargs=-1)
@click.option("--trial", type=click.IntRange(min=1), metavar="N", help="One trial beside the others of its cell")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown, for a page or a paper")
@json_option
def explain(name: str, what: tuple[str, ...], *, trial: int | None, as_markdown: bool, as_json: bool) -> None:
    """Say why load times are what they are: of what they are made, and where arms differ.

    With one name: that cell, or that arm on each link. With two arms: why the second is faster or slower than the
    first. With none: every cell and every comparison of the run. Trials that stand far apart are explained too.
    How load times are divided into parts: docs/reference/parts.md

    \b
    Examples:
      lanelab explain latest
      lanelab explain latest HTTP HTTP/2
      lanelab explain latest --trial 12
    """

    if len(what) > 2 or (what and trial is not None):
        raise InputError("there is too much to explain at once", "Name one cell, one arm, two arms or one trial")
    folder = find_run(name)
    explained = explained_of(read_run(folder), what, lambda number: _parts(folder, number), trial)
    if as_json:
        print_json(data_of(explained))
        return
    sections = explained_sections(explained)
    if as_markdown:
        click.echo(markdown(sections), nl=False)
    else:
        console().print(on_terminal(sections))


def _parts(folder: Path, trial: int) -> Parts | None:
    page = read_record(folder, trial).page_load
    return page.parts if page else None
