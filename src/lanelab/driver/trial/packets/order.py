"""Whether a segment from before the highest number seen was sent again, or only came late. Pure.

Three things tell when a packet was sent beside another one, in this order:

- Its TCP timestamp (RFC 7323): senders write the time at which they send, also when they send again.
- The identification of its IPv4 header, where the sender counts its packets with it, as Linux does.
- Without both, how soon a gap was filled: what was lost takes a round trip to come again, as the sender must first hear
  of it.

A segment that fills a gap is compared with the packet that showed the gap, which has been sent behind it: a sender that
repeats a segment does so after that packet, one that was overtaken was sent before.
"""

from enum import IntEnum
from typing import NamedTuple

from lanelab.driver.trial.packets.sequence import HALF, NUMBERS, signed

MOST_GAPS = 1000
MOST_FILLED = 256  # gaps that are remembered after they were filled
IDS, NEAR_IDS = 0xFFFF, 4096  # how far apart packets can be whose identifications are compared


class Kind(IntEnum):
    RESENT = 0
    OVERTAKEN = 1
    COPY = 2  # the network made it


class Sent(NamedTuple):
    """The time of sending that a packet tells."""

    seen_ns: int
    stamp: int | None
    ip_id: int | None  # None: the sender does not count with it
    seq: int = 0


class Gap(NamedTuple):
    start: int
    size: int
    shown: Sent  # the packet that showed it
    by: Sent | None = None  # what filled it, where that was sent again


def counts(before: int | None, after: int | None) -> bool:
    """Return whether these are identifications of a sender that counts its packets."""
    return before is not None and after is not None and 0 < (after - before) & IDS < NEAR_IDS


def sent_before(one: Sent, other: Sent) -> bool | None:
    """None: nothing tells."""
    if one.stamp is not None and other.stamp is not None and one.stamp != other.stamp:
        return (one.stamp - other.stamp) & NUMBERS >= HALF
    if counts(one.ip_id, other.ip_id):
        return True
    return False if counts(other.ip_id, one.ip_id) else None


class Order:
    """The gaps in what one side has sent."""

    __slots__ = ("filled", "open")

    def __init__(self) -> None:
        self.open: list[Gap] = []
        self.filled: list[Gap] = []

    def missing(self, start: int, count: int, shown: Sent) -> None:
        if len(self.open) < MOST_GAPS:
            self.open.append(Gap(start, count, shown))

    def judge(self, seq: int, length: int, sent: Sent, last: Sent, early_ns: int) -> tuple[Kind, bool]:
        """Return a segment below the highest number, and whether it falls into a gap. `last`: the newest packet before
        it; `early_ns`: within that time nothing that was lost can come again."""
        gaps = self._take_out(seq, length)
        if gaps:
            first = min(gaps, key=lambda gap: gap.shown.seen_ns).shown
            late = sent_before(sent, first)
            if late is None:
                late = sent.seen_ns - max(gap.shown.seen_ns for gap in gaps) < early_ns
            self._remember(gaps[0].shown, seq, length, None if late else sent)
            return Kind.OVERTAKEN if late else Kind.RESENT, True
        return self._came_before(seq, sent, last), False

    def _came_before(self, seq: int, sent: Sent, last: Sent) -> Kind:
        known = next((gap for gap in self.filled if _within(gap, seq)), None)
        if _same(sent, last):
            return Kind.COPY
        if known is not None and (late := sent_before(sent, known.shown)) is not None:
            if late:
                return Kind.COPY if known.by is None else Kind.OVERTAKEN
            return Kind.COPY if known.by is not None and sent[1:] == known.by[1:] else Kind.RESENT
        return _without_gap(sent, last)

    def _take_out(self, seq: int, length: int) -> list[Gap]:
        """The gaps into which the segment falls; what it leaves of them stays open."""
        gaps, left = [], []
        for gap in self.open:
            before = signed(seq - gap.start)  # how far into the gap the segment begins
            if before >= gap.size or before + length <= 0:
                left.append(gap)
                continue
            gaps.append(gap)
            if before > 0:
                left.append(gap._replace(size=before))
            if before + length < gap.size:
                left.append(gap._replace(start=(seq + length) & NUMBERS, size=gap.size - before - length))
        if gaps:
            self.open = left
        return gaps

    def _remember(self, shown: Sent, seq: int, length: int, by: Sent | None) -> None:
        last = self.filled[-1] if self.filled else None
        follows = last is not None and (last.start + last.size) & NUMBERS == seq
        if last is not None and follows and by is None and last.by is None and last.shown is shown:
            self.filled[-1] = last._replace(size=last.size + length)
            return
        self.filled.append(Gap(seq, length, shown, by))
        if len(self.filled) > MOST_FILLED:
            del self.filled[0]


def _within(gap: Gap, seq: int) -> bool:
    return (seq - gap.start) & NUMBERS < gap.size


def _same(one: Sent, other: Sent) -> bool:
    """Return whether nothing tells one from the other, and something could."""
    return one[1:] == other[1:] and one[1:3] != (None, None)


def _without_gap(sent: Sent, last: Sent) -> Kind:
    """A segment that had come already: the sender cannot have sent a packet again before the last one seen."""
    return Kind.COPY if sent_before(sent, last) else Kind.RESENT
