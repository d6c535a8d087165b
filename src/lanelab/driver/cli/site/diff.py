"""lanelab site diff: what two sites have of the same."""

from collections.abc import Iterator

import click
from rich.text import Text

from lanelab.driver.api.archived_site import Difference, site_named
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, print_json, table
from lanelab.driver.cli.site.completions import complete_site


@click.command("diff")
@click.argument("old", shell_complete=complete_site)
@click.argument("new", shell_complete=complete_site)
@json_option
def diff_sites(old: str, new: str, *, as_json: bool) -> None:
    """Compare the sites OLD and NEW: objects that were added, removed, or changed in status, headers or body.

    Each is the name of a site, or the folder of one in another archive.
    """
    differences = site_named(old).difference(site_named(new))
    if as_json:
        print_json(differences.to_json())
        return
    if not differences.nothing:
        console().print(table(("", "object", "what"), _rows(differences)))
    console().print(
        f"{differences.same:,} the same, {len(differences.changed):,} changed, {len(differences.added):,} added, "
        f"{len(differences.removed):,} removed"
    )


def _rows(difference: Difference) -> Iterator[tuple[str | Text, ...]]:
    yield from ((Text("removed", style="red"), each, "") for each in difference.removed)
    yield from ((Text("added", style="green"), each, "") for each in difference.added)
    yield from (
        (Text("changed", style="yellow"), f"{each.method} {each.url}", "\n".join(each.what))
        for each in difference.changed
    )
