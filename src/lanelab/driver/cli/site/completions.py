"""What a shell offers for the names of sites."""

import click

from lanelab.driver.cli.completions import offer


@offer
def complete_site(_context: click.Context, _incomplete: str) -> dict[str, str]:
    from lanelab.driver.api.site_names import sites_here

    return dict.fromkeys(sites_here(), "")
