"""Each packet of one direction at both ends of the link, from a capture at each. Pure.

A packet is the same at both ends where all that tells it from others agrees. Of TCP: connection, sequence numbers,
flags, IP's identification, TCP's timestamp. Of a datagram: ports, size, identification, and the beginning of what it
carries, as much of it as both captures have. (A server's of QUIC may all have the identification 0, and most have one
size. But each has a number of its own, and is encrypted with it: so no two begin alike.)

Where the same packet left several times (a SYN-ACK without a timestamp that is sent again), and came less often,
nothing but time tells which came: the last one that had left early enough.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lanelab.driver.trial.packets.timeline import BEGINNING, Timeline

LEAST_COMPARED = 40  # bytes of a datagram: behind the longest short header of QUIC (25 bytes) there are enough others
EARLY = 0.9  # of the quickest way through: no packet takes less
CUT = f"a capture has less than {LEAST_COMPARED} bytes of what datagrams carry, too few to tell one from another"


@dataclass(frozen=True, slots=True)
class Passage:
    """One packet on its way through one direction."""

    left_ns: int
    arrived_ns: int | None  # None: it never did
    size: int  # of its frame
    server: str = field(default="", compare=False)  # its address


@dataclass(frozen=True, slots=True)
class Crossing:
    """All packets of one direction in the order in which they left, and how many came that had not left."""

    passages: list[Passage]
    strange: int
    until_ns: int  # the receiver's last packet of any kind


class _Seen(NamedTuple):
    at_ns: int
    size: int
    server: str


def crossing(sender: Timeline, receiver: Timeline, *, up: bool) -> Crossing | None:
    """Copies that the link made are the same packet. None: a capture was cut so short that its datagrams look alike."""
    compared = _compared(sender, receiver)
    if compared is None:
        return None
    left, came = _by_key(sender, compared, up=up), _by_key(receiver, compared, up=up)
    once = (came[key][0].at_ns - same[0].at_ns for key, same in left.items() if len(same) == 1 and key in came)
    quickest_ns = min(once, default=0)
    passages = [
        Passage(each.at_ns, arrived, each.size, each.server)
        for key, same in left.items()
        for each, arrived in zip(same, _arrivals(same, came.get(key, ()), quickest_ns), strict=True)
    ]
    strange = sum(len(same) for key, same in came.items() if key not in left)
    last = max((seen.at_ns for up in (True, False) for _, seen in _packets(receiver, compared, up=up)), default=0)
    return Crossing(sorted(passages, key=lambda each: each.left_ns), strange, last)


def _compared(*captures: Timeline) -> int | None:
    """Return how many bytes of each datagram: what the shorter of two captures has. None: too few."""
    datagrams = (each for capture in captures for each in capture.datagrams)
    cut = (len(each.beginning) for each in datagrams if len(each.beginning) < min(each.length, BEGINNING))
    compared = min(cut, default=BEGINNING)
    return compared if compared >= LEAST_COMPARED else None


def _arrivals(left: Sequence[_Seen], came: Sequence[_Seen], quickest_ns: int) -> list[int | None]:
    """When each of these packets, which are all alike, came."""
    if len(left) == 1:
        return [came[0].at_ns if came else None]
    if len(came) >= len(left):  # with copies
        rest = iter(came)
        return [next((each.at_ns for each in rest if each.at_ns >= one.at_ns), None) for one in left]
    arrived: list[int | None] = [None] * len(left)
    end, way_ns = len(left), int(quickest_ns * EARLY)
    for number, each in reversed([*enumerate(came)]):  # so many came before it, and so left before it
        early_enough = [at for at in range(number, end) if left[at].at_ns + way_ns <= each.at_ns]
        end = early_enough[-1] if early_enough else number
        arrived[end] = each.at_ns
    return arrived


def _by_key(timeline: Timeline, compared: int, *, up: bool) -> dict[Hashable, list[_Seen]]:
    by_key: dict[Hashable, list[_Seen]] = {}
    for key, seen in _packets(timeline, compared, up=up):
        by_key.setdefault(key, []).append(seen)
    return by_key


def _packets(timeline: Timeline, compared: int, *, up: bool) -> Iterator[tuple[Hashable, _Seen]]:
    """Yield what tells a packet from all others, and what was seen of it."""
    for stream in timeline.streams:
        ends = (stream.client, stream.server)
        for each in stream.packets:
            if each.up == up:
                key = (each.seq, each.ack, each.payload, each.flags, each.ip_id, each.timestamp)
                yield (ends, key), _Seen(each.at_ns, each.frame_bytes, stream.server[0])
    for datagram in timeline.datagrams:
        if datagram.up == up:
            begins = (datagram.ip_id, datagram.frame_bytes, datagram.beginning[:compared])
            yield (datagram.ends, begins), _Seen(datagram.at_ns, datagram.frame_bytes, datagram.server)
