"""Packets between two UDP ports, while a capture is read."""

from __future__ import annotations

from captures.frames import address, turned
from captures.quic import Quic, begins_quic
from model.evidence.packets import FlowSummary


class Udp:
    """One pair of ports. `ends` as the client sends."""

    __slots__ = ("count", "ends", "first_ns", "last_ns", "quic", "sizes")

    def __init__(self, ends: bytes, now: int) -> None:
        self.ends = ends
        self.first_ns = self.last_ns = now
        self.count = [0, 0]
        self.sizes = [0, 0]
        self.quic: Quic | None = None

    def take(self, now: int, size: int, payload: bytes, length: int, *, up: bool) -> None:
        """One datagram; `payload`: what was captured of its `length` bytes."""
        way = 0 if up else 1
        self.last_ns = now
        self.count[way] += 1
        self.sizes[way] += size
        if self.quic is None and up and begins_quic(payload, length):
            self.quic = Quic()
        if self.quic is not None:
            self.quic.take(now, payload, up=up)

    def summary(self) -> FlowSummary:
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
            quic=self.quic.summary() if self.quic is not None else None,
        )
