"""lanelab site verify: how faithful the replay of a site is."""

import sys
from pathlib import Path

import click

from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.verify_site import DEFAULT, SERVERS, VerifiedSite
from lanelab.driver.api.verify_site import verify_site as verify
from lanelab.driver.cli.bed_options import bed_options
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.interrupts import stopping
from lanelab.driver.cli.output import console, note, print_json
from lanelab.driver.cli.progress import watching
from lanelab.driver.cli.site.completions import complete_site

MOST_LOADS = 100
MOST_SHOWN = 10  # differences of a protocol; the page has all


@click.command("verify")
@click.argument("name", shell_complete=complete_site)
@click.option("--protocols", metavar="LIST", help="Over these, with commas (default: http/1.1,h2,spdy/3.1)")
@click.option(
    "--loads", type=click.IntRange(1, MOST_LOADS), default=3, show_default=True, metavar="N", help="Over each protocol"
)
@click.option(
    "--server", type=click.Choice(tuple(SERVERS)), default=DEFAULT, show_default=True, help="Which replays it"
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for page and run (default: build/verify/DATE-NAME)"
)
@click.option("--no-store", is_flag=True, help="Do not write the result into the site's manifest")
@bed_options
@json_option
def verify_site(  # noqa: PLR0913 - an option each
    name: str,
    protocols: str | None,
    loads: int,
    server: str,
    out: Path | None,
    *,
    no_store: bool,
    options: BedOptions,
    as_json: bool,
) -> None:
    """Load the site NAME at full speed over each protocol, and tell how faithful that was to its recording.

    The result is written into the site's manifest, and shown by every report of a run that loads the site.
    """
    with watching(as_json=False) as tell, stopping() as stop:
        verification = verify(
            name, protocols=protocols, loads=loads, server=server, out=out, bed=options,
            on_event=tell, stop=stop, command=sys.argv[1:],
        )  # fmt: skip
    if as_json:
        print_json(verification.to_json())
    else:
        _print(verification)
    if not no_store and verification.is_shipped:
        note(f"the result is not kept: the site {name} is part of the installation")
    elif not no_store:  # after it was told: what was found is not lost where the archive cannot be written
        verification.keep()
    verification.require_scores()


def _print(verification: VerifiedSite) -> None:
    console().print(verification.renderable())
    for protocol, words in verification.differences:
        for difference in words[:MOST_SHOWN]:
            note(f"{protocol}: {difference}")
        if len(words) > MOST_SHOWN:
            note(f"{protocol}: and {len(words) - MOST_SHOWN} more, which the page lists")
    for each in verification.fidelity.protocols:
        for problem in each.problems:
            note(f"{each.protocol}: {problem}")
    note(f"fidelity of {verification.name}: {verification.fidelity.words}; page: {verification.page}")
