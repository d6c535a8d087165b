"""lanelab image: how a container of it is run."""

from pathlib import Path

import click

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.userns import RESTRICTION
from lanelab.driver.cli.image.how import files, how
from lanelab.driver.cli.output import note


@click.command("image")
@click.option("--how", "show", is_flag=True, help="Show commands with the fewest rights, for Podman and Docker")
@click.option(
    "--write", "folder", metavar="FOLDER", type=click.Path(path_type=Path, file_okay=False),
    help="Write the files that Docker takes: a filter of system calls, and a profile for AppArmor",
)  # fmt: skip
def image(*, show: bool, folder: Path | None) -> None:
    """Show how lanelab runs in a container, or write the files that it takes.

    `./lanelab build-image` in a checkout makes the image.
    """
    if not show and folder is None:
        raise InputError("nothing was asked of the image", "Write --how, or --write FOLDER", key="how")
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files(userns_rule=RESTRICTION.exists()).items():
            (folder / name).write_text(text)
            note(f"wrote {folder / name}")
    if show:
        click.echo(how(), nl=False)
