"""Sites of the user's own that have the name of one that lanelab brings, and go before it."""

from collections.abc import Iterable

from lanelab.driver.base.configuration import SITES
from lanelab.driver.site.load import site_folder
from lanelab.driver.site.manifest import MANIFEST
from lanelab.driver.site.site import site_of

IN_PLACE = "the user's own, in place of the one that lanelab brings"


def is_in_place_of_shipped(name: str) -> bool:
    """Say whether the site has another manifest than the one of that name that lanelab brings. The manifest has the
    digest of what it consists of."""
    place, shipped = site_folder(name) / MANIFEST, SITES / name / MANIFEST
    return shipped.is_file() and not place.samefile(shipped) and place.read_bytes() != shipped.read_bytes()


def own_sites_told(names: Iterable[str]) -> list[str]:
    """Return a sentence for each of those sites. A name may have a path behind it, as that of a load's target."""
    sites = dict.fromkeys(site_of(name) for name in names)
    return [f"the site {name} is {site_folder(name)}, {IN_PLACE}" for name in sites if is_in_place_of_shipped(name)]
