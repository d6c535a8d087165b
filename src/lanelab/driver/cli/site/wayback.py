"""lanelab site wayback: a page as an archive of the web has it becomes a site."""

import click

from lanelab.driver.api.wayback_site import ENDPOINT
from lanelab.driver.api.wayback_site import wayback_site as add_captures
from lanelab.driver.cli.output import note
from lanelab.driver.cli.site.import_site import tell


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
    site = add_captures(
        url, date, name, endpoint=endpoint, cdx=cdx, title=title, licence=licence,
        keep_secrets=keep_secrets, replace=replace, tell=note,
    )  # fmt: skip
    tell(site)
