"""lanelab site skeleton: a site that loads as another does, with content of our own."""

import click

from lanelab.driver.api.archived_site import site as archived_site
from lanelab.driver.cli.output import note
from lanelab.driver.cli.site.completions import complete_site


@click.command("skeleton")
@click.argument("site", shell_complete=complete_site)
@click.option("--name", required=True, metavar="NAME", help="What the skeleton is to be called")
@click.option("--keep-addresses", is_flag=True, help="Keep hosts and paths; else they are renamed, with their lengths")
@click.option("--replace", is_flag=True, help="Put it in the place of the site of that name")
def skeleton_site(site: str, *, name: str, keep_addresses: bool, replace: bool) -> None:
    """Make the site NAME out of SITE: the same objects, sizes and ways in which one asks for another, other content.

    It has nothing of the original's texts, pictures and scripts, so it can be passed on. What could not be kept is
    listed.
    """

    skeleton = archived_site(site).skeleton(name, keep_addresses=keep_addresses, replace=replace)
    note(f"made the site {name}: {skeleton.site.objects} objects, entry {skeleton.site.manifest.entry}")
    for words in dict.fromkeys(skeleton.changed):
        note(f"  not kept: {words}")
