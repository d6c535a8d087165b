"""The datagrams that come for a node while HTTP/3 is spoken with it, and those that its sockets drop.

A datagram that a program reads too late is lost as one on the link is: who sent it slows down. A capture has it, since
it is taken before the socket: the node's own kernel is the only one that counts these.
"""

from lanelab.driver.base.errors import RecordError
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.remote.node_counters import paired
from lanelab.driver.record.evidence.spoken import Datagrams, NodeDatagrams

COUNTERS = "/proc/net/snmp"  # of the node's own network. Over IPv4, also where a socket is one of IPv6
FIELDS = {"received": "InDatagrams", "dropped": "InErrors", "without_room": "RcvbufErrors"}
MOST_DROPPED = 0.001  # of the datagrams that came: each lost one slows its connection down


def counted(node: Node) -> NodeDatagrams:
    """Return what the node's kernel has counted since its network began. Raises BedError."""
    return counts_in(node.run(["cat", COUNTERS]).stdout)


def counts_in(table: str) -> NodeDatagrams:
    """Return the counts in the kernel's table. Raises RecordError. Pure."""
    lines = table.splitlines()
    counts = {field: paired(lines, "Udp:", name) for field, name in FIELDS.items()}
    for field, count in counts.items():
        if count is None:
            raise RecordError(f"the kernel of the node does not count {FIELDS[field]} of UDP", key=field)
    return NodeDatagrams.from_json(counts)


def counted_since(before: NodeDatagrams, after: NodeDatagrams) -> NodeDatagrams:
    return NodeDatagrams(
        after.received - before.received,
        after.dropped - before.dropped,
        after.without_room - before.without_room,
    )


def drops_in_words(datagrams: NodeDatagrams, node: str, program: str) -> str:
    """Say how many datagrams that came for a node its sockets dropped, since that program read too late; empty where
    these were not too many."""
    if not too_many_dropped(datagrams):
        return ""
    came = datagrams.received + datagrams.dropped
    late = f"{datagrams.without_room} of them since the {program} read too late"
    return f"of {came} datagrams that came for the {node} its sockets dropped {datagrams.dropped}, {late}"


def none_came(datagrams: Datagrams | NodeDatagrams) -> bool:
    """Return whether nothing was counted: of a kernel for whose node answers or requests came, that cannot be."""
    return datagrams.received + datagrams.dropped <= 0


def too_many_dropped(datagrams: Datagrams | NodeDatagrams) -> bool:
    return datagrams.dropped > MOST_DROPPED * (datagrams.received + datagrams.dropped)
