"""Names, addresses and interfaces of a bed, and the `ip` lines that make them. Pure.

        client eth0 ──── to_client [router] to_server ──── eth0 server
          10.10.1.2      10.10.1.1          10.10.2.1      10.10.2.2

A second cable, `direct0` of the client to `direct0` of the server, is there for links without a router: hosts have the
same addresses on it, and their routes say which of the two they use.

Beside the link each node has a management interface `mgmt0` to the bed process (10.11.N.2, the bed 10.11.N.1);
what crosses it never meets the router. The addresses are the same in every bed: beds do not see each other.
The server also answers at every address of 10.10.16.0/20, so that each origin of a site can have one of its own, and
of 10.10.32.0 to 10.10.255.255, where origins are that have another distance than the others: the router tells by the
network of an address how far away it is.
Neighbours are permanent entries, since an ARP answer would be delayed by the link like any packet and so
would lengthen the first connection.
"""

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lanelab.driver.base.errors import InputError

LINK_NETWORK = "10.10.0.0/16"
ORIGINS_NETWORK = ipaddress.ip_network("10.10.16.0/20")  # inside LINK_NETWORK, so the client needs no route of its own
FAR = 32  # third part of the address of the first network of a distance
MOST_DISTANCES, DISTANCES_OF_GROUP = 224, 16  # networks of a /24 each, so many of which make a /20
FAR_NETWORKS = tuple(map(ipaddress.ip_network, ("10.10.32.0/19", "10.10.64.0/18", "10.10.128.0/17")))  # all of them
_OF_ORIGINS = (ORIGINS_NETWORK, *FAR_NETWORKS)
QUEUE_DOWN, QUEUE_UP = "queue_down", "queue_up"  # in the router: where packets wait for each direction's bottleneck


@dataclass(frozen=True, slots=True)
class Port:
    """One end of a cable."""

    device: str
    mac: str
    address: str
    prefix: int = 24

    def lines(self, mtu: int = 1500) -> list[str]:
        return [
            f"link set dev {self.device} address {self.mac} mtu {mtu}",
            f"addr add {self.address}/{self.prefix} dev {self.device}",
            f"link set dev {self.device} up",
        ]

    def neighbour_line(self, other: "Port") -> str:
        return f"neigh replace {other.address} lladdr {other.mac} dev {self.device} nud permanent"


@dataclass(frozen=True, slots=True)
class Host:
    """An end of the link: client or server."""

    name: str
    port: Port
    router_port: Port
    direct_port: Port  # of the cable to the other host; it answers at the address of `port`
    management: Port
    bed_management: Port


CLIENT = Host(
    "client",
    port=Port("eth0", "02:00:0a:0a:01:02", "10.10.1.2"),
    router_port=Port("to_client", "02:00:0a:0a:01:01", "10.10.1.1"),
    direct_port=Port("direct0", "02:00:0a:0c:01:02", "10.10.1.2"),
    management=Port("mgmt0", "02:00:0a:0b:01:02", "10.11.1.2"),
    bed_management=Port("mgmt-client", "02:00:0a:0b:01:01", "10.11.1.1"),
)
SERVER = Host(
    "server",
    port=Port("eth0", "02:00:0a:0a:02:02", "10.10.2.2"),
    router_port=Port("to_server", "02:00:0a:0a:02:01", "10.10.2.1"),
    direct_port=Port("direct0", "02:00:0a:0c:02:02", "10.10.2.2"),
    management=Port("mgmt0", "02:00:0a:0b:02:02", "10.11.2.2"),
    bed_management=Port("mgmt-server", "02:00:0a:0b:02:01", "10.11.2.1"),
)
HOSTS = (CLIENT, SERVER)
OTHER = {CLIENT: SERVER, SERVER: CLIENT}
ROUTER_MANAGEMENT = Port("mgmt0", "02:00:0a:0b:03:02", "10.11.3.2")
BED_ROUTER_MANAGEMENT = Port("mgmt-router", "02:00:0a:0b:03:01", "10.11.3.1")
ADDRESSES = {"client": CLIENT.port.address, "router": CLIENT.router_port.address, "server": SERVER.port.address}


def distance_network(number: int) -> ipaddress.IPv4Network:
    """Return the network of the origins that have this distance, counted from 0."""
    return ipaddress.IPv4Network(f"10.10.{FAR + number}.0/24")


def group_network(group: int) -> ipaddress.IPv4Network:
    """Return the network of a whole group of distances."""
    return ipaddress.IPv4Network(f"10.10.{FAR + group * DISTANCES_OF_GROUP}.0/20")


def distance_of(address: str) -> int | None:
    """Return which distance an address has; None: that of all others."""
    packed = ipaddress.IPv4Address(address).packed
    return packed[2] - FAR if packed[:2] == FAR_NETWORKS[0].network_address.packed[:2] and packed[2] >= FAR else None


def _usual_distance(_host: str) -> int | None:
    return None


