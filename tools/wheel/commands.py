"""lanelab wheel: what `uv tool install` and `pip install` take."""

import time
from pathlib import Path

import click

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.version import VERSION
from lanelab.driver.run.folder.digests import file_digest
from tools.wheel.build import build_wheel, tracked_copy
from tools.wheel.constraints import constraints
from tools.wheel.gateway import gateway_wheels
from tools.wheel.sbom import sbom
from tools.wheel.version import version_of

CONSTRAINTS, SBOM = "constraints.txt", "lanelab.cdx.json"


@click.command("wheel")
@click.option(
    "--out", default="dist", metavar="FOLDER", type=click.Path(path_type=Path),
    help="Where the files go (default: dist, in the folder that you are in)",
)  # fmt: skip
@click.option("--gateway", is_flag=True, help="Also wheels of the gateway's programs, for machines without Go")
def wheel(out: Path, *, gateway: bool) -> None:
    """Build the wheel, for machines that have no checkout.

    It has what git tracks and nothing else. Two builds of one commit are the same bytes. Beside it go
    constraints.txt, the exact versions of the packages that it needs, with their hashes, and lanelab.cdx.json: what it
    consists of and is built of, with licences, as CycloneDX.
    """
    if gateway:
        for built in gateway_wheels(out):
            click.echo(f"{built}  {built.stat().st_size / 1e6:.1f} MB  sha256 {file_digest(built)}")
    began = time.monotonic()
    path = build_wheel(PROJECT, out, with_pages=True)
    took_s, size_bytes = time.monotonic() - began, path.stat().st_size
    with tracked_copy(PROJECT) as copy:
        (out / CONSTRAINTS).write_text(constraints(copy))
        (out / SBOM).write_text(sbom(copy, version_of(PROJECT, VERSION)))
    click.echo(f"{path}  {size_bytes / 1e6:.1f} MB  {took_s:.0f} s  sha256 {file_digest(path)}")
