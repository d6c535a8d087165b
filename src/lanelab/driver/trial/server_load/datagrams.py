"""The datagrams that come for the server node while it is under load by HTTP/3, and those that its sockets drop.

A datagram that the server reads too late is lost as one on the link is: who sent it slows down. Its own kernel is the
only one that counts these.
"""

from lanelab.driver.base.errors import RecordError
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.remote.node_counters import paired
from lanelab.driver.record.evidence.spoken import ServerDatagrams

COUNTERS = "/proc/net/snmp"  # of the node's own network. Over IPv4, also where the server's socket is one of IPv6
FIELDS = {"received": "InDatagrams", "dropped": "InErrors", "without_room": "RcvbufErrors"}


def counted(node: Node) -> ServerDatagrams:
    """Return what the node's kernel has counted since its network began. Raises BedError."""
    return counts_in(node.run(["cat", COUNTERS]).stdout)


def counts_in(table: str) -> ServerDatagrams:
    """Return the counts in the kernel's table. Raises RecordError. Pure."""
    lines = table.splitlines()
    counts = {field: paired(lines, "Udp:", name) for field, name in FIELDS.items()}
    for field, count in counts.items():
        if count is None:
            raise RecordError(f"the kernel of the server node does not count {FIELDS[field]} of UDP", key=field)
    return ServerDatagrams.from_json(counts)


def counted_since(before: ServerDatagrams, after: ServerDatagrams) -> ServerDatagrams:
    return ServerDatagrams(
        after.received - before.received,
        after.dropped - before.dropped,
        after.without_room - before.without_room,
    )
