"""Connections of the last trial that the client has not closed yet. A browser that stays closes those of a page in its
own time, also while another browser is opened: what it sends for that must not meet the next load.

They are TCP's. A bed has no addresses of IPv6, but a program may reach one of IPv4 by a socket of IPv6, and the kernel
lists it there. Of QUIC the kernel knows no connections.
"""

import ipaddress
import struct
import time

from lanelab.driver.base.errors import NodeError
from lanelab.driver.bed.addresses import LINK_NETWORK
from lanelab.driver.bed.node import Node

# The kernel's tables, the second of which is not there without IPv6.
TABLES = "cat /proc/net/tcp && { test ! -e /proc/net/tcp6 || cat /proc/net/tcp6; }"
HEAD = "local_address"
# As the kernel numbers states: established, FIN_WAIT1, CLOSE_WAIT, LAST_ACK, CLOSING. In all others the client sends
# nothing more, or asks for a connection.
CLOSING_TO_COME = frozenset(("01", "04", "08", "09", "0B"))
WITHIN_S, PAUSE_S = 1.0, 0.02
_NETWORK = ipaddress.ip_network(LINK_NETWORK)
_WORD = 8  # digits: the kernel writes addresses as words of 32 bits, each in the order of its processor


def wait_for_closed(client: Node, within_s: float = WITHIN_S) -> int:
    """Wait until the client has closed its connections over the link, at most that long. Return how many are still
    open: 0, and all were closed. Raises NodeError where that cannot be known."""
    until = time.monotonic() + within_s
    while (still_open := open_connections(client.run(["sh", "-c", TABLES]).stdout)) and time.monotonic() < until:
        time.sleep(PAUSE_S)
    return still_open


def open_connections(tables: str) -> int:
    """Return how many connections over the link there are in the kernel's tables that have not been closed. Raises
    NodeError where there is no table: nothing would be open in it."""
    if HEAD not in tables:
        raise NodeError("the client does not tell which connections it has")
    rows = (line.split() for line in tables.splitlines() if HEAD not in line)
    return sum(len(row) > 3 and row[3] in CLOSING_TO_COME and _is_over_link(row[2]) for row in rows)


def _is_over_link(remote: str) -> bool:
    """Return whether an address and port, as the kernel writes them, are of the link's other end."""
    digits = remote.partition(":")[0]
    words = [int(digits[at : at + _WORD], 16) for at in range(0, len(digits), _WORD)]
    address = ipaddress.ip_address(struct.pack(f"={len(words)}I", *words))
    if isinstance(address, ipaddress.IPv6Address):
        return address.ipv4_mapped is not None and address.ipv4_mapped in _NETWORK
    return address in _NETWORK
