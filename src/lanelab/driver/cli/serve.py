"""lanelab serve: the runs in a browser."""

from pathlib import Path

import click

from lanelab.driver.api.lend_beds import KINDS, allowed_kinds
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import EXIT_FAILED, InputError
from lanelab.driver.cli.output import note
from lanelab.driver.page.access import Role
from lanelab.driver.page.export import export_pages
from lanelab.driver.page.listen import Place, open_place
from lanelab.driver.page.opening import open_privately
from lanelab.driver.page.server import HERE, Address
from lanelab.driver.page.server import serve as serve_pages

FILE = click.Path(dir_okay=False, exists=True, path_type=Path)


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
@click.option(
    "--listen",
    "address",
    metavar="ADDRESS",
    help="Let others in, too: serve with TLS on this address of this machine, with a link for those who watch",
)
@click.option(
    "--name",
    "names",
    metavar="HOST",
    multiple=True,
    help="With --listen: what browsers call this machine besides; may be given again",
)
@click.option("--cert", "certificate", type=FILE, help="With --listen: a certificate of your own, in PEM")
@click.option("--key", type=FILE, help="With --listen: its key, in PEM")
def serve(  # noqa: PLR0913 - an option each
    folder: Path,
    port: int,
    address: str | None,
    names: tuple[str, ...],
    certificate: Path | None,
    key: Path | None,
    *,
    opens: bool,
    target: Path | None,
    allowed: tuple[str, ...],
) -> None:
    """Show the runs in FOLDER (default: ./runs) in a browser, as they are made.

    Only browsers of this machine get in, with the link that is printed; each link lets one in, and then there is a new
    one. Runs are begun, stopped and gone on with from the page; one that goes on is watched wherever it was begun.
    Closing the page, and ending this, ends no run.

    With --listen a class gets in, too: there is a link with which anybody may watch, and one with which one browser may
    run. docs/serve.md says what browsers say of the certificate.

    \b
    Examples:
      lanelab serve
      lanelab serve --export public      # plain files, for any web server
      lanelab serve --listen 192.168.1.10 --name lab.example.org
    """
    if target:
        many, problems = export_pages(folder, target)
        for problem in problems:
            note(problem)
        note(f"{counted(many, 'run')} written to {target}")
        if problems:
            raise SystemExit(EXIT_FAILED)
        return
    place = _place(address, names, certificate, key)
    links, opened = list[str](), list[Path | None]()

    def listening(address: Address) -> None:
        links.append(address.link())
        first = len(links) == 1
        if first and place.files:
            _tell_class(address)
        note(f"open {links[-1]} (Ctrl-C ends this)" if first else f"another browser: {links[-1]}")
        if opens and first:
            opened.append(open_privately(links[-1]))

    try:
        serve_pages(folder, port, listening, allowed_kinds(allowed), place)
    finally:
        for file in filter(None, opened):
            file.unlink(missing_ok=True)


def _place(address: str | None, names: tuple[str, ...], certificate: Path | None, key: Path | None) -> Place:
    if address is None:
        if names or certificate or key:
            raise InputError("--name, --cert and --key are about what others reach", "Write --listen ADDRESS, too")
        return HERE
    if (certificate is None) != (key is None):
        raise InputError("a certificate needs its key, and a key its certificate", "Write both --cert and --key")
    return open_place(address, names, (certificate, key) if certificate and key else None)


def _tell_class(address: Address) -> None:
    """Tell what a class needs, and by what a certificate is known that no browser knows."""
    note(f"for all who watch: {address.link(Role.WATCH)}")
    note(f"SHA-256 of the certificate: {address.place.fingerprint()}")
    if address.place.authority:
        note(
            f"browsers do not know it, and say so; those that have {address.place.authority} among their authorities do"
        )
    note("the next link is for one browser, which may also begin and stop runs")
