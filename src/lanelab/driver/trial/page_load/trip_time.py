"""How much longer a packet and its answer took than the link takes for them, and how much they may. Pure.

A host's kernel answers at once, but QUIC's answers are given by a program. It has to be woken, and to open a packet and
seal another. And it may hold an acknowledgement back on purpose, and then says for how long: that is no part of the
link's round trip. Its word is taken as far as the link lets it: where it would leave less than the link takes, it is
not right, and the whole time counts.
"""

from lanelab.driver.link import Direction, Link
from lanelab.driver.link.shaping.bottleneck import wire_bps
from lanelab.driver.record.evidence.link import RoundTrip
from lanelab.driver.trial.page_load.bound import COMPENSATION

US_PER_S, NS_PER_US, BITS = 1_000_000, 1000, 8
EARLY_US = 200  # beyond what the router's lateness is made up for
LATE_US, LATE_SHARE = 1500, 0.02  # what the quickest of all round trips may be too long
PROGRAM_US = 1000  # in which a program answers: on an idle machine the quickest of a load's answers took 0.2 to 1.4 ms
STARVED = 4.0  # times that on a machine that was starved, or that nobody watched


def wire_us(way: Direction, size: int) -> float:
    """Return how long a frame that does not wait is on the wire."""
    bps = wire_bps(way)
    return size * BITS * US_PER_S / bps if bps else 0.0


def surplus_us(link: Link, trip: RoundTrip) -> float:
    """Return how much longer it took than the link takes for these two frames."""
    return trip.us - link.rtt.ns / NS_PER_US - wire_us(link.up, trip.up_bytes) - wire_us(link.down, trip.down_bytes)


def late_us(link: Link, trip: RoundTrip) -> float:
    """Return the same without the time for which a program held the answer back (kernels do not say so), and as far as
    the packet did not wait for those that the client had sent before."""
    surplus = surplus_us(link, trip)
    prompt = surplus - (trip.held_us if trip.by_program else 0)
    late = prompt if prompt >= -early_us(link) else surplus
    return late - min(max(late, 0.0), wire_us(link.up, trip.ahead_bytes))


def over_us(link: Link, trip: RoundTrip) -> float:
    """Return how late it was beyond what a program takes to answer, where one did."""
    return late_us(link, trip) - (PROGRAM_US if trip.by_program else 0)


def early_us(link: Link) -> float:
    """Return by how much a round trip may be too short."""
    skipped = sum(way.delay.ns for way in (link.down, link.up) if way.skips_delay)
    return EARLY_US + (2 * COMPENSATION.ns + skipped) / NS_PER_US + varies_us(link)


def usually_late_us(link: Link) -> float:
    """Return by how much the quickest of all may be too long, where the machine had time."""
    return LATE_US + LATE_SHARE * link.rtt.ns / NS_PER_US + varies_us(link)


def varies_us(link: Link) -> float:
    """Return by how much jitter may move a round trip."""
    return (link.down.extra_delay.ns + link.up.extra_delay.ns) / NS_PER_US
