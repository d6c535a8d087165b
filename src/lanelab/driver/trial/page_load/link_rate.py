"""Whether frames came out of a direction as its rate lets them. Pure.

Whatever comes out of a bottleneck of rate r is at least size/r behind the frame before it. So

    (time of arrival) - (bytes so far) / r

never falls, but for packets that were late: a late one and a punctual one behind it are closer. A machine with other
work to do makes packets late by tens of milliseconds, but never all of them for long. So what is compared is the
earliest of a block of frames with that of a later block: the longer the blocks, the less may it fall.

A router that had no processor stands still, and then sends at once all that it should have sent meanwhile. That is as
fast as no link, and yet right: from before it stood still on, the rate holds. So where the machine is known to have
been starved, what came soon after a silence is not compared with what came later; what came before the silence is. A
load may be excused like that for a small share of its time.

That refuses a link that is too fast. One that is too slow shows in the time between two full frames, where they wait
for each other, and in a pace that is the same over the whole load: what waits for something else than the link comes
in bursts at the link's own rate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lanelab.driver.link import HEADER, Direction
from lanelab.driver.link.shaping.bottleneck import SHAPER_BURST, wire_bps
from lanelab.driver.record.evidence.link import Arrivals

US_PER_S, BITS = 1_000_000, 8
SCALES = (1, 2, 3, 4, 6, 8, 12)  # blocks that are taken together
SPACED = 30  # full frames
SPACING = 0.02  # relative; where times between frames spread wider than that, their most frequent one is as uncertain
QUEUED = 0.25  # of all full frames: so many at least come like that where the link is what holds a load up
PACED_SPACING = 0.25  # of BBR and QUIC, which send more slowly than the link by themselves
PACE, PACED_US = 0.07, 10_000  # how much slower than its spacing a load would have gained this much at
Silence = tuple[int, int]  # from when to when nothing came, in us
Point = tuple[int, int]  # how many bytes had come until when, in us


@dataclass(frozen=True, slots=True)
class Lateness:
    """Says by how much packets may be late."""

    one_us: float  # each by itself
    long_us: float  # of so long a time of full load
    earliest_us: float  # the earliest packet

    def after(self, busy_us: float) -> float:
        """Return the earliest packet of that time of full load."""
        return self.earliest_us + max(0.0, 1 - busy_us / self.long_us) * (self.one_us - self.earliest_us)


PUNCTUAL = Lateness(40_000, 60_000, 4_000)
STARVED = Lateness(80_000, 100_000, 12_000)  # seen with eight programs to run for each processor


@dataclass(frozen=True, slots=True)
class _Block:
    points: tuple[Point, ...]

    @property
    def size(self) -> int:
        return self.points[-1][0] - self.points[0][0]

    def earliest(self, bps: float) -> tuple[float, Point]:
        """Return the least of (time - bytes / rate), in us, and where that was."""
        return min((at - size * BITS * US_PER_S / bps, (size, at)) for size, at in self.points)

    def is_within(self, spans: Sequence[tuple[float, float]]) -> bool:
        return any(begin <= self.points[0][1] and self.points[-1][1] <= end for begin, end in spans)


def too_fast(arrivals: Arrivals, way: Direction, mtu: int, late: Lateness) -> str | None:
    """Return what came faster than the rate lets it, in words."""
    if way.rate is None:
        return None
    bps = way.rate.bps * (1 + 2 * way.copies.fraction)
    gained = excess(arrivals, bps, late, allowance_us(way, mtu))
    if gained is None:
        return None
    size, took_us, early_us = gained
    return (
        f"{size:,} bytes of frames took {took_us / 1000:.1f} ms ({size * BITS / max(took_us, 1):.4g} Mbit/s); "
        f"at {way.rate} they take {early_us / 1000:.1f} ms longer"
    )


def caught_up_us(arrivals: Arrivals, way: Direction, mtu: int) -> float | None:
    """Return for how long nothing came, where what came faster than the rate only made up for that: the silences
    without which it would be too fast, together. None: it is too fast with all of them."""
    if way.rate is None or _is_paced_faster(arrivals, way):
        return None
    bps = way.rate.bps * (1 + 2 * way.copies.fraction)
    frame_us = (mtu + HEADER) * BITS * US_PER_S / bps

    def is_excused(silences: Sequence[Silence]) -> bool:
        after = _after_silences(silences, frame_us)
        return excess(arrivals, bps, STARVED, allowance_us(way, mtu), after) is None

    needed = list(arrivals.silences)
    if not is_excused(needed):
        return None
    for each in sorted(arrivals.silences, key=lambda each: each[0] - each[1]):  # the longest first
        others = [other for other in needed if other != each]
        if is_excused(others):
            needed = others
    return sum(end - begin - frame_us for begin, end in needed)


def _is_paced_faster(arrivals: Arrivals, way: Direction) -> bool:
    """Return whether frames that waited for each other came at one pace for long, and that is faster than the rate:
    what is made up for comes at once, and then it is over."""
    if way.rate is None or arrivals.spacing is None or arrivals.spaced < SPACED or way.jitter:
        return False
    paced = BITS * 1e9 / arrivals.spacing
    return paced > way.rate.bps * (1 + PACE) and _gain_us(arrivals, paced * (1 - PACE)) >= PACED_US


def _after_silences(silences: Sequence[Silence], frame_us: float) -> list[tuple[float, float]]:
    """Return from when to when what came may be late: after each silence for as long as that was."""
    spans: list[tuple[float, float]] = []
    until = 0.0
    for begin, end in silences:
        length = end - begin - frame_us
        if length > 0:
            until = max(until, end) + length
            spans.append((end, until))
    return spans


def too_slow(arrivals: Arrivals, way: Direction, mtu: int, *, sender_paces: bool) -> str | None:
    """Say at which pace frames came that waited for each other, where that is slower than the rate. `sender_paces`: it
    may send more slowly than the link by itself."""
    if way.rate is None or arrivals.spacing is None or arrivals.spaced < SPACED or way.jitter:
        return None
    if arrivals.spaced < QUEUED * arrivals.full:
        return None
    paced = BITS * 1e9 / arrivals.spacing
    tolerated = max(PACED_SPACING if sender_paces else SPACING, arrivals.spread or 0.0)
    if paced >= (way.rate.bps if wire_bps(way) is None else wire_bps(way) or 0) * (1 - tolerated):
        return None
    nothing_faster = excess(arrivals, paced * (1 + SPACING), PUNCTUAL, allowance_us(way, mtu)) is None
    all_along = _gain_us(arrivals, paced * (1 - PACE)) >= PACED_US
    if nothing_faster and all_along:
        return f"{arrivals.spaced} full frames, one behind the other, came at {paced / 1e6:.4g} Mbit/s"
    return None


def excess(
    arrivals: Arrivals, bps: float, late: Lateness, more_us: float, after: Sequence[tuple[float, float]] = ()
) -> tuple[int, int, float] | None:
    """Return bytes, the time that they took, and by how much that is too short; None where it may be so. `after`:
    nothing that came within these times is held against what came later."""
    worst: tuple[int, int, float] | None = None
    for blocks in _scales(arrivals):
        top: tuple[float, Point, _Block] | None = None
        for block in blocks:
            earliest, (size, at) = block.earliest(bps)
            if top is not None:
                late_us, (size_before, at_before), before = top
                fell = late_us - earliest
                busy = min(before.size, block.size) * BITS * US_PER_S / bps
                if fell > late.after(busy) + more_us and (worst is None or fell > worst[2]):
                    worst = size - size_before, at - at_before, fell
            if (top is None or earliest > top[0]) and not block.is_within(after):
                top = earliest, (size, at), block
    return worst


def _gain_us(arrivals: Arrivals, bps: float) -> float:
    """Return by how much a load was faster than this rate over all of it, by blocks long enough to be punctual."""
    most = 0.0
    for blocks in _scales(arrivals):
        if blocks and min(block.size for block in blocks) * BITS * US_PER_S / bps >= PUNCTUAL.long_us / 2:
            top, _ = blocks[0].earliest(bps)
            for block in blocks:
                earliest, _ = block.earliest(bps)
                most, top = max(most, top - earliest), max(top, earliest)
    return most


def _scales(arrivals: Arrivals) -> Iterator[list[_Block]]:
    """Yield the blocks, then several of them taken together."""
    for scale in SCALES:
        grouped = [arrivals.blocks[at : at + scale] for at in range(0, len(arrivals.blocks), scale)]
        yield [_Block(tuple(point for block in group for point in block)) for group in grouped if len(group) == scale]


def allowance_us(way: Direction, mtu: int) -> float:
    """Return what the link itself may bring together."""
    extra = 2 * way.extra_delay.ns / 1000 + (way.delay.ns / 1000 if way.skips_delay else 0)
    if way.rate is not None and wire_bps(way) is None:
        extra += SHAPER_BURST.ns / 1000 + (mtu + HEADER) * BITS * US_PER_S / way.rate.bps
    return extra
