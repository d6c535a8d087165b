"""lanelab site show: what is known of one site."""

import click

from lanelab.driver.api.archived_site import site
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, print_json
from lanelab.driver.cli.site.completions import complete_site


@click.command("show")
@click.argument("name", shell_complete=complete_site)
@json_option
def show_site(name: str, *, as_json: bool) -> None:
    """Tell what the site NAME consists of: types, origins, statuses, encodings, and how faithful its replay is.

    Makes the site's files where they were not made yet.
    """
    description = site(name).describe()
    if as_json:
        print_json(description.to_json())
    else:
        console().print(description.renderable())
