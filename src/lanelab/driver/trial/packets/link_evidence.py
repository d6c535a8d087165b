"""What captures tell of the link that they were made on. Pure.

The client's capture has the times at which packets for it came out of the link, and those at which its own went in. A
server's capture adds when those came out. Nothing here compares anything with what was asked for: judges do.
"""

import itertools
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lanelab.driver.link import Link
from lanelab.driver.record.evidence.link import Arrivals, LinkEvidence, Losses, RoundTrip, Windows
from lanelab.driver.trial.packets.crossing import crossing
from lanelab.driver.trial.packets.emulation import beyond_by_server, queue_drops
from lanelab.driver.trial.packets.losses import losses_down, losses_up
from lanelab.driver.trial.packets.packet_fields import RoundTripNs
from lanelab.driver.trial.packets.quic_timeline import round_trips
from lanelab.driver.trial.packets.sequence import HALF, NUMBERS, signed
from lanelab.driver.trial.packets.timeline import ACK, FIN, SYN, Packet, Stream, Timeline

BLOCKS, SMALLEST_BLOCK = 24, 8  # how many parts of all arrivals, and of how many frames at least
SMALL_FRAME, LARGE_FRAME = 150, 500  # bytes: acknowledgements and handshakes; requests
SHORTLY_NS = 5_000_000  # a client's flights are as short
FULL_FRAME = 0.9  # of the largest
LIKE = 1.15  # times between frames up to this much apart are alike
FEWEST_ALIKE = 20
LEAST_SPACING = 1.0  # ns for each byte: that of 8 Gbit/s. What comes closer comes at once
SILENCE_US, MOST_SILENCES = 10_000, 200
AT_MOST = 200  # packets of a connection by which its first window is judged
LEAST_RTT_NS = 2_000_000  # below it a program's pauses are as long as a round trip: they look like a window's end
PAUSE_FRAMES = 3  # so many times as long as the usual time between two packets is a pause
SYNS = 2  # of a connection whose beginning was said once: the client's, and its answer
EARLY, LATE, LATE_NS = 0.9, 1.1, 4_000_000  # of a round trip: when the answer to an acknowledgement may come
QUICKER_NS = 1_000_000  # a trip may be quicker by so much than those that are known: a connection begins on cold caches


def link_evidence(client: Timeline, server: Timeline | None, link: Link) -> LinkEvidence:
    """Read the evidence of a link. `server` is its capture, where there is one by the same clock. The link says how
    long its queue is, and whether it puts packets out of order."""
    by_address = trips_by_address(client)
    trips = [trip for each in by_address.values() for trip in each]
    rtts = Rtts.of(by_address, link)
    everything = [packet for stream in client.streams for packet in stream.packets]
    both = [*everything, *(packet for each in client.quic for packet in each.stream.packets)]
    syns = [packet for packet in everything if packet.flags & SYN and packet.mss is not None]
    return LinkEvidence(
        round_trips=_quickest(_behind(trips, frames_of(client, up=True))),
        down=_arrivals(client, link, up=False),
        up=_arrivals(server, link, up=True) if server else None,
        window_down=_windows(client.streams, rtts, up=False),
        window_up=_windows(client.streams, rtts, up=True),
        mss_down=_named(syns, up=False),
        mss_up=_named(syns, up=True),
        largest_down=max((packet.frame_bytes for packet in both if not packet.up), default=0),
        largest_up=max((packet.frame_bytes for packet in both if packet.up), default=0),
        losses_down=_exactly(server, client, link, up=False) or losses_down(client, link, rtts.of_stream),
        losses_up=_exactly(client, server, link, up=True) or losses_up(client, link),
    )


def _exactly(sender: Timeline | None, receiver: Timeline | None, link: Link, *, up: bool) -> Losses | None:
    """Count losses by both ends, where both were captured, with enough of each packet to know it again."""
    if sender is None or receiver is None:
        return None
    crossed = crossing(sender, receiver, up=up)
    if crossed is None:
        return None
    return queue_drops(crossed, link, up=up)


def _named(syns: Sequence[Packet], *, up: bool) -> tuple[int, ...]:
    return tuple(sorted({packet.mss for packet in syns if packet.up == up and packet.mss is not None}))


# --- round trips


