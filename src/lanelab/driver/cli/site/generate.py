"""lanelab site generate: a site from a recipe."""

from pathlib import Path

import click

from lanelab.driver.api.generate_site import generate_site as add_generated
from lanelab.driver.base.settings.kinds import LARGEST_SEED
from lanelab.driver.cli.output import note


@click.command("generate")
@click.argument("recipe", type=click.Path(path_type=Path))
@click.option("--name", required=True, metavar="NAME", help="What the site is to be called")
@click.option("--seed", type=click.IntRange(0, LARGEST_SEED), metavar="N", help="Other content of the same composition")
@click.option("--replace", is_flag=True, help="Put it in the place of the site of that name")
def generate_site(recipe: Path, *, name: str, seed: int | None, replace: bool) -> None:
    """Make the site NAME from the file RECIPE, which says what it consists of.

    The archive gets the recipe and its digest, not the files: these are made when the site is used, and are the same
    bytes on every machine.
    """

    manifest = add_generated(name, recipe, seed=seed, replace=replace)
    parts = (manifest.composition or {}).items()
    words = ", ".join(f"{part.objects} {kind} ({part.bytes:,} bytes)" for kind, part in parts)
    note(f"made the site {name}, which is loaded from {manifest.entry}: {words}")
