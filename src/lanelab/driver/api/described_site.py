"""A site as it is described: what it consists of, and how faithful its replay is."""

from dataclasses import dataclass

from lanelab.analysis.results.sections.site import site_section
from lanelab.driver.api.result import Result
from lanelab.driver.base.coded import Json
from lanelab.driver.site.description import SiteDescription, describe
from lanelab.driver.site.digest import digest_of
from lanelab.driver.site.manifest import Manifest
from lanelab.driver.site.site import Site


@dataclass(frozen=True, slots=True, repr=False)
class DescribedSite(Result):
    """The parts of a site, and how faithful its replay is."""

    description: SiteDescription

    def to_json(self) -> dict[str, Json]:
        """Return what `lanelab site show --json` prints."""
        return self.description.to_json()


def describe_site(site: Site, manifest: Manifest) -> DescribedSite:
    description = describe(site, manifest, digest_of(site.objects))
    return DescribedSite((site_section(description),), description)
