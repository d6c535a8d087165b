"""lanelab site show: what is known of one site."""

import click

from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.sections.site import site_section
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, print_json
from lanelab.driver.site.description import describe
from lanelab.driver.site.digest import digest_of
from lanelab.driver.site.load import load_site, read_site_manifest


@click.command("show")
@click.argument("name")
@json_option
def show_site(name: str, *, as_json: bool) -> None:
    """Tell what the site NAME consists of: types, origins, statuses, encodings, and how faithful its replay is.

    Makes the site's files where they were not made yet.
    """
    site = load_site(name)
    described = describe(site, read_site_manifest(name), digest_of(site.objects))
    if as_json:
        print_json(described.to_json())
    else:
        console().print(on_terminal([site_section(described)]))
