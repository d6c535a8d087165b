"""The names of sites, without what reads one: for completion."""

from lanelab.driver.base.paths import site_archives
from lanelab.driver.site.manifest import MANIFEST


def sites_here() -> list[str]:
    return sorted({path.parent.name for archive in site_archives() for path in archive.glob(f"*/{MANIFEST}")})