def trips_by_address(client: Timeline) -> dict[str, list[RoundTripNs]]:
    """Return the round trips to each address of the server; none of them of a packet that was sent twice."""
    trips: dict[str, list[RoundTripNs]] = {}
    for stream in client.streams:
        trips.setdefault(stream.server[0], []).extend(_round_trips(stream))
    for each in client.quic:
        trips.setdefault(each.stream.server[0], []).extend(round_trips(each))
    return trips


@dataclass(frozen=True, slots=True)
class Rtts:
    """The quickest round trip to hosts of each distance, and what the link should have."""

    link: Link
    quickest: Mapping[int, int]  # by what the link should have, in ns

    @classmethod
    def of(cls, by_address: Mapping[str, Sequence[RoundTripNs]], link: Link) -> "Rtts":
        quickest: dict[int, int] = {}
        for address, trips in by_address.items():
            wanted = link.to_address(address).rtt.ns
            for trip in trips:
                quickest[wanted] = min(trip.took_ns, quickest.get(wanted, trip.took_ns))
        return cls(link, quickest)

    def of_stream(self, stream: Stream) -> int:
        """Return the quickest round trip to hosts as far as the stream's; 0: there is none."""
        return self.quickest.get(self.wanted(stream), 0)

    def wanted(self, stream: Stream) -> int:
        return self.link.to_address(stream.server[0]).rtt.ns


def _round_trips(stream: Stream) -> Iterator[RoundTripNs]:
    """Yield those of packets that were sent once."""
    waiting: dict[int, Packet] = {}  # by the number that acknowledges it
    sent: set[int] = set()
    for packet in stream.packets:
        length = packet.payload + bool(packet.flags & SYN) + bool(packet.flags & FIN)
        if packet.up and length:
            end = (packet.seq + length) & NUMBERS
            if end in sent:
                waiting.clear()  # an answer from now on may be to either
            else:
                waiting[end] = packet
            sent.add(end)
        elif not packet.up and packet.flags & ACK:
            request = waiting.pop(packet.ack, None)
            if request is not None:
                shake = bool(request.flags & SYN)
                took = packet.at_ns - request.at_ns
                yield RoundTripNs(took, request.frame_bytes, packet.frame_bytes, shake, request.at_ns)
            waiting = {end: each for end, each in waiting.items() if (end - packet.ack) & NUMBERS < HALF}


def _behind(trips: Sequence[RoundTripNs], frames: Sequence[tuple[int, int]]) -> list[RoundTripNs]:
    """Return each with what the client had sent shortly before: on a slow link the packet waited for that, as the end
    of QUIC's handshake does for a datagram that is filled up to 1,200 bytes."""
    times, sizes = [at_ns for at_ns, _ in frames], [0, *itertools.accumulate(size for _, size in frames)]
    places = [(bisect_left(times, trip.sent_ns - SHORTLY_NS), bisect_left(times, trip.sent_ns)) for trip in trips]
    return [
        trip._replace(ahead_bytes=sizes[last] - sizes[first]) for trip, (first, last) in zip(trips, places, strict=True)
    ]


def _quickest(trips: Sequence[RoundTripNs]) -> tuple[RoundTrip, ...]:
    later = [trip for trip in trips if not trip.shakes]
    kinds = (
        [trip for trip in trips if trip.shakes],
        [trip for trip in later if trip.up_bytes < SMALL_FRAME],
        [trip for trip in later if SMALL_FRAME <= trip.up_bytes < LARGE_FRAME],
        [trip for trip in later if trip.up_bytes >= LARGE_FRAME],
    )
    best = [trip for kind in kinds if kind for trip in (min(kind), min(kind, key=_not_held_ns))]
    return tuple(trip.evidence for trip in dict.fromkeys(best))


def _not_held_ns(trip: RoundTripNs) -> int:
    return trip.took_ns - trip.held_ns


# --- arrivals


def frames_of(timeline: Timeline, *, up: bool, link: Link | None = None) -> list[tuple[int, int]]:
    """Return (ns, bytes) of all frames of a direction as they came, without copies that the link made. With a `link`
    whose hosts are not equally far: as they would have come if they were, since what paces them is before that."""
    seen: set[tuple[object, ...]] = set()
    frames = []
    servers = itertools.chain(
        (each.server[0] for each in timeline.streams), (each.server for each in timeline.datagrams)
    )
    beyond = beyond_by_server(link, servers, up=up)
    for stream in timeline.streams:
        for packet in stream.packets:
            if packet.up == up:
                key = (stream.client, packet.seq, packet.ack, packet.payload, packet.ip_id, packet.timestamp)
                if packet.ip_id == 0 or key not in seen:
                    frames.append((packet.at_ns - beyond[stream.server[0]], packet.frame_bytes))
                seen.add(key)
    frames += [(each.at_ns - beyond[each.server], each.frame_bytes) for each in timeline.datagrams if each.up == up]
    return sorted(frames)


