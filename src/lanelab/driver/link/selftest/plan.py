"""What traffic measures a link, and for how long. Pure.

Each measurement is as short as it can be and still tell: the rate from a train that keeps the bottleneck busy without
overflowing its queue; the queue from a burst that overflows it; losses from many small packets; round trips apart from
all of these. Only physics lengthens them: a full queue must drain, a rare loss needs many packets.
"""

import math
from dataclasses import dataclass, replace

from lanelab.driver.base.coded import Coded
from lanelab.driver.link import HEADER, Direction, Link
from lanelab.driver.link.impairments.jitter import Jitter
from lanelab.driver.link.shaping.bottleneck import wire_bps

PING_FRAME = 98  # of an ordinary ping
SMALL_FRAME = 60
PINGS, FEWEST_PINGS = 40, 8
PING_BUDGET_S, PING_JITTER_BUDGET_S = 0.5, 1.2
TRAIN_S = 0.3
TRAIN_PACKETS = 40
TRAIN_LONGEST_S = 2.0
FEWEST_TRAIN_PACKETS = 8
SHALLOWEST = 2  # packets
AQM_STALL_S = 0.004  # an AQM drops from a queue that stands longer
FAST_BPS = 100_000_000  # above it a sender that is kept from its processor cannot catch up: it sends more than passes
FAST_EXCESS = 1.25
STALL_S = 0.02  # a sender may be kept from its processor for so long without the bottleneck running dry
QUEUE_PATIENCE_S = 2.0
BURST_MAX_PPS = 18_000  # faster bursts overflow the router's input before its queue
BURST_FACTOR = 4
CHANCE_MAX_PPS = 12_000
FEWEST_CHANCE_PACKETS = 20
CHANCE_S, CHANCE_THOROUGH_S = 3.0, 30.0
CHANCE_EVENTS, CHANCE_THOROUGH_EVENTS = 30, 300
UNASKED_PACKETS, UNASKED_THOROUGH_PACKETS = 500, 10_000  # where nothing should happen by chance
UNASKED_S, UNASKED_THOROUGH_S = 0.4, 5.0
JITTERY_TRAIN = 150  # times the jitter: then what jitter does to a train's rate is below 1%
JITTER_S, JITTER_THOROUGH_S = 3.0, 20.0
JITTER_GAP_S, SHORTEST_GAP_S, JITTER_FEWEST = 0.002, 0.0002, 30
FILL_S, FILL_THOROUGH_S = 0.7, 30.0  # a queue that takes longer to drain is not filled by TCP
MOST_CONNECTIONS, LARGEST_FLIGHT = 300, 40  # more than that is not sent at first: a receiver takes no more
SHORT_FILL_S, SETTLE_S = 0.05, 3.0
FULL_FOR = 0.8  # of a round trip with a full queue, behind the one in which its first loss is noticed
THOROUGH_WAITS = ": --thorough waits for it"
LINGER_S = 0.05
CATCH_UP = 200
BUNCHED_S = 0.005  # a busy router may take in together what came within so long: a queue must hold that


@dataclass(frozen=True, slots=True)
class Pings(Coded):
    count: int
    gap_us: int


@dataclass(frozen=True, slots=True)
class Train:
    """Numbered packets one way: `burst` at once, then one every `gap_us`. A sender that was kept from its processor
    sends so many at once as it is late, but no more than `catch_up`. The first `lead` of them leave one every
    `lead_gap_us`."""

    count: int
    gap_us: float
    frame: int
    burst: int = 1
    catch_up: int = 1_000_000
    lead: int = 0
    lead_gap_us: float = 0.0

    @property
    def lasts_s(self) -> float:
        return self.count * self.gap_us / 1e6


def serialization_ms(way: Direction, frame: int) -> float:
    """What a packet of this size, alone, spends on being sent, bit by bit."""
    bps = wire_bps(way)
    return frame * 8000 / bps if bps else 0.0


def linger_s(way: Direction) -> float:
    """Return how long after a train's END a packet may come that it has overtaken."""
    skipped_s = way.delay.seconds if way.skips_delay else 0.0
    return LINGER_S + skipped_s + way.extra_delay.seconds


def pings(link: Link) -> Pings:
    """As many as the budget allows, never so dense that they wait for each other. Where jitter keeps packets in order,
    a packet close behind a late one is late too: there they are far apart."""
    slowest_ms = max((PING_FRAME * 8000 / way.rate.bps for way in _ways(link) if way.rate), default=0)
    jitter_ms = max(way.jitter.milliseconds for way in _ways(link))
    gap_ms = max(4.0, 2.5 * slowest_ms, 6 * jitter_ms)
    budget_s = PING_JITTER_BUDGET_S if jitter_ms else PING_BUDGET_S
    return Pings(max(FEWEST_PINGS, min(PINGS, int(budget_s * 1000 / gap_ms))), round(gap_ms * 1000))


