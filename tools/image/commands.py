"""lanelab build-image: a container's image, without a registry."""

import time
from pathlib import Path

import click

from tools.image.build import build_image
from tools.image.targets import SYSTEMS, TARGETS, image_name


@click.command("build-image")
@click.option(
    "--target", default="lab", show_default=True, type=click.Choice(sorted(TARGETS)),
    help="lab: beds and page loads; reader: notebooks that read runs, for JupyterHub",
)  # fmt: skip
@click.option(
    "--family", default="debian-12", show_default=True, type=click.Choice(sorted(SYSTEMS)), help="Which system is in it"
)
@click.option("--mirror", metavar="ADDRESS", help="Where to get Debian from (default: mmdebstrap's own)")
@click.option(
    "--out", default="dist", metavar="FOLDER", type=click.Path(path_type=Path),
    help="Where the file goes (default: dist, in the folder that you are in)",
)  # fmt: skip
def build_image_command(target: str, family: str, mirror: str | None, out: Path) -> None:
    """Build an image for Podman and Docker from the distribution's packages: no registry.

    It takes mmdebstrap, and as an ordinary user also uidmap. `lanelab image --how` says how to run it.
    """
    began = time.monotonic()
    file, size = build_image(target, family, out, mirror)
    took_s = time.monotonic() - began
    sizes = f"{file.stat().st_size / 1e6:.0f} MB, {size / 1e6:.0f} MB unpacked"
    click.echo(f"{file}  {sizes}  {took_s:.0f} s  load it with: podman load -i {file}  ({image_name(target, family)})")
