"""lanelab site list, which is lanelab sites, too."""

import click

from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json, table
from lanelab.driver.site.facts import SiteFacts, facts_of
from lanelab.driver.site.load import read_site_manifest, site_names


@click.command("list")
@json_option
def list_sites(*, as_json: bool) -> None:
    """List the archived sites: what an experiment can name. Reads manifests only; makes no files."""
    listed, wrong = [], []
    for name in site_names():
        try:
            listed.append(facts_of(name, read_site_manifest(name)))
        except InputError as error:
            wrong.append(str(error))
    for words in wrong:
        note(f"left out: {words}")
    if as_json:
        print_json([each.to_json() for each in listed])
        return
    columns = ("name", "kind", "title", "objects", "bytes", "origins", "fidelity")
    console().print(table(columns, map(_row, listed), right=("objects", "bytes")))


def _row(facts: SiteFacts) -> tuple[str, ...]:
    unknown = "-"
    objects = unknown if facts.objects is None else f"{facts.objects:,}"
    size = unknown if facts.bytes is None else f"{facts.bytes:,}"
    origins = ", ".join((*facts.origins, *(() if facts.all_origins else ("…",))))
    return facts.name, facts.kind, facts.title, objects, size, origins, facts.fidelity