def _arrivals(timeline: Timeline, link: Link, *, up: bool) -> Arrivals:
    frames = frames_of(timeline, up=up, link=link)
    points, total = [], 0
    for at_ns, size in frames:
        total += size
        points.append((total, (at_ns - frames[0][0]) // 1000))
    length = max(SMALLEST_BLOCK, -(-len(points) // BLOCKS))
    blocks = (points[at : at + length] for at in range(0, len(points), length))
    spacing = _spacing(frames)
    whole = tuple(_earliest(block) for block in blocks if len(block) >= SMALLEST_BLOCK)
    silences = _silences([at for _, at in points])
    return Arrivals(len(frames), whole, spacing.median, spacing.alike, silences, spacing.spread, spacing.full)


def _silences(times_us: Sequence[int]) -> tuple[tuple[int, int], ...]:
    silent = [(before, at) for before, at in itertools.pairwise(times_us) if at - before >= SILENCE_US]
    longest = sorted(silent, key=lambda each: each[0] - each[1])[:MOST_SILENCES]
    return tuple(sorted(longest))


def _earliest(points: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return those that are earliest by one rate or another: the lower edge of them all."""
    edge: list[tuple[int, int]] = []
    for size, at in points:
        while len(edge) > 1 and _is_above(edge[-2], edge[-1], (size, at)):
            edge.pop()
        edge.append((size, at))
    return tuple(edge)


def _is_above(before: tuple[int, int], middle: tuple[int, int], after: tuple[int, int]) -> bool:
    """Return whether the middle one is not below the line between the other two."""
    (b, t), (b1, t1), (b2, t2) = before, middle, after
    return (t1 - t) * (b2 - b) >= (t2 - t) * (b1 - b)


class Spacing(NamedTuple):
    """Times between full frames: the most frequent one, how many are like it, between which shares of it half of these
    are, and how many full frames there are."""

    median: float | None  # ns for each byte; None: too few are alike
    alike: int
    spread: float | None
    full: int


def _spacing(frames: Sequence[tuple[int, int]]) -> Spacing:
    """Where frames wait for each other their most frequent spacing is the rate's; what waits for something else comes
    at all sorts of times."""
    largest = max((size for _, size in frames), default=0)
    gaps = sorted(
        (at - before) / size for (before, _), (at, size) in itertools.pairwise(frames) if size >= largest * FULL_FRAME
    )
    full = len(gaps)
    gaps = [gap for gap in gaps if gap >= LEAST_SPACING]
    reach = [(bisect_right(gaps, gap * LIKE) - at, at) for at, gap in enumerate(gaps)]
    count, first = max(reach, default=(0, 0))
    if count < FEWEST_ALIKE:
        return Spacing(None, count, None, full)
    alike = gaps[first : first + count]
    median = alike[count // 2]
    spread = (alike[3 * count // 4] - alike[count // 4]) / median
    return Spacing(round(median, 3), count, round(spread, 4), full)


# --- initial windows


def _windows(streams: Sequence[Stream], rtts: Rtts, *, up: bool) -> Windows:
    """Return bounds by all connections that began in the capture. On a starved machine every round trip of a load may
    have been late, and yet the sender heard of the others in time: so what is heard of may be by the link's own."""

    def of(stream: Stream) -> tuple[int, int | None] | None:
        rtt_ns = rtts.of_stream(stream)
        hears_after = 0 if up else int(min(rtt_ns, rtts.wanted(stream)) * EARLY)
        return _window(stream, rtt_ns, hears_after, up=up)

    known = [each for each in map(of, streams) if each]
    stopped = [most for _, most in known if most is not None]
    return Windows(max((least for least, _ in known), default=0), max(stopped, default=None), len(known))


def _window(stream: Stream, rtt_ns: int, hears_after: int, *, up: bool) -> tuple[int, int | None] | None:
    """What one connection tells: its window was at least so much, and no more than that.

    A side may send its window, and then two packets for each one that it hears has arrived (slow start); so of what it
    has sent, what it had heard of counts double. At the other side's capture, it has heard of what was acknowledged a
    round trip before.
    """
    begun = next((packet.seq for packet in stream.packets if packet.up == up and packet.flags & SYN), None)
    if begun is None:
        return None
    pause_ns = max(rtt_ns // 2, PAUSE_FRAMES * _usual_gap_ns(stream, up=up))
    acks: list[tuple[int, int]] = []  # when the sender heard of how many packets
    ends: list[int] = []
    highest, least, stopped = (begun + 1) & NUMBERS, 0, None
    answer: Packet | None = None  # the other side's latest
    for place, packet in enumerate(stream.packets):
        if packet.up != up:
            if ends and _tells_of_a_gap(packet, answer):
                break  # for each packet behind it more may be sent, and its number does not count them
            answer = packet
            if packet.flags & ACK and ends:
                acks.append((packet.at_ns + hears_after, _up_to(ends, packet.ack)))
            continue
        if not packet.payload:
            continue
        end = (packet.seq + packet.payload) & NUMBERS
        if packet.seq != highest or len(ends) >= AT_MOST:
            break  # lost, out of order, or long past its beginning
        heard = max((count for at, count in acks if at <= packet.at_ns), default=0)
        stopped = stopped or (None if up else _stopped(stream.packets[:place], packet, rtt_ns, pause_ns))
        highest = end
        ends.append(end)
        least = max(least, len(ends) - 2 * heard)
    return (least, stopped) if ends else None


def _tells_of_a_gap(packet: Packet, before: Packet | None) -> bool:
    """Return whether the other side has something behind what it lacks: it says so, or says its number once more."""
    if packet.sacks:
        return True
    return before is not None and not packet.payload and (packet.ack, packet.window) == (before.ack, before.window)


def _up_to(ends: Sequence[int], ack: int) -> int:
    """Count the packets that this number acknowledges. Their ends are in order."""
    count = len(ends)
    while count and (ends[count - 1] - ack) & NUMBERS < HALF and ends[count - 1] != ack:
        count -= 1
    return count


def _usual_gap_ns(stream: Stream, *, up: bool) -> int:
    """Return the usual gap between packets of one side with data: most of a flight come as far apart as the rate has
    them."""
    data = (packet.at_ns for packet in stream.packets if packet.up == up and packet.payload)
    gaps = [after - before for before, after in itertools.pairwise(itertools.islice(data, AT_MOST))]
    return statistics.median_low(gaps) if gaps else 0


def _stopped(before: Sequence[Packet], packet: Packet, rtt_ns: int, pause_ns: int) -> int | None:
    """How many packets the server had sent before this one, where it is the first that had to wait for an
    acknowledgement: all before it were full, nothing was asked for in between, and it came after a pause, when the
    first acknowledgement was answered. Without a pause it may have been on its way with those before it. And where the
    connection's beginning was said again, a kernel may begin with one packet, whatever its window (RFC 5681, 3.1)."""
    data = [each for each in before if not each.up and each.payload]
    if not data or rtt_ns < LEAST_RTT_NS or packet.at_ns - data[-1].at_ns < pause_ns:
        return None
    first, full = data[0], max(each.payload for each in data)
    since = [each for each in before if each.up and each.number > first.number]
    first_ack = next((each for each in since if signed(each.ack - first.seq) > 0), None)
    requested = any(each.payload for each in since)
    again = sum(bool(each.flags & SYN) for each in before) > SYNS
    if again or first_ack is None or requested or any(each.payload != full for each in data) or packet.payload != full:
        return None
    return len(data) if _answers(packet, first_ack, rtt_ns) else None


def _answers(packet: Packet, first_ack: Packet, rtt_ns: int) -> bool:
    """Return whether the server sent this packet because it heard the first acknowledgement. Then it echoes that one's
    timestamp: of what it had sent before, and the machine kept, the echo is older, and of what its program wrote later
    it is newer. Without timestamps whatever came within a round trip may have been sent before."""
    waited, latest = packet.at_ns - first_ack.at_ns, rtt_ns * LATE + LATE_NS
    if packet.timestamp and first_ack.timestamp:
        return packet.timestamp[1] == first_ack.timestamp[0] and rtt_ns * EARLY <= waited <= latest
    return rtt_ns - min(QUICKER_NS, int(rtt_ns * (1 - EARLY))) <= waited <= latest
