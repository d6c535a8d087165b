"""The hosts of a site by the server that answers for them, each group with the arm as that server has it. Pure."""

from dataclasses import dataclass, replace

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.origins import hosts_by_origin
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.third_parties import ThirdParties, require_room
from lanelab.driver.site.site import Site


@dataclass(frozen=True, slots=True)
class Group:
    arm: Arm
    site: Site  # of these hosts alone
    pattern: str = ""  # of `origins`; empty: the page's own server


def groups(arm: Arm, site: Site) -> tuple[Group, ...]:
    """Return them, that of the page first. Raises InputError where `origins` mean what the site does not have."""
    if not arm.origins:
        return (Group(arm, site),)
    by_pattern = hosts_by_origin(arm.origins, site)
    apart = {host for hosts in by_pattern.values() for host in hosts}
    usual = tuple(host for host in site.hosts if host not in apart)
    of_page, *beside = arm.by_server
    others = zip(beside, by_pattern.items(), strict=True)
    return (
        Group(of_page, _only(site, usual)),
        *(Group(other, _only(site, hosts), pattern) for other, (pattern, hosts) in others),
    )


def _only(site: Site, hosts: tuple[str, ...]) -> Site:
    """Return the site with these hosts, of which the first takes the place of its entry."""
    objects = tuple(each for each in site.objects if each.host in hosts)
    others = tuple(host for host in site.other_hosts if host in hosts)
    return replace(site, entry_host=hosts[0], objects=objects, other_hosts=others)


def require_third_parties(arm: Arm, site: Site) -> None:
    """Raises InputError where what the arm says of hosts, or does to third parties, cannot be with this site."""
    parts, delays = groups(arm, site), ThirdParties.of(arm, site).delays
    shared = arm.addresses == "shared" and arm.coalescing == "address"
    for each in parts:
        if each.arm.protocol == "h2":
            server, hosts = SERVERS[each.arm.server], each.site.hosts
            waiting = {url: wait for url, wait in delays.items() if url.partition("/")[0] in hosts}
            require_room(waiting, server.at_once_on_http2, server.title, shared=shared)
