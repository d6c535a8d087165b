"""A page load time, divided into parts that add up to it. Pure; docs/reference/parts.md defines the parts.

A moment in which the bottleneck carries answers is transmission. While it is idle, the connection that ends the
idleness decides: what it did meanwhile is what the load waited for. Where that one did nothing yet, the most advanced
thing that was under way does: a loss that is being mended before an answer that has begun, that before a request that
waits, and that before TLS, TCP and DNS.
"""

import bisect
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from lanelab.driver.base.amounts import counted
from lanelab.driver.base.units import Duration
from lanelab.driver.bed.dead_addresses import is_dead
from lanelab.driver.link import HEADER, Link
from lanelab.driver.record.evidence.browser import BrowserEvidence, Request
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.evidence.parts import Part, Parts, Stretch
from lanelab.driver.trial.packets.timeline import Datagram, Stream, Timeline
from lanelab.driver.trial.parts.exchanges import MS, Exchange, clocks_apart, exchanges_of
from lanelab.driver.trial.parts.intervals import Claim, Interval, Piece, common, divide, joined
from lanelab.driver.trial.parts.quic_course import handshake_ns as quic_handshake_ns
from lanelab.driver.trial.parts.quic_course import quic_course
from lanelab.driver.trial.parts.streams import Course, Wire, course_of, handshake_ns

START_LAGS: Mapping[int, str] = {1: "start_lag_ms", 6: "start_lag_6_ms"}  # which request after the page -> its measure
TURNAROUND = "turnaround_ms"


def lags(exchanges: Sequence[Exchange], *, one_at_a_time: bool) -> dict[str, float]:
    """Return the measures of a load; those that it has. `one_at_a_time`: a connection never carries two requests at
    once, so there is an end of an answer that the next one waits for."""
    in_order = sorted(exchanges, key=lambda each: each.sent)
    page = next((each for each in in_order if not each.redirects), None)
    if page is None:
        return {}
    after = [each for each in in_order if each.sent > page.sent]
    lags_us = {name: after[which - 1].sent - page.last for which, name in START_LAGS.items() if which <= len(after)}
    turned = _turnarounds(in_order, page) if one_at_a_time else []
    if turned:
        lags_us[TURNAROUND] = round(statistics.median(turned))
    return {name: round(value / MS, 3) for name, value in lags_us.items()}


def _turnarounds(in_order: Sequence[Exchange], page: Exchange) -> list[int]:
    """Return the times from the last packet of each answer to the next request on its connection. What follows the
    page, or a redirect, is none: its answer has to be read for there to be a request."""
    by_stream: dict[int, list[Exchange]] = {}
    for each in in_order:
        if each.stream is not None:
            by_stream.setdefault(id(each.stream), []).append(each)
    turnarounds = []
    for carried in by_stream.values():
        stream = carried[0].stream
        came = [packet.at_ns for packet in stream.packets if not packet.up and packet.payload] if stream else []
        for before, each in pairwise(carried):
            at = bisect.bisect_right(came, each.sent)
            if before is not page and not before.redirects and at and came[at - 1] > before.sent:
                turnarounds.append(each.sent - came[at - 1])
    return turnarounds


class Busy(NamedTuple):
    """A time in which frames followed each other."""

    begin: int
    end: int
    new: bool  # False: they had nothing that the client did not have
    course: int  # the connection of the first of them


def busy(courses: Sequence[Course], wire: Wire, pause: int) -> list[Busy]:
    """Return when the link was busy, in order. `pause`: so long a time between two frames is no pause of the
    bottleneck."""
    frames = sorted(
        (packet.at_ns, packet.frame_bytes, number, packet.number, packet.payload > 0 and packet.at_ns > course.set_up)
        for number, course in enumerate(courses)
        for packet in course.stream.packets
        if not packet.up
    )
    result: list[Busy] = []
    free = frames[-1][0] if frames else 0
    for at, size, number, packet, answers in reversed(frames):
        end = min(at, free)
        begin = free = end - wire.frame_ns(size)
        if not answers:
            continue
        new = packet not in courses[number].again
        last = result[-1] if result else None
        if last and last.new == new and last.begin - end <= pause:
            result[-1] = Busy(begin, last.end, new, number)
        else:
            result.append(Busy(begin, end, new, number))
    return result[::-1]


