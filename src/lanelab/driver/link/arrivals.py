"""What arrived of a train of numbered packets. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

Packet = tuple[int, int, int]  # number, sent, arrived; times in ns


@dataclass(frozen=True, slots=True)
class Arrivals:
    """A train as its receiver saw it. The clocks of sender and receiver may differ by a constant."""

    sent: int
    packets: tuple[Packet, ...]
    dropped_here: int  # by the receiver, not by the link
    took_s: float = 0.0  # to send them
    gap_s: float = 0.0  # between two packets

    @property
    def once(self) -> list[Packet]:
        """Each packet's first arrival."""
        first: dict[int, Packet] = {}
        for packet in self.packets:
            first.setdefault(packet[0], packet)
        return list(first.values())

    @property
    def lost(self) -> int:
        """Return how many the link lost."""
        return max(0, self.sent - len(self.once) - self.dropped_here)


class Losses(NamedTuple):
    """Counts how packets were lost, one behind the other."""

    lost: int
    runs: int
    longest: int


def losses(trains: Sequence[Arrivals]) -> Losses:
    """What is missing of these trains, run by run. The next train goes on where the one before ended."""
    lengths: list[int] = []
    for train in trains:
        last = -1
        for number in [*sorted({packet[0] for packet in train.packets}), train.sent]:
            if number > last + 1:
                lengths.append(number - last - 1)
            last = number
    return Losses(sum(lengths), len(lengths), max(lengths, default=0))


def overtaking(packets: Sequence[Packet]) -> int:
    """Return how many packets arrived before one that was sent earlier."""
    return len(packets) - len(in_order(packets))


def in_order(packets: Sequence[Packet]) -> list[Packet]:
    """Return the packets by arrival, without those that arrived before one that was sent earlier."""
    ordered: list[Packet] = []
    lowest_later = float("inf")
    for packet in sorted(packets, key=lambda packet: (packet[2], packet[0]), reverse=True):
        if packet[0] < lowest_later:
            ordered.append(packet)
            lowest_later = packet[0]
    return ordered[::-1]
