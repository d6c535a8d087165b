"""What is kept of each packet: of TCP, and of QUIC as far as it is like it."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Seen(NamedTuple):
    """The time and the way of a frame."""

    number: int
    at_ns: int
    up: bool
    frame_bytes: int


class Packet(NamedTuple):
    """One TCP packet. Sequence numbers are raw, modulo 2^32."""

    number: int  # in the capture, from 1, as other tools number frames
    at_ns: int  # since 1970
    up: bool  # from the client
    frame_bytes: int  # of the whole frame, on the wire
    seq: int
    ack: int
    payload: int  # bytes
    flags: int
    window: int  # as written, not scaled
    ip_id: int  # -1 in IPv6, which has none
    timestamp: tuple[int, int] | None  # TCP's own: value, echo
    mss: int | None  # of a SYN
    sacks: bool  # whether it tells of what came out of order
    block: tuple[int, int] | None = None  # the first that it tells of


@dataclass(slots=True)
class Stream:
    """One TCP connection with its packets in the order of the capture."""

    client: tuple[str, int]
    server: tuple[str, int]
    packets: list[Packet] = field(default_factory=list)

    @property
    def down(self) -> list[Packet]:
        return [packet for packet in self.packets if not packet.up]

    @property
    def up(self) -> list[Packet]:
        return [packet for packet in self.packets if packet.up]
