"""Skeletons: sites that load as others do, and can be passed on."""

from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.collect.new_site import Facts, NewSite, add_site, require_free
from lanelab.driver.collect.skeleton.build import skeleton_of
from lanelab.driver.site import bodies
from lanelab.driver.site.site import Site

LICENCE = "made by lanelab: no rights of others"


@dataclass(frozen=True, slots=True)
class SkeletonSite:
    site: NewSite
    changed: tuple[str, ...]


def add_skeleton(
    site: Site, name: str, archive: Path | None = None, *, keep_addresses: bool = False, replace: bool = False
) -> SkeletonSite:
    """Return a site in the archive with the objects of `site`, and content of our own."""
    require_free(name, archive, replace=replace)
    stored = [bodies.read(site.content, each) for each in site.objects]
    skeleton = skeleton_of(site, stored, keep_addresses=keep_addresses)
    facts = Facts(
        title=f"Skeleton of {site.title}" if keep_addresses else f"Skeleton of a site of {len(site.objects)} objects",
        source=f"lanelab site skeleton {site.name}" if keep_addresses else "lanelab site skeleton",
        entry=skeleton.entry,
        user_agent=site.user_agent,
        viewport=site.viewport,
        licence=LICENCE,
        synthetic=True,
        left_out=skeleton.changed,
    )
    site_of_skeleton = add_site(name, skeleton.exchanges, facts, archive, replace=replace, keep_secrets=True)
    return SkeletonSite(site_of_skeleton, skeleton.changed)
