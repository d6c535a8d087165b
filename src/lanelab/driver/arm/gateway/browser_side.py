"""Where the browser finds the hosts of a site that goes through the gateway. Pure.

Chromium does not know of a host that it speaks HTTP/2 while all of it comes over another host's connection. Of what is
less urgent, as images are, it then has a few requests under way at once, as if they needed connections of HTTP/1.1. So
a host with many objects has an address of its own, for which the browser begins a connection. The others share one, as
each costs a TLS handshake before the host's first request, 4 to 12 ms.
"""

from collections import Counter
from collections.abc import Collection
from ipaddress import IPv4Address

from lanelab.driver.site.site import Site

FIRST_ADDRESS = IPv4Address("127.0.0.1")  # on the node's loopback, where no packet meets the link
# Requests that Chromium has under way at once of a host, and of all hosts, that are not known to speak HTTP/2.
MOST_OF_A_HOST, MOST_OF_HOSTS = 6, 10


def browser_addresses(site: Site) -> dict[str, str]:
    """Return the address of each host."""
    apart = set(_hosts_apart(site))
    addresses, following = dict[str, str](), FIRST_ADDRESS
    for host in site.hosts:
        if host in apart:
            following += 1
        addresses[host] = str(following if host in apart else FIRST_ADDRESS)
    return addresses


def _hosts_apart(site: Site) -> list[str]:
    """Return the hosts with the most objects, as many as it takes until nothing of the others can be held back."""
    objects = Counter(each.host for each in site.objects if each.host != site.entry_host)
    apart = list[str]()
    while holds_back(objects.values()):
        ((host, _),) = objects.most_common(1)
        apart.append(host)
        del objects[host]
    return apart


def holds_back(counts: Collection[int]) -> bool:
    """Return whether Chromium holds back some of so many requests of each such host."""
    return sum(counts) > MOST_OF_HOSTS or max(counts, default=0) > MOST_OF_A_HOST
