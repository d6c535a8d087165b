"""lanelab site: archived websites, what is in them and how they come about. One file for each command below it."""

from __future__ import annotations

import click

from driver.cli.site.diff import diff_sites
from driver.cli.site.fetch import fetch_sites
from driver.cli.site.generate import generate_site
from driver.cli.site.import_site import import_site
from driver.cli.site.list import list_sites
from driver.cli.site.minify import minify_site
from driver.cli.site.record import record_site
from driver.cli.site.remove import remove_site
from driver.cli.site.show import show_site
from driver.cli.site.skeleton import skeleton_site
from driver.cli.site.verify import verify_site
from driver.cli.site.wayback import wayback_site


@click.group("site")
def group() -> None:
    """Archived websites: look at them, compare, verify and remove them; further commands make new ones."""


# A new command is a file here and its name in this list.
COMMANDS = (
    list_sites,
    record_site,
    import_site,
    wayback_site,
    show_site,
    skeleton_site,
    diff_sites,
    fetch_sites,
    generate_site,
    minify_site,
    remove_site,
    verify_site,
)
for _command in COMMANDS:
    group.add_command(_command)

sites = click.Command("sites", params=list_sites.params, callback=list_sites.callback, help=list_sites.help)
