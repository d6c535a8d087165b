"""What is kept of each packet: of TCP, and of QUIC as far as it is like it."""

from dataclasses import dataclass, field
from typing import NamedTuple

from lanelab.driver.record.evidence.ends import Ends
from lanelab.driver.record.evidence.link import RoundTrip

NS_PER_US = 1000


class Seen(NamedTuple):
    """The time and the way of a frame."""

    number: int
    at_ns: int
    up: bool
    frame_bytes: int


class RoundTripNs(NamedTuple):
    """A packet from the client and its first answer."""

    took_ns: int
    up_bytes: int  # of the two frames
    down_bytes: int
    shakes: bool  # it begins a connection
    sent_ns: int
    held_ns: int = 0  # of that, how long the server held the answer back on purpose, as it says
    by_program: bool = False  # that answered, and not a kernel
    ahead_bytes: int = 0  # of frames that the client sent shortly before

    @property
    def evidence(self) -> RoundTrip:
        """Return it as records have it."""
        us, held_us = self.took_ns // NS_PER_US, self.held_ns // NS_PER_US
        return RoundTrip(us, self.up_bytes, self.down_bytes, held_us, self.by_program, self.ahead_bytes)


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
    def ends(self) -> Ends:
        return Ends(self.client[1], *self.server)

    @property
    def down(self) -> list[Packet]:
        return [packet for packet in self.packets if not packet.up]

    @property
    def up(self) -> list[Packet]:
        return [packet for packet in self.packets if packet.up]
