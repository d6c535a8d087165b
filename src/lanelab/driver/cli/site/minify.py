"""lanelab site minify: what mod_pagespeed's filters make of a site."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import click

from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.base.programs.install import prepare as install
from lanelab.driver.base.programs.needs import programs
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json, table
from lanelab.driver.site import bodies
from lanelab.driver.site.coding import decoded
from lanelab.driver.site.load import load_site
from lanelab.driver.site.minify import Minified, Wish, minify, parse_minify
from lanelab.driver.site.minify.report import MinifyReport, Side, TypeChange, report_of
from lanelab.driver.site.prepare.schemes import unify
from lanelab.driver.site.site import Site, StoredObject

LONGEST_NAME = 200  # of a file that --out writes
REPORT = "minify.json"


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

    filters_of = parse_minify(filters, "--filters")
    if filters_of is None:
        raise InputError("nothing is to be minified", "Name a set or filters", key="--filters")
    site = load_site(name)
    wish = replace(filters_of, user_agent=user_agent or site.user_agent or "")
    require_programs(wish)
    before = _plain(site, scheme)
    minified = minify(before, site.entry_host, site.entry_path, wish)
    report = report_of(name, wish.filters, wish.generation.name, before, minified)
    if out is not None:
        _write(out, report, minified)
        note(f"wrote {len(minified.objects)} objects to {out}")
    if as_json:
        print_json(report.to_json())
    else:
        _print(report)


def require_programs(wish: Wish) -> None:
    """Install what minify calls, or say how."""
    if wish.calls_jpegtran:
        install(programs("minify"))


def _plain(site: Site, scheme: str) -> Sequence[StoredObject]:
    """The site's objects as minify takes them: one scheme, decoded."""
    stored = [bodies.read(site.content, each) for each in site.objects]
    return [decoded(each) for each in unify(stored, scheme)]


def _print(report: MinifyReport) -> None:
    out = console()
    out.print(f"{report.site}: {len(report.filters)} filters, generation {report.generation}")
    rows = [
        (each.filter, each.url, each.what, f"{each.bytes_before:,}", f"{each.bytes_after:,}") for each in report.effects
    ]
    out.print(table(("filter", "object", "what", "before", "after"), rows, right=("before", "after")))
    columns = ("", "objects", "after", "bytes", "after ", "text gzipped", "after  ", "sent")
    changes = (*report.types, report.total)
    out.print(table(columns, map(_row, changes), right=columns[1:]))


def _row(each: TypeChange) -> tuple[str, ...]:
    before: Side = each.before
    after: Side = each.after
    pairs = ((before.objects, after.objects), (before.bytes, after.bytes), (before.gzipped, after.gzipped))
    return (each.type, *(f"{count:,}" for pair in pairs for count in pair), f"{after.sent:,}")


def _write(folder: Path, report: MinifyReport, made: Minified) -> None:
    try:
        folder.mkdir(parents=True)
        for number, each in enumerate(made.objects):
            file = folder / _file_name(number, each)
            file.write_bytes(each.body)
        (folder / REPORT).write_text(json.dumps(report.to_json(), indent=2) + "\n")
    except FileExistsError as error:
        raise InputError(f"{folder} is there already", "Name a new folder", key="--out") from error
    except OSError as error:
        raise StoreError(
            f"cannot write the minified objects to {folder}: {error.strerror}", "Name another folder"
        ) from error


def _file_name(number: int, each: StoredObject) -> str:
    """Return its place among the objects, and its address in characters that every file system takes."""
    address = quote(each.object.url, safe="").replace("%2F", "_")[-LONGEST_NAME:]
    return f"{number:03}-{address}"
