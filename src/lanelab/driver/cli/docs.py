"""lanelab docs: the documentation as pages, with a search."""

import webbrowser
from pathlib import Path

import click

from lanelab.driver.base.programs.building.documentation import documentation
from lanelab.driver.cli.output import note


@click.command("docs")
@click.option("--path", "only_path", is_flag=True, help="Print where the pages are, and open nothing")
def docs(*, only_path: bool) -> None:
    """Open the documentation in a browser: guide, labs and reference, with a search.

    The pages are made on first use, and again when the documentation has changed. They need no network.
    """
    page: Path = documentation() / "index.html"
    if only_path:
        click.echo(page)
    elif not webbrowser.open(page.resolve().as_uri()):
        note(f"no browser could be started: open {page} yourself")
