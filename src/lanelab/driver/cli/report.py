"""lanelab report: a run as one page."""

import webbrowser
from pathlib import Path

import click

from lanelab.analysis.results.report import save_figures, write_report
from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.runs import find_run
from lanelab.analysis.results.sections.of_run import results_markdown
from lanelab.driver.cli.common import run_argument
from lanelab.driver.cli.output import note


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
    folder = find_run(name)
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
