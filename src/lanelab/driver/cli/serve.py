"""lanelab serve: the runs in a browser."""

from pathlib import Path

import click

from lanelab.driver.api.lend_beds import KINDS, allowed_kinds
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import EXIT_FAILED
from lanelab.driver.cli.output import note
from lanelab.driver.page.export import export_pages
from lanelab.driver.page.opening import open_privately
from lanelab.driver.page.server import Address
from lanelab.driver.page.server import serve as serve_pages


@click.command("serve")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"), required=False)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port (default: a free one)")
@click.option("--open", "opens", is_flag=True, help="Open the page in this machine's browser")
@click.option("--export", "target", type=click.Path(path_type=Path), help="Write the pages as files, and end")
@click.option(
    "--allow",
    "allowed",
    metavar="WHAT",
    multiple=True,
    help=f"Let experiments that are begun from the page run code of their authors: {', '.join(KINDS)}; with commas, or "
    "several times",
)
def serve(folder: Path, port: int, *, opens: bool, target: Path | None, allowed: tuple[str, ...]) -> None:
    """Show the runs in FOLDER (default: ./runs) in a browser, as they are made.

    Only browsers of this machine get in, with the link that is printed; each link lets one in, and then there is a new
    one. Runs are begun, stopped and gone on with from the page; one that goes on is watched wherever it was begun.
    Closing the page, and ending this, ends no run.

    \b
    Examples:
      lanelab serve
      lanelab serve --export public      # plain files, for any web server
    """
    if target:
        many, problems = export_pages(folder, target)
        for problem in problems:
            note(problem)
        note(f"{counted(many, 'run')} written to {target}")
        if problems:
            raise SystemExit(EXIT_FAILED)
        return
    links, opened = list[str](), list[Path | None]()

    def listening(address: Address) -> None:
        links.append(address.link())
        first = len(links) == 1
        note(f"open {links[-1]} (Ctrl-C ends this)" if first else f"another browser: {links[-1]}")
        if opens and first:
            opened.append(open_privately(links[-1]))

    try:
        serve_pages(folder, port, listening, allowed_kinds(allowed))
    finally:
        for file in filter(None, opened):
            file.unlink(missing_ok=True)
