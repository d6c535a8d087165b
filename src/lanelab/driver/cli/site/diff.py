"""lanelab site diff: what two sites have of the same."""

from collections.abc import Iterator
from pathlib import Path

import click
from rich.text import Text

from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, print_json, table
from lanelab.driver.site.difference import Difference, difference
from lanelab.driver.site.load import load_site
from lanelab.driver.site.manifest import MANIFEST
from lanelab.driver.site.site import Site


@click.command("diff")
@click.argument("old")
@click.argument("new")
@json_option
def diff_sites(old: str, new: str, *, as_json: bool) -> None:
    """Compare the sites OLD and NEW: objects that were added, removed, or changed in status, headers or body.

    Each is the name of a site, or the folder of one in another archive.
    """
    differences = difference(_site(old).objects, _site(new).objects)
    if as_json:
        print_json(differences.to_json())
        return
    if not differences.nothing:
        console().print(table(("", "object", "what"), _rows(differences)))
    console().print(
        f"{differences.same:,} the same, {len(differences.changed):,} changed, {len(differences.added):,} added, "
        f"{len(differences.removed):,} removed"
    )


def _site(named: str) -> Site:
    folder = Path(named)
    if "/" in named and (folder / MANIFEST).is_file():
        whole = folder.resolve()
        return load_site(whole.name, whole.parent)
    return load_site(named)


def _rows(difference: Difference) -> Iterator[tuple[str | Text, ...]]:
    yield from ((Text("removed", style="red"), each, "") for each in difference.removed)
    yield from ((Text("added", style="green"), each, "") for each in difference.added)
    yield from (
        (Text("changed", style="yellow"), f"{each.method} {each.url}", "\n".join(each.what))
        for each in difference.changed
    )
