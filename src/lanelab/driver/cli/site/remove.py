"""lanelab site remove: an archived site goes, with what was made of it."""

import click

from lanelab.driver.api.archived_site import site
from lanelab.driver.cli.output import note
from lanelab.driver.cli.site.completions import complete_site


@click.command("remove")
@click.argument("name", shell_complete=complete_site)
@click.option("--yes", is_flag=True, help="Do not ask")
def remove_site(name: str, *, yes: bool) -> None:
    """Remove the site NAME from the archive, and what lanelab has made of it in its build folder. Asks first.

    Refuses while a run in ./runs is using it.
    """
    archived = site(name)
    folders = archived.folders()
    if not yes:
        for folder in folders:
            note(f"to be removed: {folder}")
        if not click.confirm(f"Remove the site {name}?", err=True):
            note(f"the site {name} stays")
            return
    archived.remove()
    note(f"removed the site {name}")