# What has a moment of which several things could be said: the first of these that was under way.
OF_A_CONNECTION = (Part.RECOVERY, Part.REDUCED_WINDOW, Part.SLOW_START, Part.WAIT, Part.TLS, Part.CONNECT)
FIRST = len(OF_A_CONNECTION)  # by so many ranks the connection that ended an idleness comes before others
RANKS = (
    Part.TRANSMISSION, Part.RECOVERY, *OF_A_CONNECTION, *OF_A_CONNECTION, Part.DNS, Part.MAIN_THREAD, Part.IDLE
)  # fmt: skip
DELIVERED, AGAIN = 0, 1
RANK = {part: rank for rank, part in enumerate(RANKS) if rank > AGAIN}  # of the last place of each
TOLERANCE = 0.02  # of the load time, by which clocks may be apart
LEAST_TOLERANCE_MS = 5.0
DNS_PORT = 53
SHORTEST = MS // 4  # a stretch
EARLY = 2 * MS  # by so much a handshake may be longer than another round trip
PAUSE = MS // 5  # between two frames, in which a bottleneck without a rate still counts as busy
MAIN_THREAD = "main thread"
IN_VAIN = "to a host that does not answer"
FRAME = 1514  # bytes of a full one


@dataclass(frozen=True, slots=True)
class Loaded:
    """The page load: who saw what."""

    requests: Sequence[Request]
    evidence: PageLoadEvidence
    timeline: Timeline  # of the client
    link: Link
    main_thread: Sequence[Interval] | None = None  # when it was busy, in ns since 1970; None: nobody looked


@dataclass(frozen=True, slots=True)
class Decomposed:
    """The parts of a load, and all measures that follow from where its requests were on the link."""

    parts: Parts
    measures: Mapping[str, float]


def decompose(loaded: Loaded, *, one_at_a_time: bool = False) -> Decomposed:
    """Return the parts of this load; without stretches, and with a reason, where the clocks of its witnesses do not
    agree. `one_at_a_time`: a connection never carries two requests at once."""
    browser = loaded.evidence.browser
    if browser is None or browser.clock is None or browser.clock.first_request is None or browser.times.plt_ms is None:
        return _absent("the browser did not say when the load began")
    zero = browser.clock.first_request * 1000
    whole = _whole(browser)
    if isinstance(whole, str):
        return _absent(whole)
    loaded, in_vain = _without_dead(loaded, zero, whole[1])
    streams, untold = loaded.timeline.connections, _untold(loaded)
    if untold:
        return _absent(untold)
    server, gateway = loaded.evidence.server, loaded.evidence.gateway
    exchanges = exchanges_of(loaded.requests, zero, streams, server.requests if server else (), gateway)
    apart, most = clocks_apart(exchanges), tolerance_ms(browser.times.plt_ms)
    if exchanges and apart is None:
        return _absent("no request was found in the capture")
    if apart is not None and abs(apart) > most:
        return _absent(f"the clocks of capture and browser are {abs(apart):.1f} ms apart; up to {most:.1f} ms is right")
    pieces = divide(whole, [*_claims(loaded, exchanges), *in_vain], RANK[Part.IDLE], SHORTEST)
    parts = Parts(tuple(_stretch(piece, zero) for piece in pieces), None)
    return Decomposed(parts, {**_sums(parts), **lags(exchanges, one_at_a_time=one_at_a_time)})


def _untold(loaded: Loaded) -> str:
    """Return why the capture does not tell what connections waited for; "": it does. Where packets are lost on purpose,
    or others fill the queue, a load by QUIC waits for them, and only what its packets carry shows that."""
    if not loaded.timeline.connections:
        return "the capture has no connection"
    link = loaded.link
    loses = link.down.mean_loss or link.up.mean_loss or link.cross or link.moves
    unread = sum(each.unread for each in loaded.timeline.quic)
    if unread and loses:
        return f"the capture does not show what {counted(unread, 'packet')} of QUIC carried, so nobody knows of losses"
    return ""


def _without_dead(loaded: Loaded, zero: int, end: int) -> tuple[Loaded, list[Claim]]:
    """Return the load without connections to hosts that are not to answer, and the times in which the browser tried to
    open them for requests that it gave up: no packet was lost there. Firefox does not tell when it gave up: there it is
    until the load's `end`."""
    timeline = loaded.timeline
    dead = [stream for stream in timeline.streams if is_dead(stream.server[0])]
    if not dead:
        return loaded, []
    first = min(packet.at_ns for stream in dead for packet in stream.packets)
    given_up = [each.ended_ms for each in loaded.requests if each.status is None and each.error]
    ends = [end if at is None else zero + round(at * MS) for at in given_up]
    claims = [Claim(first, until, RANK[Part.CONNECT], IN_VAIN) for until in ends]
    alive = [stream for stream in timeline.streams if not is_dead(stream.server[0])]
    return replace(loaded, timeline=replace(timeline, streams=alive)), claims


