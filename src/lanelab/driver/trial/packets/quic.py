"""The heads of QUIC's packets (RFC 8999, 9000, 9369), as far as they are in clear."""

from enum import IntEnum
from typing import NamedTuple

LONG, FIXED = 0x80, 0x40  # bits of the first byte
NEGOTIATION = 0  # a version
VERSION_1, VERSION_2 = 0x00000001, 0x6B3343CF
DRAFTS = 0xFF000000
NAMES = {VERSION_1: "1", VERSION_2: "2"}
GREASE, GREASED = 0x0F0F0F0F, 0x0A0A0A0A  # versions that only ask for a negotiation
SMALLEST_INITIAL = 1200  # bytes of the datagram in which a client's first Initial is (RFC 9000, 14.1)
SHORTEST_ID, LONGEST_ID = 8, 20


class Kind(IntEnum):
    INITIAL, ZERO_RTT, HANDSHAKE, RETRY = 0, 1, 2, 3


class Head(NamedTuple):
    """A long header."""

    version: int
    kind: Kind | None  # None: a version negotiation
    target_id: bytes
    source_id: bytes


def read_head(payload: bytes) -> Head | None:
    """Return the long header with which a datagram begins."""
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
    """Return whether a client's datagram of that length can begin a connection."""
    head = read_head(payload)
    if head is None or length < SMALLEST_INITIAL or not SHORTEST_ID <= len(head.target_id) <= LONGEST_ID:
        return False
    known = head.version in NAMES or head.version & 0xFFFFFF00 == DRAFTS or head.version & GREASE == GREASED
    return known and head.kind in (Kind.INITIAL, Kind.ZERO_RTT)
