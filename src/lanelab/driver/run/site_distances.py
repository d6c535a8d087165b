"""Distances of a link against the hosts of a site: before any bed is made, what fits nothing is refused. Pure."""

from collections.abc import Sequence

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.host_names import DEFAULT
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.units import Duration
from lanelab.driver.bed.addresses import origin_addresses
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
