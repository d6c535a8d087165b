"""lanelab site verify: how faithful the replay of a site is."""

import datetime
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.report.fidelity import ComparedPicture, write_fidelity
from lanelab.analysis.results.sections.site import fidelity_section
from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.run_experiment import play_to_end, ready
from lanelab.driver.api.session import Means
from lanelab.driver.arm.servers.registry import DEFAULT, SERVERS
from lanelab.driver.base.errors import BedError
from lanelab.driver.base.paths import build_folder, sites_folder
from lanelab.driver.base.version import VERSION
from lanelab.driver.cli.bed_options import bed_options
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.interrupts import stopping
from lanelab.driver.cli.output import console, note, print_json
from lanelab.driver.cli.progress import watching
from lanelab.driver.collect.fidelity.experiment import Wish, experiment_text, wished
from lanelab.driver.collect.fidelity.manifest_notes import keep
from lanelab.driver.collect.fidelity.verify import verified
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.run import start
from lanelab.driver.site.fidelity import Fidelity
from lanelab.driver.site.load import read_site_manifest, site_folder, site_names
from lanelab.driver.site.manifest import MANIFEST, read_manifest
from lanelab.driver.site.site import Site

MOST_LOADS = 100
MOST_SHOWN = 10  # differences of a protocol; the page has all
RUN = "run"


@click.command("verify")
@click.argument("name")
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

    wish = wished(protocols, loads, server)
    archived = site_folder(name)
    manifest = read_manifest(archived / MANIFEST)
    folder = _folder(out, name)
    site = _play(name, wish, folder / RUN, options)
    verification = verified(folder / RUN, site, archived, wish, manifest.sha256)
    pictures = [
        ComparedPicture(
            each.protocol,
            each.picture,
            each.compared.difference if each.compared else None,
            each.compared.share if each.compared else None,
        )
        for each in verification.shown
    ]
    lists = verification.differences
    page = write_fidelity(folder, name, manifest.title, verification.fidelity, verification.recorded, pictures, lists)
    if as_json:
        output = {"fidelity": verification.fidelity.to_json(), "differences": dict(lists)}
        print_json({"name": name, "folder": str(folder), **output})
    else:
        _print(name, verification.fidelity, page, lists)
    if not no_store and archived.parent != sites_folder():
        note(f"the result is not kept: the site {name} is part of the installation")
    elif not no_store:  # after it was told: what was found is not lost where the archive cannot be written
        keep(archived, verification.fidelity)
    without = [each.protocol for each in verification.fidelity.protocols if each.score is None]
    if without:
        raise BedError(f"there is no score for {', '.join(without)}", f"Its loads failed: {folder / RUN}")


def _folder(out: Path | None, name: str) -> Path:
    if out:
        return out
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    return build_folder() / "verify" / f"{stamp}-{name}"


def _play(name: str, wish: Wish, run: Path, options: BedOptions) -> Site:
    """Make the run; gives the site that it loaded."""

    # Nothing is timed here, so a link that is slower than it should be on a busy machine does no harm.
    options = replace(options, accept_links=True)
    text = experiment_text(name, read_site_manifest(name), wish)
    experiment = parse_experiment(text, "the experiment that verifies", site_names())
    programs = ready(experiment, options)
    begun = start.begin(experiment, VERSION, run, None, options.to_json())
    with watching(as_json=False) as tell, stopping() as stop:
        play_to_end(begun, options, Means(tell, stop, command=sys.argv[1:]), programs)
    return begun.sites.archived[name]


def _print(name: str, fidelity: Fidelity, page: Path, differences: Sequence[tuple[str, Sequence[str]]]) -> None:
    console().print(on_terminal([fidelity_section(fidelity.protocols)]))
    for protocol, words in differences:
        for difference in words[:MOST_SHOWN]:
            note(f"{protocol}: {difference}")
        if len(words) > MOST_SHOWN:
            note(f"{protocol}: and {len(words) - MOST_SHOWN} more, which the page lists")
    for each in fidelity.protocols:
        for problem in each.problems:
            note(f"{each.protocol}: {problem}")
    note(f"fidelity of {name}: {fidelity.words}; page: {page}")
