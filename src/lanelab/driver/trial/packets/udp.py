"""Packets between two UDP ports, while a capture is read."""

from dataclasses import replace

from lanelab.driver.record.evidence.packets import FlowSummary, QuicSummary
from lanelab.driver.trial.packets.frames import address, turned
from lanelab.driver.trial.packets.quic import FIXED, LONG, LONGEST_ID, begins_quic
from lanelab.driver.trial.packets.quic_connection import Quic
from lanelab.driver.trial.packets.secrets import Secrets


class Udp:
    """One pair of ports. `ends` as the client sends."""

    __slots__ = ("begin", "count", "ends", "first_ns", "last_ns", "quic", "secrets", "sizes")

    def __init__(self, ends: bytes, now: int, secrets: Secrets) -> None:
        self.secrets = secrets
        self.begin = b""  # of the client's first datagram, where that begins nothing
        self.ends = ends
        self.first_ns = self.last_ns = now
        self.count = [0, 0]
        self.sizes = [0, 0]
        self.quic: Quic | None = None

    def take(self, now: int, size: int, payload: bytes, length: int, *, up: bool) -> None:
        """Take one datagram; `payload` is what was captured of its `length` bytes."""
        way = 0 if up else 1
        self.last_ns = now
        self.count[way] += 1
        self.sizes[way] += size
        if self.quic is None and up and begins_quic(payload, length):
            self.quic = Quic(self.secrets)
        elif self.quic is None and up and not self.begin and payload and not payload[0] & LONG and payload[0] & FIXED:
            self.begin = payload[: 1 + LONGEST_ID]
        if self.quic is not None:
            self.quic.take(now, payload, up=up)

    def goes_on(self, other: "Udp") -> bool:
        """Return whether this is the other's connection from another port or address: it goes by the same id."""
        if self.quic is not None or other.quic is None or not self.begin:
            return False
        return any(each and self.begin[1:].startswith(each) for each in other.quic.session.ids[True])

    def summary(self, before: "Udp | None" = None) -> FlowSummary:
        """Return the summary of a flow. `before` is the one whose connection this goes on with."""
        quic = self.quic.summary() if self.quic is not None else None
        if before is not None and before.quic is not None:
            quic = _moved(before.quic.summary(), before)
        return FlowSummary(
            client_port=int.from_bytes(self.ends[-4:-2]),
            server=address(turned(self.ends)),
            server_port=int.from_bytes(self.ends[-2:]),
            first_us=self.first_ns // 1000,
            last_us=self.last_ns // 1000,
            packets_up=self.count[0],
            packets_down=self.count[1],
            bytes_up=self.sizes[0],
            bytes_down=self.sizes[1],
            quic=quic,
        )


def _moved(known: QuicSummary, before: Udp) -> QuicSummary:
    return replace(known, initials_up=0, initials_down=0, moved_from=int.from_bytes(before.ends[-4:-2]))
