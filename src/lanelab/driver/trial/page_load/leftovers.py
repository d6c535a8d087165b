"""Connections of the last trial that the client has not closed yet. A browser that stays closes those of a page in its
own time, also while another browser is opened: what it sends for that must not meet the next load. Nor must what a
server that was ended in the middle of a load has still to send.

Of TCP the kernel lists each connection with its state. Of QUIC it knows none, but Chromium has a socket of UDP for
each, which is connected to the server: as long as that is there, Chromium may send on it. It says good-bye and lets go
of it when the page's context ends, or its pool of connections is emptied; else 30 s after the last packet. A socket
that is not connected tells nobody with whom it speaks, so none is waited for: those of the fetcher, which are gone when
its program ends, and Firefox's.

A bed has no addresses of IPv6, but a program may reach one of IPv4 by a socket of IPv6, and the kernel lists it there.
"""

import ipaddress
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from lanelab.driver.base.errors import BedError, NodeError
from lanelab.driver.bed.addresses import LINK_NETWORK
from lanelab.driver.bed.node import Node
from lanelab.driver.link import Link
from lanelab.driver.trial.page_load.earlier import QUIC_PORT

# The kernel's tables, of which those of IPv6 are not there without it.
OF_IPV6 = "for each in /proc/net/tcp6 /proc/net/udp6; do if test -e $each; then cat $each; fi; done"
TABLES = f"cat /proc/net/tcp /proc/net/udp; {OF_IPV6}"
HEAD = "local_address"
OF_UDP = "drops"  # what stands in the head of a table of UDP alone
# As the kernel numbers states: established, FIN_WAIT1, CLOSE_WAIT, LAST_ACK, CLOSING. In all others nothing more is
# sent, or a connection is asked for.
CLOSING_TO_COME = frozenset(("01", "04", "08", "09", "0B"))
CONNECTED = "01"  # of a socket of UDP: it has the other end's address
WITHIN_S, PAUSE_S = 1.0, 0.02
CLOSING_TRIPS = 3  # for a good-bye: one until TCP's timer goes off, one for the answer, one for the last word
SENT_WITHIN_S = 5.0  # in which TCP's timer goes off for the fourth time, where a round trip is 0.1 s
SENT_PAUSE_S = 0.1  # each look is two processes, and another bed of this machine may measure meanwhile
_NETWORK = ipaddress.ip_network(LINK_NETWORK)
_WORD = 8  # digits: the kernel writes addresses as words of 32 bits, each in the order of its processor


class _Socket(NamedTuple):
    """A line of a node's table."""

    of_udp: bool
    remote: str
    state: str

    def is_open(self) -> bool:
        """Return whether it is a connection over the link on which the node may still send something."""
        if self.of_udp:
            open_still = self.state == CONNECTED and _port(self.remote) == QUIC_PORT
        else:
            open_still = self.state in CLOSING_TO_COME
        return open_still and _is_over_link(self.remote)


def wait_for_closed(node: Node, within_s: float = WITHIN_S, pause_s: float = PAUSE_S) -> int:
    """Wait until a node has closed its connections over the link, at most that long. Return how many are still open:
    0, and all were closed. Raises NodeError where that cannot be known."""
    until = time.monotonic() + within_s
    while (still_open := open_connections(node.run(["sh", "-ec", TABLES]).stdout)) and time.monotonic() < until:
        time.sleep(pause_s)
    return still_open


class Closing:
    """Waits before each load until the client has closed the connections of the one before, which went over a link that
    may have been another."""

    def __init__(self, client: Node) -> None:
        self._client = client
        self._link_before: Link | None = None

    def wait(self, link: Link) -> int:
        """Return how many are still open after as long as these links take. Raises NodeError as `wait_for_closed`."""
        link_before, self._link_before = self._link_before, link
        return wait_for_closed(self._client, closing_s(link, link_before))


def closing_s(*links: Link | None) -> float:
    """Return how long connections of a load may take to close, which went over one link and says its good-bye over
    another. What was under way when the link changed is lost, and is sent again a round trip later, or more."""
    trips = [trip.seconds for link in links if link for trip in (link.rtt, *link.distances.all)]
    return WITHIN_S + CLOSING_TRIPS * max(trips)


def wait_for_sent(server: Node, within_s: float = SENT_WITHIN_S) -> None:
    """Wait until the kernel of a server that was killed has nothing more to send. Of a load that was cut off it sends
    again what was lost, whenever TCP's timer goes off, until it hears that nobody wants it: that must not meet the
    next load. What comes later all the same the judges of that one see."""
    with suppress(BedError):
        wait_for_closed(server, within_s, SENT_PAUSE_S)


def open_connections(tables: str) -> int:
    """Return how many connections over the link there are in the kernel's tables that have not been closed. Raises
    NodeError where a table is missing: nothing would be open in it."""
    heads = [line.split() for line in tables.splitlines() if HEAD in line]
    for protocol, of_udp in (("TCP", False), ("QUIC", True)):
        if not any((OF_UDP in head) == of_udp for head in heads):
            raise NodeError(f"the kernel does not tell which connections of {protocol} there are")
    return sum(each.is_open() for each in _sockets(tables))


def _sockets(tables: str) -> Iterator[_Socket]:
    of_udp = False
    for line in tables.splitlines():
        words = line.split()
        if HEAD in line:
            of_udp = OF_UDP in words
        elif len(words) > 3:
            yield _Socket(of_udp, words[2], words[3])


def _port(remote: str) -> int:
    """Return the port of an address and port, as the kernel writes them."""
    return int(remote.partition(":")[2], 16)


def _is_over_link(remote: str) -> bool:
    """Return whether an address and port, as the kernel writes them, are of the link's other end."""
    digits = remote.partition(":")[0]
    words = [int(digits[at : at + _WORD], 16) for at in range(0, len(digits), _WORD)]
    address = ipaddress.ip_address(struct.pack(f"={len(words)}I", *words))
    if isinstance(address, ipaddress.IPv6Address):
        return address.ipv4_mapped is not None and address.ipv4_mapped in _NETWORK
    return address in _NETWORK
