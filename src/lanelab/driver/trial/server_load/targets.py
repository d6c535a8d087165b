"""What a load asks the server for: a page with all that it needs, or objects in turn. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.site import Site, SiteObject
from lanelab.driver.trial.load_settings import LoadSettings

ALL = "/*"  # as a site's entry: every object of that host, in turn
PATH, SLOW_PATH = "path", "/lanelab/slow"
SLOW_DEFAULTS = {"lines": "100", "every_ms": "10000"}


@dataclass(frozen=True, slots=True)
class Targets:
    """Addresses in turn, the page first; and the bytes of each answer, None where only the server knows."""

    urls: tuple[str, ...]
    body_sizes: tuple[int | None, ...]


def requests_wanted(settings: LoadSettings, sizes: Sequence[int | None]) -> int:
    """Return how many requests a trial of a fixed number makes: fewer where that many answers would be too many
    bytes."""
    if None in sizes:
        return settings.requests
    whole = sum(size or 0 for size in sizes)
    return max(1, min(settings.requests, settings.most_bytes * len(sizes) // max(1, whole)))


def bytes_of(requests: int, sizes: Sequence[int]) -> int:
    """Return the bytes of that many answers, in turn."""
    rounds, rest = divmod(requests, len(sizes))
    return rounds * sum(sizes) + sum(sizes[:rest])


def targets_of(site: Site, settings: LoadSettings, scheme: str) -> Targets:
    """Return what this load asks this site for."""
    parameters = dict(settings.parameters)
    host = site.entry_host
    if settings.script == "slow":
        query = "&".join(f"{name}={parameters.get(name, usual)}" for name, usual in SLOW_DEFAULTS.items())
        return Targets((f"{scheme}://{host}{parameters.get(PATH, SLOW_PATH)}?{query}",), (None,))
    if PATH in parameters:
        return Targets((f"{scheme}://{host}{parameters[PATH]}",), (None,))
    objects = _objects(site, page=settings.script == "page")
    if not objects:
        what = f"the site has nothing at {site.entry_path} that can be asked for"
        raise InputError(what, "Name a site with a page, or site/path", key="sites")
    return Targets(tuple(f"{scheme}://{each.url}" for each in objects), tuple(each.size for each in objects))


def _objects(site: Site, *, page: bool) -> list[SiteObject]:
    """Return all objects of a page, the page first; else the site's entry, or all that its host has."""
    fetched = [each for each in site.objects if each.method == "GET" and each.status < 400]
    if page:
        entry = [each for each in fetched if each.host == site.entry_host and each.path == site.entry_path]
        return [*entry, *(each for each in fetched if each not in entry)] if entry else []
    ours = [each for each in fetched if each.host == site.entry_host]
    return ours if site.entry_path == ALL else [each for each in ours if each.path == site.entry_path]
