"""Connections of the last trial that the client has not closed yet. A browser that stays closes those of a page in its
own time, also while another browser is opened: what it sends for that must not meet the next load."""

import ipaddress
import struct
import time

from lanelab.driver.base.errors import NodeError
from lanelab.driver.bed.addresses import LINK_NETWORK
from lanelab.driver.bed.node import Node

CONNECTIONS = "/proc/net/tcp"
# As the kernel numbers states: established, FIN_WAIT1, CLOSE_WAIT, LAST_ACK, CLOSING. In all others the client sends
# nothing more, or asks for a connection.
CLOSING_TO_COME = frozenset(("01", "04", "08", "09", "0B"))
WITHIN_S, PAUSE_S = 1.0, 0.02
_NETWORK = ipaddress.ip_network(LINK_NETWORK)


def wait_for_closed(client: Node) -> None:
    """Wait until the client has closed its connections over the link, at most a second: what comes later the trial's
    own capture tells of."""
    until = time.monotonic() + WITHIN_S
    while open_connections(_table(client)) and time.monotonic() < until:
        time.sleep(PAUSE_S)


def open_connections(table: str) -> int:
    """Return how many connections over the link there are in the kernel's table that have not been closed."""
    rows = (line.split() for line in table.splitlines()[1:])
    return sum(len(row) > 3 and row[3] in CLOSING_TO_COME and _is_over_link(row[2]) for row in rows)


def _is_over_link(remote: str) -> bool:
    """Return whether an address and port, as the kernel writes them, are of the link's other end."""
    address = ipaddress.ip_address(struct.pack("=I", int(remote.partition(":")[0], 16)))
    return address in _NETWORK


def _table(client: Node) -> str:
    """Return the table; "" of a node that is lost, which the trial tells of."""
    try:
        return client.run(["cat", CONNECTIONS]).stdout
    except NodeError:
        return ""