def jitter_train(way: Direction, *, thorough: bool) -> Train:
    """Small packets at a constant pace, never closer. Where jitter keeps their order they are one jitter apart: closer
    ones would only be held up behind each other."""
    jitter = way.impairment(Jitter)
    own_s = jitter.jitter.seconds if not jitter.jitter_reorders else min(jitter.jitter.seconds, JITTER_GAP_S)
    gap_s = max(own_s, SHORTEST_GAP_S, 2.5 * SMALL_FRAME * 8 / way.rate.bps if way.rate else 0)
    packets, longest_s = jitter.packets_to_tell, JITTER_S
    if thorough:
        packets, longest_s = 4 * packets, JITTER_THOROUGH_S
    return Train(max(JITTER_FEWEST, min(packets, int(longest_s / gap_s))), gap_s * 1e6, SMALL_FRAME, catch_up=0)


@dataclass(frozen=True, slots=True)
class Fill:
    """The time for which one TCP connection sends one way."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Flights:
    """First flights of `count` connections, of `window` packets each, one every `gap_us`; broken off `hold_s` behind
    the last. And why they do not tell the queue, where they do not."""

    count: int
    window: int
    gap_us: float = 0.0
    hold_s: float = 0.0
    why_not: str = ""


def under_tcp(link: Link, *, thorough: bool) -> tuple[Flights | Fill, Flights | Fill]:
    """Return what TCP sends down and up. One connection's first flight tells the initial window; as many as overflow
    the queue, how deep it is. Where no burst is fast enough for that, slow start fills it within some round trips; an
    AQM needs a transfer until it has settled."""
    # A flight that the receiver ends must not be taken for a longer one, whose end would seem to wait in the queue.
    of_down = _under_tcp(link, link.down, link.server.first_flight(link.client), thorough=thorough)
    of_up = _under_tcp(link, link.up, link.client.first_flight(link.server), thorough=thorough)
    return of_down, of_up


def _under_tcp(link: Link, way: Direction, first_flight: int, *, thorough: bool) -> Flights | Fill:
    window = min(first_flight, LARGEST_FLIGHT)
    why_not = _why_not_under_tcp(link, way, first_flight, thorough=thorough)
    if why_not or way.rate is None:
        return Flights(1, window, why_not=why_not)
    if way.discipline != "fifo":
        return Fill(SETTLE_S)
    frame = link.mtu + HEADER
    packet_s, depth = frame * 8 / way.rate.bps, queue_packets(way, frame)
    drain_s, longest_s = depth * packet_s, FILL_THOROUGH_S if thorough else FILL_S
    if drain_s > longest_s:
        words = "" if thorough else THOROUGH_WAITS
        return Flights(1, window, why_not=f"a full queue takes {drain_s:.1f} s to drain{words}")
    burst = queue_burst(way, link.mtu, thorough=thorough)
    if isinstance(burst, Train) and burst.count <= MOST_CONNECTIONS * window:
        count = math.ceil(burst.count / window)
        return Flights(count, window, burst.gap_us * window, (count + 2) * packet_s)
    rtt_s = link.rtt.seconds
    rounds = max(0.0, math.log2(max(rtt_s / packet_s, 1) / window))
    return Fill((rounds + 1) * rtt_s + drain_s + (1 + FULL_FOR) * (rtt_s + drain_s) + SHORT_FILL_S)


def _why_not_under_tcp(link: Link, way: Direction, window: int, *, thorough: bool) -> str:
    """Return why TCP does not tell the queue. Empty: it does."""
    if way.rate is None:
        return "without a rate nothing waits"
    if link.down.mean_loss or link.up.mean_loss or link.down.skips_delay or link.up.skips_delay:
        return "losses and overtaking keep TCP from filling the queue"
    if link.down.jitter or link.up.jitter:
        return "jitter hides what the queue adds to a round trip"
    if way.discipline != "fifo":
        return "" if thorough else f"{way.discipline} takes {SETTLE_S:.0f} s to settle{THOROUGH_WAITS}"
    if queue_packets(way, link.mtu + HEADER) < window:
        return f"its queue holds less than the first {window} packets: TCP never fills it steadily"
    return ""


def _ways(link: Link) -> tuple[Direction, Direction]:
    return link.down, link.up


def rate_train(way: Direction, mtu: int) -> Train | str:
    """Half the queue at once, then exactly the rate: the bottleneck is always busy, and never overflows. (On fast links
    more than the rate: busy all the same, and overflowing.) Or why there is no train."""
    if way.rate is None:
        return "there is no rate"
    frame = mtu + HEADER
    depth = queue_packets(way, frame)
    if depth < SHALLOWEST:
        return "its queue is too short to keep it busy: any early packet is dropped"
    packet_s = frame * 8 / way.rate.bps
    cushion = min(int(STALL_S / packet_s), depth // 2)
    if way.discipline != "fifo":
        cushion = min(cushion, int(AQM_STALL_S / packet_s))
    cushion = max(1, min(cushion + 2, depth - 1))
    count = max(TRAIN_PACKETS, int(max(TRAIN_S, JITTERY_TRAIN * way.jitter.seconds) / packet_s))
    count = max(FEWEST_TRAIN_PACKETS, min(count, int(TRAIN_LONGEST_S / packet_s)))
    if is_fast(way):
        return Train(int(count * FAST_EXCESS), packet_s * 1e6 / FAST_EXCESS, frame)
    return Train(count + cushion, packet_s * 1e6, frame, cushion)


def busy_train(way: Direction, mtu: int, *, thorough: bool) -> Train | None:
    """Return one train that tells both rate and queue: the burst that overflows it, which keeps the bottleneck busy
    while it drains, and behind it packets at the rate until that was long enough. None: each needs one of its own.
    Jitter and packets that skip the delay blur what is to be told of both; an AQM and a fast link have no burst."""
    paced, burst = rate_train(way, mtu), queue_burst(way, mtu, thorough=thorough)
    if isinstance(paced, str) or isinstance(burst, str) or way.jitter or way.skips_delay or is_fast(way):
        return None
    passes = queue_packets(way, burst.frame) + int(burst.lasts_s * 1e6 / paced.gap_us)
    behind = max(0, paced.count - passes)
    return replace(paced, count=burst.count + behind, burst=1, lead=burst.count, lead_gap_us=burst.gap_us)


def trains(way: Direction, mtu: int, *, thorough: bool) -> list[Train]:
    """Return all that is sent one way, in this order."""
    busy = busy_train(way, mtu, thorough=thorough)
    of_rate = (busy,) if busy else (rate_train(way, mtu), queue_burst(way, mtu, thorough=thorough))
    of_jitter = (jitter_train(way, thorough=thorough),) if way.jitter else ()
    return [*(each for each in of_rate if isinstance(each, Train)), *of_jitter, chance_train(way, thorough=thorough)]


def is_fast(way: Direction) -> bool:
    """Return whether a train overflows the queue on purpose, so that what is lost tells nothing."""
    return way.rate is not None and way.rate.bps > FAST_BPS


def queue_packets(way: Direction, frame: int) -> int:
    """Return the queue in full-size packets."""
    return way.queue_packets or (way.queue_bytes or 0) // frame


def queue_burst(way: Direction, mtu: int, *, thorough: bool) -> Train | str:
    """Return a burst that overflows the queue, or why there is none."""
    if way.rate is None:
        return "without a rate nothing waits"
    if way.discipline != "fifo":
        return f"{way.discipline} decides for itself what waits"
    frame = mtu + HEADER
    depth = queue_packets(way, frame)
    packet_s = frame * 8 / way.rate.bps
    drain_s = depth * packet_s
    if drain_s > QUEUE_PATIENCE_S and not thorough:
        return f"a full queue takes {drain_s:.0f} s to drain: --thorough waits for it"
    pps = min(BURST_FACTOR / packet_s, BURST_MAX_PPS)
    if pps * packet_s < 1.4:
        return "the router's input takes no burst that is so fast"
    overflow_at = depth / (1 - 1 / (pps * packet_s))
    return Train(int(overflow_at * 1.3) + 20, 1e6 / pps, frame)


def chance_train(way: Direction, *, thorough: bool) -> Train:
    """Return a train of small packets at half the rate: enough of them for about 30 events of the rarest kind, within a
    few seconds; and where no impairment is asked for, enough to see that there is none."""
    pps, catch_up = float(CHANCE_MAX_PPS), CATCH_UP
    if way.rate:
        depth = queue_packets(way, SMALL_FRAME)
        pps = min(pps, way.rate.bps / (8 * SMALL_FRAME) / 2, depth / BUNCHED_S)
        catch_up = min(catch_up, depth // 2)
    unasked, unasked_s = (UNASKED_THOROUGH_PACKETS, UNASKED_THOROUGH_S) if thorough else (UNASKED_PACKETS, UNASKED_S)
    count = min(unasked, int(unasked_s * pps))
    if way.chances:
        events, longest_s = (CHANCE_THOROUGH_EVENTS, CHANCE_THOROUGH_S) if thorough else (CHANCE_EVENTS, CHANCE_S)
        needed = max(math.ceil(events * chance.bunched / chance.share) for chance in way.chances)
        fewest = min(200, int(CHANCE_S * pps))
        count = max(count, fewest, min(needed, int(longest_s * pps)))
    return Train(max(FEWEST_CHANCE_PACKETS, count), 1e6 / pps, SMALL_FRAME, catch_up=catch_up)
