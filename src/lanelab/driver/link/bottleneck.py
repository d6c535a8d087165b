"""The bottleneck of a direction: how much may wait before it."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import Kind, whole_milliseconds
from lanelab.driver.base.units import LONGEST, NS_PER_S, Duration, Rate, Size
from lanelab.driver.link.kinds import HEADER
from lanelab.driver.link.link_values import WrittenLink

DEFAULT_QUEUE_PACKETS, SMALLEST_DEFAULT_QUEUE_PACKETS = 100, 4
MAX_HELD = Size.parse("64MB")  # what a direction may hold in its delay or its queue: the router has 512 MB in all

Discipline = Literal["fifo", "codel", "fq_codel", "cake", "pie", "red"]
DISCIPLINES = get_args(Discipline)
FIFO: Discipline = "fifo"
# What each discipline that manages its queue aims at, as its authors chose: the delay that may stand, and the time over
# which it looks. RFC 8289 (codel), RFC 8290 (fq_codel), RFC 8033 (pie: QDELAY_REF and T_UPDATE). cake has the interval
# as its `rtt`, and makes its target of it; red looks at the length of its queue, and takes neither.
_CODEL_TARGET, _CODEL_INTERVAL, _PIE = (Duration.parse(text) for text in ("5ms", "100ms", "15ms"))
TARGETS: Mapping[str, Duration] = {"codel": _CODEL_TARGET, "fq_codel": _CODEL_TARGET, "pie": _PIE}
INTERVALS: Mapping[str, Duration] = {
    "codel": _CODEL_INTERVAL, "fq_codel": _CODEL_INTERVAL, "cake": _CODEL_INTERVAL, "pie": _PIE
}  # fmt: skip
RED_PROBABILITY = 0.1  # the largest, by which red drops or marks: Floyd's advice
RED_LEAST_PACKETS = 12  # below this its two thresholds have no room
LEAST_TIME, LONGEST_TIME = Duration.parse("1ms"), Duration.parse("10s")


@dataclass(frozen=True, slots=True)
class Aqm:
    """The way in which a discipline manages its queue; None where the discipline has no such thing."""

    target: Duration | None
    interval: Duration | None
    ecn: bool | None  # whether it marks packets of flows that understand it, instead of dropping them

    def texts(self) -> dict[str, str | None]:
        """Return each setting as a user would write it."""
        return {
            "aqm_target": None if self.target is None else str(self.target),
            "aqm_interval": None if self.interval is None else str(self.interval),
            "queue_ecn": None if self.ecn is None else str(self.ecn).lower(),
        }


NO_AQM = Aqm(None, None, None)


def read_aqm(written: WrittenLink, side: str, discipline: str) -> Aqm:
    """The rate is there: without one there is no discipline."""
    managing = frozenset(DISCIPLINES) - {FIFO}
    for name, names in (
        ("aqm_target", frozenset(TARGETS)),
        ("aqm_interval", frozenset(INTERVALS)),
        ("queue_ecn", managing),
    ):
        key = written.key(name, side)
        if key in written.values and discipline not in names:
            others = written.value("discipline", "up" if side == "down" else "down")
            if key == name and others in names:
                continue  # one key for both directions: it is for the other one
            what = f"the discipline {discipline} has no such setting"
            raise InputError(what, f"Leave it out, or write discipline: {' or '.join(sorted(names))}", key=key)
    times = []
    for name, usual in (("aqm_target", TARGETS), ("aqm_interval", INTERVALS)):
        times.append((written.value(name, side) or usual[discipline]) if discipline in usual else None)
    ecn: bool | None = written.value("queue_ecn", side) if discipline != FIFO else None
    if discipline == "cake" and not ecn:
        what = "cake always marks packets of flows that understand it"
        raise InputError(what, "Leave queue_ecn out, or write discipline: fq_codel", key=written.key("queue_ecn", side))
    target, interval = times
    if target and interval and discipline != "pie" and target >= interval:
        what = f"a target of {target} is not below the interval of {interval}, within which it has to be reached"
        raise InputError(what, "Write a shorter target, or a longer interval", key=written.key("aqm_target", side))
    return Aqm(target, interval, ecn)


AQM_TIME = whole_milliseconds(LEAST_TIME, LONGEST_TIME, "no discipline works with {time}")


@dataclass(frozen=True, slots=True)
class Queue:
    """How much may wait before the bottleneck, as written; a Direction holds what it comes to."""

    amount: Fraction
    unit: Literal["packets", "bytes", "seconds", "bdp"]

    @classmethod
    def parse(cls, value: object, *, key: str = "") -> "Queue":
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

    def __str__(self) -> str:
        """Write packets and bytes as a link prints them."""
        if self.unit == "packets":
            return f"{int(self.amount)}p"
        if self.unit == "bytes":
            return str(Size(int(self.amount)))
        return str(Duration(int(self.amount * NS_PER_S))) if self.unit == "seconds" else f"{float(self.amount):g}bdp"

    def resolve(self, rate: Rate, rtt: Duration) -> tuple[int | None, int | None]:
        """Resolve the queue to packets or bytes: exactly one of the two."""
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
    """Return the queue in packets or in bytes, neither where there is no rate."""
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
    if written.value("discipline", side) == "red" and taken.bytes < RED_LEAST_PACKETS * frame:
        what = f"red has no room between its thresholds in a queue of {taken}"
        raise InputError(what, f"Write a queue of {RED_LEAST_PACKETS}p or more", key=key)
    return packets, held


def _default_queue(rate: Rate, rtt: Duration, frame: int, key: str) -> int:
    """Return the default queue in packets, since those are emulated most exactly."""
    in_a_second = rate.bps // (8 * frame)
    enough = max(min(DEFAULT_QUEUE_PACKETS, in_a_second), SMALLEST_DEFAULT_QUEUE_PACKETS)
    packets = max(-(-rate.carries(rtt).bytes // frame), enough)
    size = Size(packets * frame)
    if size > MAX_HELD:
        what = f"the default of 1bdp is {size} here, more than the router can hold ({MAX_HELD})"
        raise InputError(what, "Write a smaller queue, or a lower rate or rtt", key=key)
    return packets
