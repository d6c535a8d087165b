"""lanelab site wayback: a page as an archive of the web has it becomes a site."""

import click

from lanelab.driver.cli.output import note
from lanelab.driver.cli.site.import_site import tell
from lanelab.driver.collect.importers.importer import Imported
from lanelab.driver.collect.new_site import Facts, add_site, require_free
from lanelab.driver.collect.wayback import ENDPOINT, Wayback, page
from lanelab.driver.site.archive.read_warc import shown


@click.command("wayback")
@click.argument("url")
@click.option("--date", required=True, metavar="YYYYMMDD", help="The captures nearest to this day, or instant")
@click.option("--name", required=True, metavar="NAME", help="What the site is to be called: a to z, 0 to 9 and '-'")
@click.option("--endpoint", default=ENDPOINT, show_default=True, metavar="URL", help="The archive")
@click.option("--cdx", metavar="URL", help="Its index, where that is not ENDPOINT/cdx or the Wayback Machine's")
@click.option("--title", metavar="TEXT", help="What the site is, for lists and reports")
@click.option("--licence", metavar="TEXT", help="What one may do with the content")
@click.option("--keep-secrets", is_flag=True, help="Keep cookies, which are left out otherwise")
@click.option("--replace", is_flag=True, help="Replace the site of that name")
def wayback_site(  # noqa: PLR0913 - each is an option
    url: str,
    *,
    date: str,
    name: str,
    endpoint: str,
    cdx: str | None,
    title: str | None,
    licence: str | None,
    keep_secrets: bool,
    replace: bool,
) -> None:
    """Make a site of the page URL as an archive of the web has it.

    Fetches the page and what its HTML and CSS load, each from the capture nearest to the page's. What scripts ask for
    is not found so; what the archive has no capture of is named.
    """
    require_free(name, replace=replace)
    imported = page(Wayback(endpoint, cdx), url, date, note)
    facts = Facts(
        title=title or shown(url),
        source=f"captures of {_period(imported)} from {endpoint}",
        entry=imported.entry,
        licence=licence,
        unanswered=imported.unanswered,
        left_out=imported.left_out,
        of_one_load=imported.of_one_load,
    )
    tell(add_site(name, imported.exchanges, facts, replace=replace, keep_secrets=keep_secrets))


def _period(imported: Imported) -> str:
    """Return how far the parts of the page are apart."""
    days = sorted(each.at_utc[:10] for each in imported.exchanges)
    return days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
