"""How faithful the replay of a site is: it is loaded at full speed over each protocol, and compared."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

from lanelab.analysis.results.report.fidelity import ComparedPicture, write_fidelity
from lanelab.analysis.results.sections.site import fidelity_section
from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.result import Result
from lanelab.driver.api.run_experiment import THIS_MACHINE, play_to_end, ready
from lanelab.driver.api.session import Means
from lanelab.driver.arm.servers.registry import DEFAULT, SERVERS
from lanelab.driver.base.coded import Json, encoded
from lanelab.driver.base.errors import BedError
from lanelab.driver.base.paths import build_folder, sites_folder
from lanelab.driver.base.version import VERSION
from lanelab.driver.collect.fidelity.experiment import Wish, experiment_text, wished
from lanelab.driver.collect.fidelity.manifest_notes import keep
from lanelab.driver.collect.fidelity.verify import Verified, VerifiedAs, verified
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.run import start
from lanelab.driver.run.events import Listener, unheard
from lanelab.driver.run.runner import StopRequest
from lanelab.driver.site.digest import digest_of
from lanelab.driver.site.fidelity import Fidelity
from lanelab.driver.site.load import load_site, read_site_manifest, site_folder, site_names
from lanelab.driver.site.manifest import MANIFEST, read_manifest
from lanelab.driver.site.site import Site

__all__ = ["DEFAULT", "SERVERS", "VerifiedSite", "verify_site"]
RUN = "run"


class VerifiedSiteJson(TypedDict):
    """The fidelity of a site. `differences`: of each protocol, in words."""

    name: str
    folder: str
    fidelity: Fidelity
    differences: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, repr=False)
class VerifiedSite(Result):
    """The fidelity of a site, and what differed. `page`: shows it, with pictures; `folder` has it, and the run."""

    name: str
    archived: Path  # the site's own folder
    folder: Path
    page: Path
    fidelity: Fidelity
    differences: tuple[tuple[str, tuple[str, ...]], ...]  # of each protocol, in words

    def to_json(self) -> dict[str, Json]:
        """Return what `lanelab site verify --json` prints."""
        whole: VerifiedSiteJson = {
            "name": self.name,
            "folder": str(self.folder),
            "fidelity": self.fidelity,
            "differences": dict(self.differences),
        }
        return dict(encoded(whole))

    @property
    def is_shipped(self) -> bool:
        """Return whether the site is part of the installation, whose manifests stay as they are."""
        return self.archived.parent != sites_folder()

    def keep(self) -> None:
        """Write the fidelity into the site's manifest, so that every report of a run with this site shows it."""
        keep(self.archived, self.fidelity)

    def require_scores(self) -> None:
        """Raises BedError where there is no score for a protocol."""
        without = [each.protocol for each in self.fidelity.protocols if each.score is None]
        if without:
            raise BedError(f"there is no score for {', '.join(without)}", f"Its loads failed: {self.folder / RUN}")


def verify_site(  # noqa: PLR0913 - each is an option
    name: str,
    *,
    protocols: str | None = None,
    loads: int = 3,
    server: str = DEFAULT,
    out: Path | None = None,
    bed: BedOptions = THIS_MACHINE,
    on_event: Listener = unheard,
    stop: StopRequest | None = None,
    command: Sequence[str] | None = None,
) -> VerifiedSite:
    """Load a site over each of these protocols, with commas, or over all that the server speaks. out: the folder for
    page and run; without it build/verify/DATE-NAME. The others are those of `lanelab.run`."""
    wish = wished(protocols, loads, server)
    archived = site_folder(name)
    manifest = read_manifest(archived / MANIFEST)
    folder = out or _new_folder(name)
    # Nothing is timed here, so a link that is slower than it should be on a busy machine does no harm.
    accepting = replace(bed, accept_links=True)
    pages = _play(name, wish, folder / RUN, accepting, Means(on_event, stop or StopRequest(), command=command))
    whole = load_site(name)
    verified_as = VerifiedAs(whole.url(whole.entry_scheme), digest_of(whole.objects), manifest.sha256)
    outcome = verified(folder / RUN, pages, archived, wish, verified_as)
    lists = outcome.differences
    page = write_fidelity(folder, name, manifest.title, outcome.fidelity, outcome.recorded, _pictures(outcome), lists)
    sections = (fidelity_section(outcome.fidelity.protocols),)
    return VerifiedSite(sections, name, archived, folder, page, outcome.fidelity, lists)


def _new_folder(name: str) -> Path:
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    return build_folder() / "verify" / f"{stamp}-{name}"


def _play(name: str, wish: Wish, run: Path, bed: BedOptions, means: Means) -> Mapping[str, Site]:
    """Make the run; gives the pages that it loaded."""
    text = experiment_text(name, read_site_manifest(name), wish)
    experiment = parse_experiment(text, "the experiment that verifies", site_names())
    programs = ready(experiment, bed)
    begun = start.begin(experiment, VERSION, run, None, bed.to_json())
    play_to_end(begun, bed, means, programs)
    return begun.sites.archived


def _pictures(outcome: Verified) -> list[ComparedPicture]:
    return [
        ComparedPicture(
            each.protocol,
            each.picture,
            each.compared.difference if each.compared else None,
            each.compared.share if each.compared else None,
        )
        for each in outcome.shown
    ]
