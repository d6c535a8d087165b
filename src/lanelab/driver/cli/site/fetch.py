"""lanelab site fetch: the sites whose files are in packages of public registries."""

import click

from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.output import note
from lanelab.driver.site.load import load_site, read_site_manifest, site_names


@click.command("fetch")
@click.argument("names", nargs=-1, metavar="[SITE]…")
@click.option("--all", "all_sites", is_flag=True, help="Every site that has to be fetched")
def fetch_sites(names: tuple[str, ...], *, all_sites: bool) -> None:
    """Fetch the packages that have the files of SITE, and make the site: after that it needs no network.

    Runs fetch what they need by themselves. The packages come from npm's, Python's and Debian's registries, by each
    one's own client with your settings, and are checked against the sites' manifests.
    """
    if bool(names) == all_sites:
        raise InputError("name the sites to fetch, or give --all", "Sites are listed by lanelab site list")
    chosen = names or tuple(name for name in site_names() if read_site_manifest(name).fetch)
    for name in chosen:
        if not read_site_manifest(name).fetch:
            raise InputError(f"the site {name} has nothing to fetch: its files are here already", "Leave it out")
    for name in chosen:
        site = load_site(name)
        total = sum(each.size for each in site.objects)
        note(f"the site {name} is here: {len(site.objects)} objects with {total:,} bytes")
