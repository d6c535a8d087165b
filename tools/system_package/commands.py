"""lanelab system-package: what an administrator installs once."""

from pathlib import Path

import click

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.programs import install
from lanelab.driver.base.programs.system_package import ARCHITECTURES, SUFFIXES
from tools.commit_time import time_of_commit
from tools.system_package.build import build
from tools.system_package.content import packages


@click.command("system-package")
@click.option(
    "--family", "families", multiple=True, type=click.Choice(sorted(SUFFIXES)),
    help="For which system (default: this one, else all; may be given several times)",
)  # fmt: skip
@click.option(
    "--machine",
    default="x86_64",
    show_default=True,
    type=click.Choice(sorted(ARCHITECTURES)),
    help="For which processors",
)
@click.option(
    "--out", default="dist", metavar="FOLDER", type=click.Path(path_type=Path),
    help="Where the files go (default: dist, in the folder that you are in)",
)  # fmt: skip
def system_package(families: tuple[str, ...], machine: str, out: Path) -> None:
    """Build lanelab-system.deb: all programs that lanelab calls, as one package.

    lanelab-system is for beds, and for pages that Chromium loads from Apache; lanelab-system-servers has the other
    servers, Firefox and load generators. Two builds of one commit are the same bytes.
    """
    out.mkdir(parents=True, exist_ok=True)
    here = (install.family(),) if install.family() in SUFFIXES else tuple(SUFFIXES)
    time_s = time_of_commit(PROJECT)
    for family in families or here:
        for package in packages(family, machine, time_s):
            click.echo(build(package, out, time_s))
