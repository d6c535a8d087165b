"""From a site as it is archived to what a server answers with in one arm."""

from sites.prepare.prepare import prepare
from sites.prepare.variant import AS_ARCHIVED, Variant

__all__ = ["AS_ARCHIVED", "Variant", "prepare"]