def _absent(why: str) -> Decomposed:
    return Decomposed(Parts((), why), {})


def tolerance_ms(plt_ms: float) -> float:
    return max(plt_ms * TOLERANCE, LEAST_TOLERANCE_MS)


def _sums(parts: Parts) -> dict[str, float]:
    """Return the sum of the stretches of each part."""
    totals = {part.measure: 0.0 for part in Part}
    for stretch in parts.stretches:
        totals[stretch.part.measure] += stretch.to_ms - stretch.from_ms
    return {name: round(total, 3) for name, total in totals.items()}


def _whole(browser: BrowserEvidence) -> Interval | str:
    """Return the load time on the capture's clock; or why that cannot be told.

    Where the program that drives the browser runs on the browser's machine, both have one clock. Else its clock says
    nothing here: then what it adds before and after the browser's own times is taken as equal.
    """
    clock, times = browser.clock, browser.times
    if clock is None or clock.navigation is None or times.plt_ms is None or times.plt_navigation_ms is None:
        return "the browser did not say when the load began"
    length, added = round(times.plt_ms * MS), round((times.plt_ms - times.plt_navigation_ms) * MS)
    begin = clock.asked * 1000
    before = clock.navigation * 1000 - begin
    slack = round(LEAST_TOLERANCE_MS * MS)
    if not -slack <= before <= added + slack:
        if added / 2 / MS > tolerance_ms(times.plt_ms):
            return "the machine that drives the browser has another clock, and much of the load time is its own"
        begin = clock.navigation * 1000 - added // 2
    return begin, begin + length


def _stretch(piece: Piece, zero: int) -> Stretch:
    return Stretch(
        RANKS[piece.rank], round((piece.begin - zero) / MS, 3), round((piece.end - zero) / MS, 3), piece.detail
    )


