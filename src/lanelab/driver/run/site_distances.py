"""Distances of a link against the hosts of a site: before any bed is made, what fits nothing is refused. Pure."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.host_names import DEFAULT
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.units import Duration
from lanelab.driver.bed.addresses import origin_addresses
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.link import Link
from lanelab.driver.link.distances import Distances, of_hosts
from lanelab.driver.site.site import Site

KEY = "links.distances"


def link_as_recorded(link: Link, site: Site, hosts: Sequence[str]) -> Link:
    """Return the link with the distances that the site remembers. Raises InputError."""
    trips = {host: Duration.parse(text) for host, text in site.distances}
    default = trips.pop(DEFAULT, None)
    recorded = of_hosts(trips, default)
    if not recorded:
        remedy = (
            f"Write them into its site.yaml (distances: {{{site.entry_host}: 20ms, {DEFAULT}: 40ms}}), or into links"
        )
        raise InputError(f"the site {site.name} remembers no distances", remedy, key=KEY)
    lost = [host for host in hosts if recorded.to(host) is None]
    if lost:
        what = f"the site {site.name} remembers no distance of {lost[0]}"
        raise InputError(what, f"Write one into its site.yaml, or {DEFAULT} for all others", key=KEY)
    try:
        return link.with_distances(recorded)
    except InputError as error:
        raise InputError(f"of the site {site.name}, {error.what}", error.remedy, key=KEY) from error


def check_distances(site: Site, link: Link) -> None:
    """Raises InputError where a distance is of no host of the site, or where so many hosts cannot have addresses."""
    distances: Distances = link.distances
    if not distances:
        return
    unused = distances.unused(site.hosts)
    if unused:
        covered = [host for host in site.hosts if distances.pattern_for(host) not in (None, unused[0])]
        near = near_miss(unused[0].removeprefix("*."), [host for host in site.hosts if host not in covered])
        what = f"{unused[0]} is no host of the site {site.name}, or another line says how far all of these are"
        raise InputError(what, f"{near}Its hosts are {', '.join(site.hosts[:8])}", key=KEY)
    try:
        origin_addresses(site.hosts, "per-origin", link.distance_to)
    except InputError as error:
        raise InputError(error.what, error.remedy, key=KEY) from error


class HostsAt(NamedTuple):
    """Hosts of a site that are equally far over a link, and which line says so."""

    link: str
    site: str
    hosts: tuple[str, ...]
    trip: Duration
    line: str  # in words


def planned_distances(experiment: Experiment, sites: Mapping[str, Site]) -> list[HostsAt]:
    """Return how far each host will be, the nearest first. Raises InputError for what cannot be with these sites."""
    rows: dict[tuple[str, str], list[HostsAt]] = {}
    for cell in experiment.cells:
        link, site, place = cell.link.link, sites[cell.site], (cell.link.label, cell.site)
        if not link.distances or place in rows or cell.arm.minify != "off":  # which may leave no object of a host
            continue
        written = link_as_recorded(link, site, site.hosts) if link.distances.recorded else link
        check_distances(site, written)
        source = "its site.yaml" if link.distances.recorded else "the experiment"
        by_line: dict[tuple[Duration, str], list[str]] = {}
        for host in site.hosts:
            line = written.distances.pattern_for(host) or (DEFAULT if written.distances.default else "")
            words = f"{line} in {source}" if line else "the rtt of the link"
            by_line.setdefault((written.to_host(host).rtt, words), []).append(host)
        rows[place] = [HostsAt(*place, tuple(hosts), *key) for key, hosts in sorted(by_line.items(), key=_nearness)]
    return [row for of_place in rows.values() for row in of_place]


def _nearness(one: tuple[tuple[Duration, str], list[str]]) -> int:
    return one[0][0].ns
