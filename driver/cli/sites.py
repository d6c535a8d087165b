"""lanelab sites: the archived websites."""

from __future__ import annotations

import click

from driver.cli.options import json_option
from driver.cli.output import console, print_json, table
from sites.load import read_site_manifest, site_names


@click.command("sites")
@json_option
def sites(*, as_json: bool) -> None:
    """List the archived sites: what an experiment can name. Reads manifests only; makes no files."""
    manifests = [(name, read_site_manifest(name)) for name in site_names()]
    if as_json:
        print_json(
            [
                {
                    "name": name,
                    "title": manifest.title,
                    "source": manifest.source,
                    "entry": manifest.entry,
                    "objects": len(manifest.objects),
                    "bytes": manifest.total_bytes,
                    "origins": list(manifest.hosts),
                }
                for name, manifest in manifests
            ]
        )
        return
    rows = (
        (name, manifest.title, str(len(manifest.objects)), f"{manifest.total_bytes:,}", ", ".join(manifest.hosts))
        for name, manifest in manifests
    )
    console().print(table(("name", "title", "objects", "bytes", "origins"), rows, right=("objects", "bytes")))
