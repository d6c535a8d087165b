"""What was spoken in a load, by others than its generator: the server's log, and of QUIC the packets."""

from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded, with_later


@dataclass(frozen=True, slots=True)
class Datagrams(Coded):
    """The datagrams that came for the generator, after the warm-up, by its kernel's counters."""

    received: int
    dropped: int  # its sockets had no room for them: it read too late


@dataclass(frozen=True, slots=True)
class NodeDatagrams(Coded):
    """The datagrams that came for a node, from before a load or a fetch until after it, by its kernel's counters."""

    received: int
    dropped: int  # which no program got, whatever the reason
    without_room: int  # of these: the socket was full, since its program read too late


@dataclass(frozen=True, slots=True)
class QuicWitness(Coded):
    """Counts of connections by QUIC that began in the first packets, by what these show."""

    begun: int
    complete: int  # whose handshake was
    early: int  # that began with early data
    over_tcp: int  # connections that were asked for over TCP, at the same port
    tls: Mapping[str, int]  # version
    offered: Mapping[str, int]  # by the client in ALPN: names with blanks between
    chosen: Mapping[str, int]  # by the server, of those whose secrets are known
    packets: int | None = None  # that were captured, of whatever kind; None: a record from before this was kept

    @classmethod
    def decoded(cls, data: object) -> "QuicWitness":
        """Return it, also from a record that lacks what came later."""
        return super(QuicWitness, cls).decoded(with_later(data, packets=None))


@dataclass(frozen=True, slots=True)
class SpokenEvidence(Coded):
    """Both together."""

    served: Mapping[str, int]  # requests by protocol, of the few of each second that the server logs
    datagrams: Datagrams | None  # None: over TCP there are none
    quic: QuicWitness | None  # None: nobody has read the first packets
    # Seconds, from the first, in which the server logged a request; None: no log is read, or as of `packets`.
    served_in_s: tuple[int, ...] | None = None
    at_server: NodeDatagrams | None = None  # None: over TCP there are none, or as of `packets`

    @classmethod
    def decoded(cls, data: object) -> "SpokenEvidence":
        """Return it, also from a record that lacks what came later."""
        return super(SpokenEvidence, cls).decoded(with_later(data, served_in_s=None, at_server=None))
