"""What QUIC shows in clear (RFC 8999, 9000, 9369): version, connection ids, its handshake's round trip, spin bit."""

from __future__ import annotations

import statistics
from enum import IntEnum
from typing import NamedTuple

from model.evidence.packets import QuicSummary

LONG, FIXED, SPIN = 0x80, 0x40, 0x20  # bits of the first byte
NEGOTIATION = 0  # a version
VERSION_1, VERSION_2 = 0x00000001, 0x6B3343CF
DRAFTS = 0xFF000000
NAMES = {VERSION_1: "1", VERSION_2: "2"}
GREASE, GREASED = 0x0F0F0F0F, 0x0A0A0A0A  # versions that only ask for a negotiation
SMALLEST_INITIAL = 1200  # bytes of the datagram in which a client's first Initial is (RFC 9000, 14.1)
SHORTEST_ID, LONGEST_ID = 8, 20
LEAST_EDGES = 4
MOST_EDGES = 10_000
RANDOM_SHARE = 4  # more than one edge in so many packets is no spinning: such packets are in one flight


class Kind(IntEnum):
    INITIAL, ZERO_RTT, HANDSHAKE, RETRY = 0, 1, 2, 3


class Head(NamedTuple):
    """A long header."""

    version: int
    kind: Kind | None  # None: a version negotiation
    target_id: bytes
    source_id: bytes


def read_head(payload: bytes) -> Head | None:
    """The long header with which a datagram begins."""
    if len(payload) < 7 or not payload[0] & LONG:
        return None
    version = int.from_bytes(payload[1:5])
    to_source = 6 + payload[5]
    if len(payload) <= to_source or len(payload) < to_source + 1 + payload[to_source]:
        return None
    target, source = payload[6:to_source], payload[to_source + 1 : to_source + 1 + payload[to_source]]
    if version == NEGOTIATION:
        return Head(version, None, target, source)
    if len(target) > LONGEST_ID or len(source) > LONGEST_ID or not payload[0] & FIXED:
        return None
    number = payload[0] >> 4 & 3
    return Head(version, Kind((number - 1) % 4 if version == VERSION_2 else number), target, source)


def begins_quic(payload: bytes, length: int) -> bool:
    """Whether a client's datagram of that length can begin a connection."""
    head = read_head(payload)
    if head is None or length < SMALLEST_INITIAL or not SHORTEST_ID <= len(head.target_id) <= LONGEST_ID:
        return False
    known = head.version in NAMES or head.version & 0xFFFFFF00 == DRAFTS or head.version & GREASE == GREASED
    return known and head.kind in (Kind.INITIAL, Kind.ZERO_RTT)


class Quic:
    """One connection, while the capture is read."""

    __slots__ = (
        *("answer_ns", "asked_ns", "edges", "first_id", "ids", "initials", "negotiated", "retry", "rtt_ns", "short"),
        *("spin", "version"),
    )

    def __init__(self) -> None:
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
        )

    def _spins(self) -> list[int]:
        """Times from one turn of the server's spin bit to the next: each is a round trip. None where it does not spin,
        or has a random value in each packet."""
        if len(self.edges) < LEAST_EDGES or len(self.edges) * RANDOM_SHARE > self.short:
            return []
        return [after - before for before, after in zip(self.edges, self.edges[1:], strict=False)]
