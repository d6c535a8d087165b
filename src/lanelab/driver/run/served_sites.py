"""The sites of an experiment as its arms want them, prepared before any bed is made: a mistake shows at once."""

import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from lanelab.driver.arm.groups import require_third_parties
from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Cell, Experiment
from lanelab.driver.link import Link
from lanelab.driver.run.posts import require_posts
from lanelab.driver.run.site_distances import check_distances, link_as_recorded
from lanelab.driver.site.digest import digest_of
from lanelab.driver.site.hints import hints
from lanelab.driver.site.named_hosts import named_hosts
from lanelab.driver.site.prepare import Variant, prepare
from lanelab.driver.site.push_plan import pushed_paths
from lanelab.driver.site.site import Site
from lanelab.driver.trial.fetch.settings import objects_of

MISSING_404 = "404"


@dataclass(frozen=True, slots=True)
class ServedSites:
    """Each site of an experiment in each variant that an arm asks for."""

    archived: Mapping[str, Site]
    prepared: Mapping[tuple[str, Variant], Site]

    @classmethod
    def of(cls, experiment: Experiment, archived: Mapping[str, Site]) -> "ServedSites":
        """Prepare what was not prepared before."""
        sites: dict[tuple[str, Variant], Site] = {}
        for cell in experiment.cells:
            key = cell.site, cell.arm.variant
            if key not in sites:
                with with_arm_named(cell):
                    sites[key] = prepare(archived[cell.site], cell.arm.variant)
        if experiment.missing == MISSING_404:
            others = {name: named_hosts(site) for name, site in archived.items()}
            sites = {
                key: replace(site, other_hosts=others[key[0]], answers_missing=True) for key, site in sites.items()
            }
        for cell in experiment.cells:
            with with_arm_named(cell):
                pushed_paths(sites[cell.site, cell.arm.variant], cell.arm.push)
                hints(sites[cell.site, cell.arm.variant], cell.arm.early_hints, "early_hints")
                require_third_parties(cell.arm, sites[cell.site, cell.arm.variant])
                require_posts(cell, sites[cell.site, cell.arm.variant])
        served = cls(archived, sites)
        for cell in experiment.cells:
            check_distances(served.site(cell), served.link(cell))
            if cell.fetch:
                objects_of(served.site(cell), cell.fetch.objects)
        return served

    def site(self, cell: Cell) -> Site:
        return self.prepared[cell.site, cell.arm.variant]

    def link(self, cell: Cell) -> Link:
        """Return the cell's link, with the distances that its site remembers where it asks for these."""
        link = cell.link.link
        if not link.distances.recorded:
            return link
        return link_as_recorded(link, self.archived[cell.site], self.site(cell).hosts)

    def digests(self) -> dict[str, str]:
        """Return the digest of each site as it is archived, and of each variant."""
        archived = {name: site_digest(site) for name, site in self.archived.items()}
        variants = {
            f"{name} {variant.text}": site_digest(site) for (name, variant), site in sorted_by_text(self.prepared)
        }
        return {**archived, **variants}


@contextlib.contextmanager
def with_arm_named(cell: Cell) -> Iterator[None]:
    """Name the arm in errors about one of its settings."""
    try:
        yield
    except InputError as error:
        error.key = f"arms.{cell.arm.name}.{error.key}"
        raise


def sorted_by_text(prepared: Mapping[tuple[str, Variant], Site]) -> Iterable[tuple[tuple[str, Variant], Site]]:
    return sorted(prepared.items(), key=lambda one: (one[0][0], one[0][1].text))


def site_digest(site: Site) -> str:
    """The digest of everything that makes a load of the site what it is: what it can fetch, what its scripts and its
    servers are told, and what it may do without."""
    text = json.dumps(
        [
            *(site.entry_scheme, site.entry_host, site.entry_path, digest_of(site.objects), site.other_hosts),
            *(site.user_agent, site.viewport, site.date, site.unanswered),
            sorted(f"{each.method} {each.url}" for each in site.objects if each.late),
            *([sorted(site.think)] if site.think else []),
            *([site.distances] if site.distances else []),  # of others the digest is as it was before there were any
            *([each.to_json() for each in site.pages],) * bool(site.pages),
        ]
    )
    return hashlib.sha256(text.encode()).hexdigest()
