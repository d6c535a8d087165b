"""lanelab site remove: an archived site goes, with what was made of it."""

import click

from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.runs import list_runs
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.output import note
from lanelab.driver.site.remove import folders_of, remove


@click.command("remove")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask")
def remove_site(name: str, *, yes: bool) -> None:
    """Remove the site NAME from the archive, and what lanelab has made of it in its build folder. Asks first.

    Refuses while a run in ./runs is using it.
    """
    folders = folders_of(name)
    _require_unused(name)
    if not yes:
        for folder in folders:
            note(f"to be removed: {folder}")
        if not click.confirm(f"Remove the site {name}?", err=True):
            note(f"the site {name} stays")
            return
    remove(folders)
    note(f"removed the site {name}")


def _require_unused(name: str) -> None:

    for line in list_runs():
        if line.state == "running" and name in {cell.site.partition("/")[0] for cell in read_run(line.folder).cells}:
            what = f"the run {line.folder} is using the site {name}"
            raise InputError(what, "Wait for its end, or stop it")
