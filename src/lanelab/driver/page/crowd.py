"""The places of those who are connected. Where all are taken, the address that has most gives its oldest one up: so
nobody keeps others out, whether he has shown a secret or not even said a word. A class behind one address has all of
them as long as nobody else comes."""

import ipaddress
import socket
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

MOST_CONNECTIONS = 300  # at the same time: a class of thirty has some each
BITS_OF_ONE = {4: 32, 6: 64}  # of an address, that one machine cannot choose


def network_of(address: str) -> str:
    """Return what stands for a machine: one has any number of IPv6 addresses in its network."""
    known = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(known, ipaddress.IPv6Address) and known.ipv4_mapped:
        known = known.ipv4_mapped
    return str(ipaddress.ip_network((str(known), BITS_OF_ONE[known.version]), strict=False))


def gives_up(networks: Sequence[str]) -> int:
    """Return which connection ends, of those that are there in their order: the oldest of the network with most."""
    counts = Counter(networks)
    most = max(counts.values())
    return next(at for at, each in enumerate(networks) if counts[each] == most)


@dataclass(slots=True)
class Crowd:
    """The connections that are there, the oldest first. They count from their first packet on, also before TLS."""

    most: int = MOST_CONNECTIONS
    _there: list[tuple[socket.socket, str]] = field(default_factory=list)

    def add(self, connection: socket.socket, address: str) -> None:
        """Note a new one, and end another where it is one too many."""
        self._there = [each for each in self._there if each[0].fileno() != -1]
        self._there.append((connection, network_of(address)))
        if len(self._there) > self.most:
            ended, _ = self._there.pop(gives_up([network for _, network in self._there]))
            with suppress(OSError):  # whoever is connected has gone
                ended.shutdown(socket.SHUT_RDWR)  # its owner sees that, and closes it


class FairSocket(socket.socket):
    """A socket that listens, and lets a crowd in."""

    def __init__(self, family: int) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self.crowd = Crowd()

    def accept(self) -> tuple[socket.socket, tuple[str, int]]:
        connection, peer = super().accept()
        self.crowd.add(connection, peer[0])
        return connection, peer