def origin_addresses(
    hosts: Sequence[str], how: str, distance: Callable[[str], int | None] = _usual_distance
) -> dict[str, str]:
    """Return where each origin of a site is: all at the server's address ("shared"), or each at its own
    ("per-origin"), in the network of its `distance` where it has one."""
    if how == "shared":
        return dict.fromkeys(hosts, SERVER.port.address)
    if how != "per-origin":
        raise InputError(f"'{how}' is no way to address origins", "Choose from: shared, per-origin", key="addresses")
    by_distance: dict[int | None, list[str]] = {}
    for name in dict.fromkeys(hosts):
        by_distance.setdefault(distance(name), []).append(name)
    addresses: dict[str, str] = {}
    for number, names in by_distance.items():
        network = ORIGINS_NETWORK if number is None else distance_network(number)
        free = [str(address) for address in network.hosts()]
        if len(names) > len(free):
            where = "" if number is None else " at one distance"
            what = f"a site with {len(names)} origins{where} cannot have an address for each: there are {len(free)}"
            raise InputError(
                what, "Set 'addresses: shared'" if number is None else "Leave distances out", key="addresses"
            )
        addresses |= zip(names, free, strict=False)
    return {name: addresses[name] for name in hosts}


def hosts_file() -> str:
    """/etc/hosts of every node."""
    lines = ["127.0.0.1 localhost", "::1 localhost ip6-localhost"]
    return "\n".join(lines + [f"{address} {name}" for name, address in ADDRESSES.items()]) + "\n"


def host_lines(host: Host) -> list[str]:
    """Return `ip` lines inside a host, before any link is set."""
    # A local route for a whole network (AnyIP): each of its addresses is the server's without being listed anywhere.
    origins = [f"route add local {network} dev lo" for network in _OF_ORIGINS] if host is SERVER else []
    return [
        "link set dev lo up",
        *host.port.lines(),
        *host.management.lines(),
        host.port.neighbour_line(host.router_port),
        host.management.neighbour_line(host.bed_management),
        *route_lines(host),
        *origins,
    ]


def route_lines(host: Host, options: str = "") -> list[str]:
    """Return a host's routes to the other side and to the router, with route options such as TCP's."""
    port = host.port
    network = ipaddress.ip_interface(f"{port.address}/{port.prefix}").network
    lines = [
        f"route replace {LINK_NETWORK} via {host.router_port.address} dev {port.device} {options}",
        f"route replace {network} dev {port.device} proto kernel scope link src {port.address} {options}",
    ]
    return [line.rstrip() for line in lines]


def direct_lines(host: Host) -> list[str]:
    """Return `ip` lines inside a host for its end of the direct cable. No route leads there yet."""
    port = host.direct_port
    return [
        f"link set dev {port.device} address {port.mac}",
        f"link set dev {port.device} up",
        port.neighbour_line(OTHER[host].direct_port),
    ]


def direct_route_lines(host: Host, options: str = "") -> list[str]:
    """Return a host's route to the other side without the router. The network of its own end stays where it is: there
    is nobody but the router."""
    port = host.direct_port
    to = f"route replace {LINK_NETWORK} via {OTHER[host].direct_port.address} dev {port.device} onlink"
    return [f"{to} src {port.address} {options}".rstrip()]


def bed_lines() -> list[str]:
    """Return `ip` lines in the bed's own namespace."""
    lines = ["link set dev lo up"]
    for host in HOSTS:
        lines += host.bed_management.lines()
        lines.append(host.bed_management.neighbour_line(host.management))
    return lines


def bed_router_lines() -> list[str]:
    """Return `ip` lines in the bed's own namespace for the router's management cable, which must be there before it
    boots."""
    return [
        "link set dev lo up",
        *BED_ROUTER_MANAGEMENT.lines(),
        BED_ROUTER_MANAGEMENT.neighbour_line(ROUTER_MANAGEMENT),
    ]


def router_management_lines() -> list[str]:
    """Return `ip` lines inside the router for its end of that cable."""
    return [*ROUTER_MANAGEMENT.lines(), ROUTER_MANAGEMENT.neighbour_line(BED_ROUTER_MANAGEMENT)]


def router_lines(renames: dict[str, str] | None = None) -> list[str]:
    """Return `ip` lines inside the router; `renames` maps a device as its kernel names it to our name."""
    lines = [f"link set dev {theirs} name {ours}" for theirs, ours in (renames or {}).items()]
    lines.append("link set dev lo up")
    lines += [f"link add {queue} type ifb" for queue in (QUEUE_DOWN, QUEUE_UP)]
    for host in HOSTS:
        lines += host.router_port.lines()
        lines.append(host.router_port.neighbour_line(host.port))
    # Through an address whose neighbour entry is there: no ARP request for an origin ever crosses the cable.
    lines += [
        f"route add {network} via {SERVER.port.address} dev {SERVER.router_port.device}" for network in _OF_ORIGINS
    ]
    return lines
