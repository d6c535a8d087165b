"""lanelab site import: what another tool recorded becomes a site."""

from pathlib import Path

import click

from lanelab.driver.api.import_site import NewSite
from lanelab.driver.api.import_site import import_site as add_imported
from lanelab.driver.cli.output import note

MOST_SHOWN = 10  # words on what was left out that are printed; the manifest has all


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", required=True, metavar="NAME", help="What the site is to be called: a to z, 0 to 9 and '-'")
@click.option("--entry", metavar="URL", help="The page that is loaded; without it the first page of the recording")
@click.option("--page", "pages", metavar="NAME=URL", multiple=True, help="A page of the site, where it has several")
@click.option("--host", metavar="HOST", help="Who serves files that name no host; without it NAME.test")
@click.option("--title", metavar="TEXT", help="What the site is, for lists and reports")
@click.option("--licence", metavar="TEXT", help="What one may do with the content")
@click.option("--keep-secrets", is_flag=True, help="Keep cookies and authorisation, which are left out otherwise")
@click.option("--replace", is_flag=True, help="Replace the site of that name")
def import_site(  # noqa: PLR0913 - each is an option
    path: Path,
    *,
    name: str,
    entry: str | None,
    pages: tuple[str, ...],
    host: str | None,
    title: str | None,
    licence: str | None,
    keep_secrets: bool,
    replace: bool,
) -> None:
    """Make a site of the recording PATH: a WARC, ARC, WACZ or HAR file, a mirror of HTTrack's, a folder of Mahimahi's,
    a dependency graph of Epload's with its objects, or any folder of files. What it is, is found out by its content.

    What cannot be served in a bed is left out and named: other ports than 80 and 443, addresses instead of names,
    damaged records.
    """
    site = add_imported(
        path, name, entry=entry, pages=pages, host=host, title=title, licence=licence,
        keep_secrets=keep_secrets, replace=replace, tell=note,
    )  # fmt: skip
    tell(site)


def tell(site: NewSite) -> None:
    """Tell a person what came of it."""
    left_out = site.manifest.left_out
    for words in left_out[:MOST_SHOWN]:
        note(f"left out: {words}")
    if len(left_out) > MOST_SHOWN:
        note(f"left out: {len(left_out) - MOST_SHOWN:,} more; lanelab site show --json {site.folder.name} has all")
    parts = site.manifest.composition or {}
    size = sum(part.bytes for part in parts.values())
    click.echo(f"{site.folder.name}: {site.objects:,} objects with {size:,} bytes, entry {site.manifest.entry}")
    for page in site.manifest.pages:
        click.echo(f"  {site.folder.name}@{page.name}: {page.url} needs {len(page.needs):,} of them")
