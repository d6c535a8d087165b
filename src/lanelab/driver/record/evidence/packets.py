"""What is kept of a capture: numbers for the whole, for each TCP connection and for each pair of UDP ports."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.record.evidence.ends import Ends

UDP_HEADERS = 14 + 20 + 8  # bytes: Ethernet, IPv4, UDP


@dataclass(frozen=True, slots=True)
class Connection(Coded):
    """One TCP connection. Bytes are those of whole frames, as they were on the wire."""

    client_port: int
    server: str
    server_port: int
    first_us: int
    last_us: int
    packets_up: int
    packets_down: int
    bytes_up: int
    bytes_down: int
    payload_up: int
    payload_down: int
    syn: bool
    handshake: bool
    handshake_rtt_us: int | None
    tls: bool
    retransmissions_up: int
    retransmissions_down: int
    out_of_order: int
    copies: int  # that the network made
    probes: int
    fin_up: bool
    fin_down: bool
    rst_up: bool
    rst_down: bool
    header_down: int | None  # bytes before the payload of the first frame with data from the server
    data_us: int | None  # when the last new data from the server came
    spoken_up: str | None
    spoken_down: str | None
    alpn_offered: tuple[str, ...] | None
    tls_version: str | None
    tls_resumed: bool | None
    mss_up: int | None  # the largest segment that the client's SYN allows the server to send
    mss_down: int | None  # the server's
    data_packets_up: int  # with payload, what was sent again included
    data_packets_down: int
    first_flight_down: int | None  # bytes that the server sent before it can have heard of their arrival
    used: bool  # it carried a request
    server_ended_us: int | None = None  # when the server ended it; None: the client did, or nobody

    @property
    def ends(self) -> Ends:
        return Ends(self.client_port, self.server, self.server_port)


@dataclass(frozen=True, slots=True)
class QuicSummary(Coded):
    """The connections that QUIC shows in clear. Connection ids in hexadecimal digits; "" where there is none."""

    version: str  # 1, 2, or its number
    first_server_id: str  # which the client makes up for its first packets
    client_id: str
    server_id: str
    initials_up: int  # datagrams that begin with an Initial
    initials_down: int
    retry: bool  # the server asked for another beginning
    version_negotiation: bool
    handshake_rtt_us: int | None
    spin_rtt_us: int | None  # the median; None: its bit does not spin
    spins: int  # of how many
    server_name: str | None  # for which the client asks; None, as below: its hello was not captured whole
    alpn_offered: tuple[str, ...] | None
    alpn_chosen: str | None  # None, as all that the server says behind its hello: there are no keys for it
    tls_version: str | None
    tls_resumed: bool | None
    early_data_offered: bool | None  # data ahead of the handshake's end (0-RTT)
    early_data_taken: bool | None
    early_packets: int  # with such data
    short_up: int  # datagrams with a packet of the application's keys, which there are once a handshake is complete
    short_down: int
    ready_us: int | None  # when the client first sent what may be a request
    moved_from: int | None  # the client's port from which this connection went on at another (migration)

    @property
    def complete(self) -> bool:
        """Return whether its handshake was, so that it could carry requests."""
        return self.short_up > 0 and self.short_down > 0


@dataclass(frozen=True, slots=True)
class FlowSummary(Coded):
    """UDP between two ports."""

    client_port: int
    server: str
    server_port: int
    first_us: int
    last_us: int
    packets_up: int
    packets_down: int
    bytes_up: int
    bytes_down: int
    quic: QuicSummary | None

    @property
    def ends(self) -> Ends:
        return Ends(self.client_port, self.server, self.server_port)

    @property
    def payload_down(self) -> int:
        """Return the bytes that datagrams to the client carried."""
        return self.bytes_down - UDP_HEADERS * self.packets_down

    @property
    def dns(self) -> bool:
        return self.server_port == 53


@dataclass(frozen=True, slots=True)
class PacketSummary(Coded):
    """A whole capture. `incomplete` says why a part of it could not be read."""

    packets: int
    bytes: int
    bytes_down: int
    bytes_up: int
    other_packets: int  # neither TCP nor UDP over IPv4 or IPv6
    first_us: int
    last_us: int
    snaplen: int
    incomplete: str | None
    by_connection: tuple[Connection, ...]
    by_udp_flow: tuple[FlowSummary, ...]

    @property
    def connections(self) -> int:
        """Return those that a client asked for within the capture, over TCP or QUIC."""
        return sum(each.syn for each in self.by_connection) + sum(each.initials_up > 0 for each in self.quic)

    @property
    def quic(self) -> list[QuicSummary]:
        return [each.quic for each in self.by_udp_flow if each.quic is not None]

    @property
    def connections_used(self) -> int:
        """Return those that carried a request: not a spare one, which a browser opened ahead and had no use for. Within
        QUIC requests cannot be told from the rest, so these are those that could have carried one."""
        return sum(each.used for each in self.by_connection) + sum(each.complete for each in self.quic)

    @property
    def retransmissions_down(self) -> int:
        return sum(each.retransmissions_down for each in self.by_connection)

    @property
    def retransmissions_up(self) -> int:
        return sum(each.retransmissions_up for each in self.by_connection)

    @property
    def retransmissions(self) -> int | None:
        """Count packets that TCP sent again; None where there was QUIC, which shows none."""
        return None if self.quic else self.retransmissions_down + self.retransmissions_up
