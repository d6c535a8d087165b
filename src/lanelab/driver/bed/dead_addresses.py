"""Addresses at which nobody is, for hosts that do not answer. Packets to them cross the link, and the server node drops
them without a word: no reset, and no ICMP. Pure."""

import ipaddress
from collections.abc import Sequence

from lanelab.driver.base.errors import InputError

# The end of the network of origins, so that the router knows the way; sites with so many origins are not known.
DEAD_NETWORK = ipaddress.ip_network("10.10.31.0/24")


def dead_addresses(hosts: Sequence[str]) -> dict[str, str]:
    """Return an address of its own for each host. Raises InputError where there are too many."""
    addresses = [str(address) for address in DEAD_NETWORK.hosts()]
    if len(hosts) > len(addresses):
        what = f"{len(hosts)} hosts are not to answer, and there are addresses for {len(addresses)}"
        raise InputError(what, "Name fewer", key="unreachable")
    return dict(zip(hosts, addresses, strict=False))


def is_dead(address: str) -> bool:
    """Return whether nobody is there."""
    return ipaddress.ip_address(address) in DEAD_NETWORK


def dropping_line() -> str:
    """Return the `ip` line for the server node. In its table of local addresses, where all others of that network are
    its own."""
    return f"route replace blackhole {DEAD_NETWORK} table local"
