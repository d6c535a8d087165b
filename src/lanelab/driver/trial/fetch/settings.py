"""What a fetch asks for: which objects of a site, how many at once, over which connections. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError
from lanelab.driver.site.site import Site, SiteObject

ALL = "*"
GET, OK = "GET", 200
# What the fetcher says that it takes, as Chromium does over TLS: servers then send bodies as they have them.
ACCEPT_ENCODING = "gzip, deflate, br, zstd"


@dataclass(frozen=True, slots=True)
class FetchSettings(Coded):
    """The settings of a fetch: what a trial does."""

    objects: tuple[str, ...]  # patterns of addresses, or of paths alone
    at_once: int
    warm: bool  # all are fetched once before, unmeasured, and their connections stay

    def dimensions(self) -> dict[str, str]:
        """Return what cells may differ in, by the names of experiment/dimensions.py."""
        return {"at_once": str(self.at_once)}


def matches(pattern: str, each: SiteObject) -> bool:
    """Return whether a pattern names the object: `*` is anything, `?` a character. One that begins with / is of the
    path on any host."""
    address = each.path if pattern.startswith("/") else each.url
    return fnmatchcase(address, pattern.replace("[", "[[]"))


def can_be_fetched(each: SiteObject) -> bool:
    """Return whether it has a body that is known: a GET that is answered with 200."""
    return each.method == GET and each.status == OK and each.request_sha1 is None


def objects_of(site: Site, patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the addresses that a fetch asks for, each once, in the site's order. Raises InputError for a pattern that
    names none."""
    known = [each for each in site.objects if can_be_fetched(each)]
    for pattern in patterns:
        if not any(matches(pattern, each) for each in known):
            what = f"the site {site.name} has no object {pattern!r} that a GET is answered with"
            raise InputError(what, _like(known), key="workload.objects")
    wanted = [each for each in known if any(matches(one, each) for one in patterns)]
    unknown = next((each for each in wanted if each.compressed), None)
    if unknown:
        what = f"{unknown.url} is compressed as it is sent, so nobody knows its SHA-256 before"
        raise InputError(what, "Leave it out of objects", key="workload.objects")
    return tuple(dict.fromkeys(each.url for each in wanted))


def _like(known: Iterable[SiteObject]) -> str:
    some = [each.url for each in known][:3]
    return f"Write a pattern of addresses like {', '.join(some)}" if some else "Name another site"
