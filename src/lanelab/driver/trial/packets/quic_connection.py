"""A QUIC connection as a capture shows it: version, connection ids, its handshake, its round trips, spin bit.

Whoever sees a connection begin can open its first packets (RFC 9001, 5.2): who is asked for, which protocols. What the
server chose is in packets that the client's log of secrets opens.
"""

import statistics

from lanelab.driver.record.evidence.packets import QuicSummary
from lanelab.driver.trial.packets.first_bytes import Hello, resumed, tls_version
from lanelab.driver.trial.packets.quic import FIXED, LONG, NAMES, Head, Kind, read_head
from lanelab.driver.trial.packets.quic_session import ONE_RTT, Session
from lanelab.driver.trial.packets.secrets import Secrets

SPIN = 0x20  # a bit of the first byte
LEAST_EDGES = 4
MOST_EDGES = 10_000
RANDOM_SHARE = 4  # more than one edge in so many packets is no spinning: such packets are in one flight


class Quic:
    """One connection, while the capture is read."""

    __slots__ = (
        *("answer_ns", "asked_ns", "edges", "first_id", "ids", "initials", "negotiated", "retry", "rtt_ns", "short"),
        *("early", "ready_ns", "secured", "session", "spin", "version"),
    )

    def __init__(self, secrets: Secrets) -> None:
        self.session = Session(secrets)
        self.early = 0  # packets with data ahead of the handshake's end
        self.ready_ns = -1
        self.secured = [0, 0]  # datagrams with a packet of the application's keys, of client and server
        self.version = 0
        self.first_id = b""  # the server's, as the client made it up
        self.ids = [b"", b""]  # of client and server
        self.initials = [0, 0]
        self.retry = self.negotiated = False
        self.asked_ns = self.answer_ns = self.rtt_ns = -1
        self.short = 0  # packets with a short header from the server
        self.spin: int | None = None
        self.edges: list[int] = []  # when the server's spin bit turned

    def take(self, now: int, payload: bytes, *, up: bool) -> None:
        head = read_head(payload)
        if head is not None:
            self._long(now, head, up=up)
        elif payload and not payload[0] & LONG and payload[0] & FIXED and not up:
            self.short += 1
            bit = payload[0] & SPIN
            if self.spin is not None and bit != self.spin and len(self.edges) < MOST_EDGES:
                self.edges.append(now)
            self.spin = bit
        if up and self.answer_ns >= 0 and self.rtt_ns < 0:
            self.rtt_ns = now - self.asked_ns
        for packet in self.session.take(payload, up=up):
            self.secured[0 if up else 1] += packet.kind == ONE_RTT
            if up and packet.kind in (Kind.ZERO_RTT, ONE_RTT):
                self.ready_ns = now if self.ready_ns < 0 else self.ready_ns
                self.early += packet.kind == Kind.ZERO_RTT

    def _long(self, now: int, head: Head, *, up: bool) -> None:
        if up:
            self.ids[0] = head.source_id
            self.first_id = self.first_id or head.target_id
            self.version = head.version
            if head.kind == Kind.INITIAL:
                self.initials[0] += 1
                self.asked_ns = now if self.answer_ns < 0 else self.asked_ns
            return
        if head.kind is None:
            self.negotiated = True
        elif head.kind == Kind.RETRY:
            self.retry = True
        else:
            self.ids[1] = head.source_id
            self.version = head.version
            self.initials[1] += head.kind == Kind.INITIAL
            self.answer_ns = now if self.answer_ns < 0 <= self.asked_ns else self.answer_ns

    def summary(self) -> QuicSummary:
        spins = self._spins()
        hello_up, hello_down, chosen = self.session.client_hello, self.session.server_hello, self.session.answer
        return QuicSummary(
            version=NAMES.get(self.version, f"0x{self.version:08x}"),
            first_server_id=self.first_id.hex(),
            client_id=self.ids[0].hex(),
            server_id=self.ids[1].hex(),
            initials_up=self.initials[0],
            initials_down=self.initials[1],
            retry=self.retry,
            version_negotiation=self.negotiated,
            handshake_rtt_us=self.rtt_ns // 1000 if self.rtt_ns >= 0 else None,
            spin_rtt_us=round(statistics.median(spins)) // 1000 if spins else None,
            spins=len(spins),
            server_name=hello_up.name if hello_up else None,
            alpn_offered=hello_up.alpn if hello_up else None,
            alpn_chosen=chosen.alpn[0] if chosen and chosen.alpn else None,
            tls_version=tls_version(hello_down),
            tls_resumed=resumed(hello_up, hello_down),
            early_data_offered=hello_up.early if hello_up else None,
            early_data_taken=_taken(chosen),
            early_packets=self.early,
            short_up=self.secured[0],
            short_down=self.secured[1],
            ready_us=self.ready_ns // 1000 if self.ready_ns >= 0 else None,
            moved_from=None,
        )

    def _spins(self) -> list[int]:
        """Times from one turn of the server's spin bit to the next: each is a round trip. None where it does not spin,
        or has a random value in each packet."""
        if len(self.edges) < LEAST_EDGES or len(self.edges) * RANDOM_SHARE > self.short:
            return []
        return [after - before for before, after in zip(self.edges, self.edges[1:], strict=False)]


def _taken(chosen: Hello | None) -> bool | None:
    """Return whether the server took data ahead of the handshake's end; None: its answer is not known."""
    return chosen.early if chosen else None