def _claims(loaded: Loaded, exchanges: Sequence[Exchange]) -> Iterator[Claim]:
    """Yield everything that was under way. While the link was idle, the connection that ended the idleness comes
    first."""
    wires = _wires(loaded)
    by_stream = {
        id(stream): [each for each in exchanges if each.stream is stream] for stream in loaded.timeline.connections
    }
    courses = _courses(loaded, by_stream, wires)
    wire = next(iter(wires.values()))  # all have one bottleneck
    carried = busy(courses, wire, max(wire.frame_ns(loaded.link.mtu + HEADER) // 2, PAUSE))
    yield from (Claim(each.begin, each.end, DELIVERED if each.new else AGAIN) for each in carried)
    ended_by: dict[int, list[Interval]] = {}
    for before, after in zip([None, *carried], carried, strict=False):
        gap = before.end if before else 0, after.begin
        ended_by.setdefault(after.course, []).append(gap)
    for number, course in enumerate(courses):
        claims = list(_of_course(course, by_stream[id(course.stream)], _wire_of(loaded, wires, course.stream)))
        yield from claims
        gaps = ended_by.get(number, [])
        for claim in claims:
            for begin, end in common([(claim.begin, claim.end)], gaps):
                yield Claim(begin, end, claim.rank - FIRST, claim.detail)
    for each in exchanges:
        if each.stream is None:
            yield Claim(each.sent, each.first, RANK[Part.WAIT])
            yield Claim(each.first, each.last, RANK[Part.SLOW_START])
    yield from (Claim(*each, RANK[Part.DNS]) for each in _look_ups(loaded.timeline.datagrams))
    yield from (Claim(*each, RANK[Part.MAIN_THREAD], MAIN_THREAD) for each in loaded.main_thread or ())


def _courses(
    loaded: Loaded, by_stream: Mapping[int, Sequence[Exchange]], wires: Mapping[Duration, Wire]
) -> list[Course]:
    packets = loaded.evidence.packets.get("client")
    versions = {each.ends: each.tls_version for each in packets.by_connection} if packets else {}
    courses = []

    for stream in loaded.timeline.streams:
        first_ns = min((each.sent for each in by_stream[id(stream)]), default=None)
        courses.append(course_of(stream, _wire_of(loaded, wires, stream), first_ns, versions.get(stream.ends)))
    return [*courses, *(quic_course(each, _wire_of(loaded, wires, each.stream)) for each in loaded.timeline.quic)]


def _of_course(course: Course, exchanges: Sequence[Exchange], wire: Wire) -> Iterator[Claim]:
    port = course.stream.client[1]
    for missed in course.missed:
        yield Claim(missed.begin, missed.end, RANK[Part.RECOVERY], f"port {port}: {missed.how}")
    if course.tls:
        yield Claim(*course.tls, RANK[Part.TLS])
    if course.connect:
        yield Claim(*course.connect, RANK[Part.CONNECT])
    yield from _stalls(course, exchanges, wire)
    yield from (Claim(each.sent, each.first, RANK[Part.WAIT]) for each in exchanges)


def _wire_of(loaded: Loaded, wires: Mapping[Duration, Wire], stream: Stream) -> Wire:
    return wires[loaded.link.to_address(stream.server[0]).rtt]


def _wires(loaded: Loaded) -> dict[Duration, Wire]:
    """Return the link as hosts of each distance have it."""
    shakes: dict[Duration, list[int]] = {each.rtt: [] for each in loaded.link.by_distance}
    known = [(each, handshake_ns(each)) for each in loaded.timeline.streams]
    known += [(each.stream, quic_handshake_ns(each)) for each in loaded.timeline.quic]
    for stream, trip in known:
        if trip is not None:
            shakes[loaded.link.to_address(stream.server[0]).rtt].append(trip)
    rate = loaded.link.down.rate
    wires = {}
    for distance, trips in shakes.items():
        rtt = min(trips, default=distance.ns)
        wires[distance] = Wire(rate.bps if rate else None, rtt, min(max(trips, default=rtt) - rtt, rtt))
    return wires


def _stalls(course: Course, exchanges: Sequence[Exchange], wire: Wire) -> Iterator[Claim]:
    """Silences between data of answers that had begun: the server waited for acknowledgements, or was late itself. Its
    window was small since it had begun so, or since a packet had been lost before the silence."""
    reduced_ns = course.reduced_ns

    def small_window(silence: Interval) -> Claim:
        is_reduced = reduced_ns is not None and silence[0] >= reduced_ns
        return Claim(*silence, RANK[Part.REDUCED_WINDOW if is_reduced else Part.SLOW_START])

    for begin, end in joined((each.first, each.last) for each in exchanges):
        for silence, after in _silences(course, begin, end, wire):
            if course.late(after, wire):
                detail = f"port {course.stream.client[1]}: the server paused within an answer"
                yield Claim(*silence, RANK[Part.WAIT], detail)
            else:
                yield small_window(silence)
    for begin, end in _before_the_first(course, exchanges, wire):
        for silence, after in _silences(course, begin, end, wire):
            if not course.late(after, wire, since=begin):
                yield small_window(silence)


def _before_the_first(course: Course, exchanges: Sequence[Exchange], wire: Wire) -> list[Interval]:
    """When data of an answer came though the client did not know its first byte: over TLS it does when a whole record
    is there, which may take more than one flight. Data that come a round trip after the request are the answer's."""
    arrivals, intervals = course.arrivals, []
    for each in exchanges:
        at = bisect.bisect_left(arrivals, each.sent + wire.rtt - EARLY)
        if at < len(arrivals) and arrivals[at] < each.first:
            intervals.append((arrivals[at], each.first))
    return joined(intervals)


def _silences(course: Course, begin: int, end: int, wire: Wire) -> Iterator[tuple[Interval, int]]:
    """Yield the times between these moments in which no data came, and when the next did: those longer than a full
    frame takes, since within shorter ones the bottleneck was busy."""
    arrivals, least = course.arrivals, max(SHORTEST, wire.frame_ns(FRAME))
    first = max(bisect.bisect_right(arrivals, begin) - 1, 0)
    last = bisect.bisect_left(arrivals, end)
    for before, after in pairwise(arrivals[first : last + 1]):
        if after - before > least:
            yield (max(before, begin), min(after, end)), after


def _look_ups(datagrams: Sequence[Datagram]) -> list[Interval]:
    """Return the times from a question to the last answer to its port."""
    questions: dict[int, int] = {}
    answered: dict[int, int] = {}
    for each in datagrams:
        if each.server_port == DNS_PORT:
            if each.up:
                questions.setdefault(each.client_port, each.at_ns)
            else:
                answered[each.client_port] = each.at_ns
    return [(begin, answered[port]) for port, begin in questions.items() if port in answered]
