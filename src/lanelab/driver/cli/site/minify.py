"""lanelab site minify: what mod_pagespeed's filters make of a site."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.sections.site import minify_section
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.programs.install import prepare as install
from lanelab.driver.base.programs.needs import programs
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json
from lanelab.driver.site import bodies
from lanelab.driver.site.coding import decoded
from lanelab.driver.site.load import load_site
from lanelab.driver.site.minify import Wish, minify, parse_minify
from lanelab.driver.site.minify.report import report_of, write_minified
from lanelab.driver.site.prepare.schemes import unify
from lanelab.driver.site.site import Site, StoredObject


@click.command("minify")
@click.argument("name", metavar="SITE")
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

    choice = parse_minify(filters, "--filters")
    if choice is None:
        raise InputError("nothing is to be minified", "Name a set or filters", key="--filters")
    site = load_site(name)
    wish = replace(choice, user_agent=user_agent or site.user_agent or "")
    require_programs(wish)
    before = _plain(site, scheme)
    minified = minify(before, site.entry_host, site.entry_path, wish)
    report = report_of(name, wish.filters, wish.generation.name, before, minified)
    if out is not None:
        write_minified(out, report, minified)
        note(f"wrote {len(minified.objects)} objects to {out}")
    if as_json:
        print_json(report.to_json())
    else:
        console().print(on_terminal([minify_section(report)]))


def require_programs(wish: Wish) -> None:
    """Install what minify calls, or say how."""
    if wish.calls_jpegtran:
        install(programs("minify"))


def _plain(site: Site, scheme: str) -> Sequence[StoredObject]:
    """The site's objects as minify takes them: one scheme, decoded."""
    stored = [bodies.read(site.content, each) for each in site.objects]
    return [decoded(each) for each in unify(stored, scheme)]
