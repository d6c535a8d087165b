"""The bottleneck of a direction: how much may wait before it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from model.errors import InputError
from model.link.kinds import HEADER
from model.link.written import WrittenLink
from model.settings.kinds import Kind
from model.units import LONGEST, NS_PER_S, Duration, Rate, Size

DEFAULT_QUEUE_PACKETS, SMALLEST_DEFAULT_QUEUE_PACKETS = 100, 4
MAX_HELD = Size.parse("64MB")  # what a direction may hold in its delay or its queue: the router has 512 MB in all

Discipline = Literal["fifo", "fq_codel", "cake"]


@dataclass(frozen=True, slots=True)
class Queue:
    """How much may wait before the bottleneck, as written; a Direction holds what it comes to."""

    amount: Fraction
    unit: Literal["packets", "bytes", "seconds", "bdp"]

    @classmethod
    def parse(cls, value: object, *, key: str = "") -> Queue:
        like = "Write packets (100p), bytes (64kB), time (50ms) or a multiple of the bandwidth-delay product (1.5bdp)"
        if isinstance(value, Queue):
            return value
        text = str(value).strip()
        match = _WRITTEN.fullmatch(text) if len(text) <= LONGEST else None
        number, unit = (Fraction(match["number"]), (match["unit"] or "").lower()) if match else (Fraction(1), "bytes")
        if number == 0:
            raise InputError("a queue of zero drops every packet that has to wait", like, key=key)
        if unit in ("p", "packet", "packets"):
            if number.denominator != 1:
                raise InputError(f"{text} is not a whole number of packets", like, key=key)
            return cls(number, "packets")
        if unit == "bdp":
            return cls(number, "bdp")
        if unit in ("ns", "us", "µs", "μs", "ms", "s"):
            return cls(Fraction(Duration.parse(text, key=key).ns, NS_PER_S), "seconds")
        if not unit:
            raise InputError(f"{text} has no unit", like, key=key)
        return cls(Fraction(Size.parse(value, key=key).bytes), "bytes")

    def resolve(self, rate: Rate, rtt: Duration) -> tuple[int | None, int | None]:
        """Packets or bytes: exactly one of the two."""
        if self.unit == "packets":
            return int(self.amount), None
        factor = {
            "bytes": Fraction(1),
            "seconds": Fraction(rate.bps, 8),
            "bdp": Fraction(rate.bps * rtt.ns, 8 * NS_PER_S),
        }[self.unit]
        return None, math.ceil(self.amount * factor)


_WRITTEN = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*(?P<unit>[a-zµμ]+)?", re.IGNORECASE)
QUEUE = Kind("QUEUE", "`100p`, `64kB`, `50ms`, `1.5bdp`", lambda value, key: Queue.parse(value, key=key))


def read_queue(written: WrittenLink, side: str, rtt: Duration, mtu: int) -> tuple[int | None, int | None]:
    """The queue in packets or in bytes, neither where there is no rate."""
    rate: Rate | None = written.value("rate", side)
    queue: Queue | None = written.value("queue", side)
    frame, key = mtu + HEADER, written.key("queue", side)
    if rate is None:
        return None, None
    if queue is None:
        return _default_queue(rate, rtt, frame, key), None
    if queue.unit == "bdp" and not rtt:
        remedy = "Set rtt too, or write the queue in packets (100p), bytes (64kB) or time (50ms)"
        raise InputError("the bandwidth-delay product is zero where rtt is 0", remedy, key=key)
    packets, held = queue.resolve(rate, rtt)
    taken = Size((packets or 0) * frame + (held or 0))
    if taken.bytes < frame:
        what = f"a queue of {taken} does not hold one full-size packet of {frame}B"
        raise InputError(what, "Write 1p or more", key=key)
    if taken > MAX_HELD:
        what = f"a queue of {taken} is more than the router can hold ({MAX_HELD})"
        raise InputError(what, f"Write a queue of {MAX_HELD} or less", key=key)
    return packets, held


def _default_queue(rate: Rate, rtt: Duration, frame: int, key: str) -> int:
    """In packets, since those are emulated most exactly."""
    in_a_second = rate.bps // (8 * frame)
    enough = max(min(DEFAULT_QUEUE_PACKETS, in_a_second), SMALLEST_DEFAULT_QUEUE_PACKETS)
    packets = max(-(-rate.carries(rtt).bytes // frame), enough)
    size = Size(packets * frame)
    if size > MAX_HELD:
        what = f"the default of 1bdp is {size} here, more than the router can hold ({MAX_HELD})"
        raise InputError(what, "Write a smaller queue, or a lower rate or rtt", key=key)
    return packets
