"""A site of a page as an archive of the web has it."""

from collections.abc import Callable

from lanelab.driver.collect.importers.importer import Imported
from lanelab.driver.collect.new_site import Facts, NewSite, add_site, require_free
from lanelab.driver.collect.wayback import ENDPOINT, Wayback, page
from lanelab.driver.site.archive.read_warc import shown

__all__ = ["ENDPOINT", "wayback_site"]


def wayback_site(  # noqa: PLR0913 - each is an option
    url: str,
    date: str,
    name: str,
    *,
    endpoint: str = ENDPOINT,
    cdx: str | None = None,
    title: str | None = None,
    licence: str | None = None,
    keep_secrets: bool = False,
    replace: bool = False,
    tell: Callable[[str], None],
) -> NewSite:
    """Make the site `name` of the captures of a page that are nearest to a day. tell: hears how far it is. The others
    are the options of `lanelab site wayback`."""
    require_free(name, replace=replace)
    imported = page(Wayback(endpoint, cdx), url, date, tell)
    facts = Facts(
        title=title or shown(url),
        source=f"captures of {_period(imported)} from {endpoint}",
        entry=imported.entry,
        licence=licence,
        unanswered=imported.unanswered,
        left_out=imported.left_out,
        of_one_load=imported.of_one_load,
    )
    return add_site(name, imported.exchanges, facts, replace=replace, keep_secrets=keep_secrets)


def _period(imported: Imported) -> str:
    """Return how far the parts of the page are apart."""
    days = sorted(each.at_utc[:10] for each in imported.exchanges)
    return days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
