"""Answers in codings for which Apache has no module are compressed in the pack, with the headers that go with them.
Pure, but for reading bodies."""

from dataclasses import replace

from lanelab.driver.arm.servers.answers import undated
from lanelab.driver.site.compressed_types import COMPRESSED_BEFORE
from lanelab.driver.site.site import Site, SiteObject

Stored = tuple[tuple[SiteObject, ...], dict[str, bytes]]  # the objects, and the bodies of those that are not the site's


def compressed_before(site: Site) -> Stored:
    """The site's objects as the pack has them, by the SHA-256 that they have in it."""
    bodies: dict[str, bytes] = {}
    return tuple(_stored(site, each, bodies) for each in site.objects), bodies


def _stored(site: Site, each: SiteObject, bodies: dict[str, bytes]) -> SiteObject:
    from lanelab.driver.site.coding import encode  # noqa: PLC0415 - its libraries are not for every command

    coding = each.compressed
    if coding not in COMPRESSED_BEFORE:
        return each
    name = f"{each.sha256}.{coding}"
    if name not in bodies:
        bodies[name] = encode(site.file(each).read_bytes(), coding)
    plain = (("Content-Type", each.mime), *undated(each))
    headers = (*(each.headers or plain), ("Content-Encoding", coding), ("Vary", "Accept-Encoding"))
    return replace(each, sha256=name, size=len(bodies[name]), headers=headers, compressed=None)
