"""One way through the router: a direction of the link, made from what the user wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model.errors import InputError
from model.link.fields import DEFAULT_QUEUE_PACKETS, HEADER, SMALLEST_DEFAULT_QUEUE_PACKETS, Side
from model.link.given import Given
from model.link.values import Loss, Queue
from model.units import Duration, Rate, Ratio, Size

MAX_JITTER = Duration.parse("2s")  # netem takes no more, and says nothing
MAX_HELD = Size.parse("64MB")  # what a direction may hold in its delay or its queue: the router has 512 MB in all

Distribution = Literal["normal", "uniform", "pareto", "paretonormal"]
Discipline = Literal["fifo", "fq_codel", "cake"]


@dataclass(frozen=True, slots=True)
class Direction:
    """One way through the router. Where there is no rate there is no bottleneck, and no queue."""

    delay: Duration
    rate: Rate | None
    loss: Loss
    jitter: Duration
    jitter_distribution: Distribution
    jitter_correlation: Ratio
    jitter_reorders: bool
    reorder: Ratio
    duplicate: Ratio
    queue_packets: int | None
    queue_bytes: int | None
    discipline: Discipline

    @property
    def queue(self) -> str | None:
        """The queue as a user would write it."""
        if self.queue_packets is not None:
            return f"{self.queue_packets}p"
        return None if self.queue_bytes is None else str(Size(self.queue_bytes))

    def texts(self) -> dict[str, str | None]:
        """Each setting as a user would write it; None where it means nothing."""
        return {
            "delay": str(self.delay),
            "rate": str(self.rate or "unlimited"),
            "loss": str(self.loss),
            "jitter": str(self.jitter),
            "jitter_distribution": self.jitter_distribution if self.jitter else None,
            "jitter_correlation": str(self.jitter_correlation) if self.jitter else None,
            "jitter_reorders": str(self.jitter_reorders).lower() if self.jitter else None,
            "reorder": str(self.reorder),
            "duplicate": str(self.duplicate),
            "queue": self.queue,
            "discipline": self.discipline if self.rate else None,
        }


def read_direction(given: Given, side: Side, delay: Duration, rtt: Duration, mtu: int) -> Direction:
    jitter, reorder, rate = given.value("jitter", side), given.value("reorder", side), given.value("rate", side)
    if jitter > delay:
        what = f"a jitter of {jitter} is more than the delay {side} of {delay}: packets cannot arrive before they left"
        remedy = f"Write a jitter_{side} of {delay} or less, or a longer delay_{side} or rtt"
        if not delay:
            remedy = f"Set rtt or delay_{side} too"
        raise InputError(what, remedy, key=given.key("jitter", side))
    if jitter > MAX_JITTER:
        what = f"a jitter of {jitter} is more than {MAX_JITTER}"
        raise InputError(what, f"Write {MAX_JITTER} or less", key=given.key("jitter", side))
    if reorder and not delay:
        what = f"packets cannot overtake {side}, where there is no delay to skip"
        raise InputError(what, f"Set rtt or delay_{side} too", key=given.key("reorder", side))
    if rate and rate.carries(delay) > MAX_HELD:
        what = f"{rate} over a delay of {delay} is {rate.carries(delay)} on its way, more than {MAX_HELD} in the router"
        raise InputError(what, "Write a lower rate or a shorter delay", key=given.key("rate", side))
    packets, held = _queue(given, side, rtt, mtu)
    return Direction(
        delay=delay,
        rate=rate,
        loss=given.value("loss", side),
        jitter=jitter,
        jitter_distribution=given.value("jitter_distribution", side),
        jitter_correlation=given.value("jitter_correlation", side),
        jitter_reorders=given.value("jitter_reorders", side),
        reorder=reorder,
        duplicate=given.value("duplicate", side),
        queue_packets=packets,
        queue_bytes=held,
        discipline=given.value("discipline", side),
    )


def _queue(given: Given, side: Side, rtt: Duration, mtu: int) -> tuple[int | None, int | None]:
    """The queue in packets or in bytes, neither where there is no rate."""
    rate: Rate | None = given.value("rate", side)
    asked: Queue | None = given.value("queue", side)
    frame, key = mtu + HEADER, given.key("queue", side)
    if rate is None:
        return None, None
    if asked is None:
        return _default_queue(rate, rtt, frame, key), None
    if asked.unit == "bdp" and not rtt:
        remedy = "Set rtt too, or write the queue in packets (100p), bytes (64kB) or time (50ms)"
        raise InputError("the bandwidth-delay product is zero where rtt is 0", remedy, key=key)
    packets, held = asked.resolve(rate, rtt)
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
