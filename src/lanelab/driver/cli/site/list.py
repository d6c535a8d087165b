"""lanelab site list, which is lanelab sites, too."""

import click

from lanelab.driver.api.archived_site import SiteFacts, own_sites_told, sites
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json, table


@click.command("list")
@json_option
def list_sites(*, as_json: bool) -> None:
    """List the archived sites: what an experiment can name. Reads manifests only; makes no files."""
    listed, wrong = [], []
    for each in sites():
        try:
            listed.append(each.facts())
        except InputError as error:
            wrong.append(str(error))
    for words in wrong:
        note(f"left out: {words}")
    for words in own_sites_told(each.name for each in sites()):
        note(f"mind: {words}")
    if as_json:
        print_json([facts.to_json() for facts in listed])
        return
    columns = ("name", "kind", "title", "objects", "bytes", "origins", "fidelity")
    console().print(table(columns, map(_row, listed), right=("objects", "bytes")))


def _row(facts: SiteFacts) -> tuple[str, ...]:
    unknown = "-"
    objects = unknown if facts.objects is None else f"{facts.objects:,}"
    size = unknown if facts.bytes is None else f"{facts.bytes:,}"
    origins = ", ".join((*facts.origins, *(() if facts.all_origins else ("…",))))
    return facts.name, facts.kind, facts.title, objects, size, origins, facts.fidelity
