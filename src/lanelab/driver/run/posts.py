"""Requests with another method than GET, against the servers that are to answer them: what no server of an arm answers
is refused before any bed is made. Pure."""

from collections.abc import Iterator

from lanelab.driver.arm.groups import groups
from lanelab.driver.arm.origins import ORIGINS
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.third_parties import ThirdParties
from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Cell
from lanelab.driver.site.site import Site, SiteObject
from lanelab.driver.trial.journey import pages_of

# A preflight is the browser's own, and it may remember the answer: trials do without it.
ANSWERED_BY_ALL = ("GET", "HEAD", "OPTIONS")


def require_posts(cell: Cell, site: Site) -> None:
    """Raises InputError where its trials need an answer to a POST, or the like, of a server that has none. `site`: what
    the cell loads."""
    if cell.link.load:
        return
    wanted = list(_wanted(cell, site))
    if not wanted:
        return
    for group in groups(cell.arm, site):
        posted = [each for each in wanted if each.host in group.site.hosts]
        if posted and not SERVERS[group.arm.server].answers_posts:
            raise _refusal(cell, posted[0], group.arm.server, ORIGINS if group.pattern else "server")


def _wanted(cell: Cell, site: Site) -> Iterator[SiteObject]:
    """Yield the objects that are posted for: by each load; on a page of the journey; of a script, which may do all that
    the site answers."""
    absent = ThirdParties.of(cell.arm, site).is_absent
    needed = {url for page in pages_of(cell.journey, site) for url in page.needs} if not cell.script else set()
    for each in site.objects:
        due = each.url in needed if cell.journey else not each.late
        if each.method not in ANSWERED_BY_ALL and (cell.script or due) and not absent(each.url):
            yield each


def _refusal(cell: Cell, posted: SiteObject, server: str, key: str) -> InputError:
    who = "the script may send" if cell.script else "the page sends"
    what = f"{who} {posted.method} {posted.url}, and {SERVERS[server].title} answers GET and HEAD alone"
    able = " or ".join(name for name, each in SERVERS.items() if each.answers_posts)
    return InputError(what, f"Write server: {able} for {posted.host}", key=key)
