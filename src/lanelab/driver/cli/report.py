"""lanelab report: a run as one page."""

import time
import webbrowser
from pathlib import Path

import click

from lanelab.driver.api.opened_run import Run, open_run
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
    run = open_run(name)
    target = run.report(output)
    note(f"the report is {target}")
    if markdown:
        run.write_markdown(markdown)
        note(f"written: {markdown}")
    if figures:
        for path in run.save_figures("svg" if figures == "svg" else "png"):
            note(f"figure {path}")
    if open_it and not webbrowser.open(target.resolve().as_uri()):
        note("no browser could be started: open the file yourself")


def write_run_report(run: Run, *, tell: bool = True) -> Path:
    """Write the report of a run into its folder. `tell`: say where it is."""
    started = time.monotonic()
    report = run.report()
    if tell:
        note(f"report: {report} (made in {time.monotonic() - started:.1f} s)")
    return report
