"""lanelab site minify: what mod_pagespeed's filters make of a site."""

from pathlib import Path

import click

from lanelab.driver.api.archived_site import site
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json
from lanelab.driver.cli.site.completions import complete_site


@click.command("minify")
@click.argument("name", metavar="SITE", shell_complete=complete_site)
@click.option("--filters", default="core-2012", show_default=True, metavar="SET|LIST", help="As an arm's minify has it")
@click.option("--scheme", type=click.Choice(("http", "https")), default="http", show_default=True, help="Of the page")
@click.option("--user-agent", default=None, help="Of the browser (default: the recording's, or Chromium's own)")
@click.option("--out", type=click.Path(path_type=Path), help="New folder for the minified objects and the report")
@json_option
def minify_site(
    name: str, filters: str, scheme: str, user_agent: str | None, out: Path | None, *, as_json: bool
) -> None:
    """Tell what minify does to SITE: each effect of each filter, and objects and bytes before and after.

    Changes nothing. Without --out the minified objects are forgotten.
    """
    minified = site(name).minify(filters, "https" if scheme == "https" else "http", user_agent=user_agent)
    if out is not None:
        note(f"wrote {minified.write(out)} objects to {out}")
    if as_json:
        print_json(minified.to_json())
    else:
        console().print(minified.renderable())
