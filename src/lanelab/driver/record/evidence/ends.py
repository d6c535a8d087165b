"""The ends of a connection, by which capture, server's log and gateway's log mean the same one."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Ends(NamedTuple):
    """A connection of the client. Its port alone names none: a kernel uses one port at the same time for connections
    to several servers."""

    client_port: int
    server: str  # its address; "" by a log that does not have it
    server_port: int

    @classmethod
    def of(cls, client: str, server: str) -> "Ends":
        """Return those of two addresses with their ports, as logs write them."""
        address, _, port = server.rpartition(":")
        return cls(int(client.rpartition(":")[2]), address.strip("[]"), int(port))

    @property
    def names(self) -> tuple["Ends", "Ends"]:
        """Return what logs may call it: by the server's address, and without that."""
        return self, self._replace(server="")


def ports_of(listed: Sequence[Ends], among: Iterable[Ends]) -> list[str]:
    """Return the client's port of each in words; with the server where others have that port, too."""
    sharing = Counter(each.client_port for each in {*listed, *among})
    return [
        f"{port} to {server}:{server_port}" if server and sharing[port] > 1 else str(port)
        for port, server, server_port in listed
    ]
