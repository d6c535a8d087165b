"""lanelab site fetch: the sites whose files are in packages of public registries."""

import click

from lanelab.driver.api.archived_site import site, sites
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.output import note
from lanelab.driver.cli.site.completions import complete_site


@click.command("fetch")
@click.argument("names", nargs=-1, shell_complete=complete_site, metavar="[SITE]…")
@click.option("--all", "all_sites", is_flag=True, help="Every site that has to be fetched")
def fetch_sites(names: tuple[str, ...], *, all_sites: bool) -> None:
    """Fetch the packages that have the files of SITE, and make the site: after that it needs no network.

    Runs fetch what they need by themselves. The packages come from npm's, Python's and Debian's registries, by each
    one's own client with your settings, and are checked against the sites' manifests.
    """
    if bool(names) == all_sites:
        raise InputError("name the sites to fetch, or give --all", "Sites are listed by lanelab site list")
    chosen = [site(name) for name in names] or [each for each in sites() if each.is_fetched]
    for each in chosen:
        if not each.is_fetched:
            raise InputError(f"the site {each.name} has nothing to fetch: its files are here already", "Leave it out")
    for each in chosen:
        loaded = each.load()
        note(f"the site {each.name} is here: {len(loaded.objects)} objects with {loaded.total_bytes:,} bytes")
