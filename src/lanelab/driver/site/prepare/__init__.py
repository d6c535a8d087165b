"""From a site as it is archived to what a server answers with in one arm."""

from lanelab.driver.site.prepare.prepare import prepare
from lanelab.driver.site.prepare.variant import AS_ARCHIVED, Variant

__all__ = ["AS_ARCHIVED", "Variant", "prepare"]
