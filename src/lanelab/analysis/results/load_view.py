"""One page load as it went over the link: its requests, the connections under them, and when bytes came. Pure.

With the gateway, requests are drawn by what it noted of the link, not by what was between browser and gateway.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lanelab.analysis.results import load_clock
from lanelab.analysis.results.load_parts import Bar, Chunk, Lane, LoadFacts, LoadView, Row, Throughput
from lanelab.analysis.results.packets_over_time import busiest
from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.record.evidence.browser import OnTheLink, Request
from lanelab.driver.record.evidence.ends import Ends
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.packets.timeline import ACK, SYN, Packet, Stream, Timeline, read_timeline

CAPTURE = "client.pcapng.gz"
CHUNKS = 400  # about how many can be told apart over the width of a drawing
WINDOWS = 110
NS_OF_MS = 1_000_000
STEPS = (1, 2, 5)
EVENTS = (("first paint", "first_paint_ms"), ("DOMContentLoaded", "dcl_ms"), ("load", "plt_navigation_ms"))
PHASES = ("blocked", "dns", "connect", "ssl", "send", "wait", "receive")


def timeline_of(folder: Path, record: TrialRecord) -> Timeline | None:
    """Return the stored capture of the client; None where the trial has none."""
    page, path = record.page_load, folder / CAPTURE
    if page is None or "client" not in page.packets or not path.is_file():
        return None
    kept = {each.ends for each in page.packets["client"].by_connection}
    timeline = read_timeline(path, ADDRESSES["client"])
    return timeline if any(stream.ends in kept for stream in timeline.streams) else None


def load_view(record: TrialRecord, timeline: Timeline | None, rate: float | None) -> LoadView:
    """Return the view of a load. `rate` is that of the link down, in Mbit/s."""
    facts = LoadFacts.of(record)
    ends = load_clock.ends_of(facts)
    rows = tuple(_row(facts, request, ends.get(place)) for place, request in enumerate(facts.requests))
    later = load_clock.page_shift(facts.clock)
    events = tuple((name, facts.measures[key] + later) for name, key in EVENTS if key in facts.measures)
    shift = load_clock.request_shift(facts.clock)
    stretches = tuple(replace(each, from_ms=each.from_ms + shift, to_ms=each.to_ms + shift) for each in facts.stretches)
    view = LoadView(rows, (), None, events, stretches, any(row.request.wire for row in rows))
    if timeline is None or facts.clock is None:
        return view
    end, origin = view.end, facts.clock.asked * 1000
    lanes = [_lane(stream, origin, end, rows) for stream in timeline.streams]
    lanes = sorted((lane for lane in lanes if lane.began < end), key=lambda lane: lane.began)
    by_ends = {name: lane for lane in lanes for name in lane.ends.names}
    with_chunks = tuple(_with_chunks(row, rows, by_ends) for row in rows)
    return replace(
        view,
        rows=with_chunks,
        lanes=tuple(lanes),
        throughput=_throughput(timeline, origin, end, rate),
        packets=busiest(timeline.streams, origin, end),
    )


def _row(facts: LoadFacts, request: Request, ends: Ends | None) -> Row:
    gateway = load_clock.gateway_shift(facts)
    start = request.started_ms + load_clock.request_shift(facts.clock)
    if request.wire and gateway is not None:
        bars, sent = _wire_bars(facts, request.wire, start, gateway)
    else:
        bars, sent = _browser_bars(request, start)
    return Row(request, tuple(bar for bar in bars if bar.end > bar.start), sent, ends, ())


def _browser_bars(request: Request, start: float) -> tuple[list[Bar], float | None]:
    """Return bars as the browser timed the load, which without a gateway is what was on the link."""
    at, bars, sent = start, list[Bar](), None
    for phase in PHASES:
        took = getattr(request.timings, phase)
        if phase == "connect" and request.timings.ssl > 0:
            took -= request.timings.ssl  # HAR counts it within connect
        if phase == "wait" and took >= 0:
            sent = at
        if took > 0:
            bars.append(Bar(phase, at, at + took))
            at += took
    if not bars:
        took = 1.0 if request.ended_ms is None else max(1.0, request.ended_ms - request.started_ms)
        bars = [Bar("wait", start, start + took)]
    return bars, sent


def _wire_bars(facts: LoadFacts, wire: OnTheLink, start: float, shift: float) -> tuple[list[Bar], float | None]:
    """Return bars as the gateway sent the load over the link."""
    queued = wire.queued_ms + shift
    sent = None if wire.sent_ms is None else wire.sent_ms + shift
    if sent is None:
        return [Bar("blocked", start, max(queued, start + 1))], None
    bars, at = list[Bar](), start
    for phase, begin, end in _set_up(facts, wire, shift):
        if start < end <= sent + 1:  # it may have begun for a request before
            bars += [Bar("blocked", at, begin), Bar(phase, max(at, begin), end)]
            at = end
    bars.append(Bar("blocked", at, sent))
    first = None if wire.first_byte_ms is None else wire.first_byte_ms + shift
    last = None if wire.last_byte_ms is None else wire.last_byte_ms + shift
    answered = first if first is not None else last if last is not None else sent + 1
    bars.append(Bar("wait", sent, answered))
    if first is not None and last is not None:
        bars.append(Bar("receive", first, last))
    return bars, sent


def _set_up(facts: LoadFacts, wire: OnTheLink, shift: float) -> list[Bar]:
    """Return what the gateway did for a request that was the first on its connection."""
    log = facts.gateway
    connection = next((each for each in log.connections if each.connection == wire.connection), None) if log else None
    if log is None or connection is None or wire.reused or connection.connected_ms is None:
        return []
    look_ups = [each for each in log.dns if each.host == connection.host and each.ended_ms <= connection.began_ms + 1]
    bars = [Bar("dns", each.began_ms + shift, each.ended_ms + shift) for each in look_ups[-1:]]
    bars.append(Bar("connect", connection.began_ms + shift, connection.connected_ms + shift))
    if connection.secured_ms is not None and connection.secured_ms > connection.connected_ms:
        bars.append(Bar("ssl", connection.connected_ms + shift, connection.secured_ms + shift))
    return bars


def _lane(stream: Stream, origin: int, end: float, rows: Sequence[Row]) -> Lane:
    """Return a connection with its handshakes, its requests and its bytes."""

    def at(packet: Packet) -> float:
        return (packet.at_ns - origin) / NS_OF_MS

    carried = [row for row in rows if row.ends in stream.ends.names]
    down = [(at(packet), packet.payload) for packet in stream.down if packet.payload and at(packet) <= end]
    bars = []
    began = at(stream.packets[0])
    opened = next((at(packet) for packet in stream.down if packet.flags & (SYN | ACK) == SYN | ACK), None)
    if opened is not None and stream.packets[0].flags & SYN:
        bars.append(Bar("connect", began, min(opened, end)))
        secured = max((bar.end for row in carried for bar in row.bars if bar.phase == "ssl"), default=None)
        if secured is not None and secured > opened:
            bars.append(Bar("ssl", opened, secured))
    for row in carried:
        if row.sent is not None and row.end > row.sent:
            bars.append(Bar("wait", row.sent, row.end))
    last = min(end, at(stream.packets[-1]))
    return Lane(stream.ends, began, last, tuple(bars), chunks(down, end / CHUNKS), len(carried))


def chunks(arrivals: Iterable[tuple[float, int]], gap: float) -> tuple[Chunk, ...]:
    """Return arrivals (ms, bytes) that follow one another within this gap, together."""
    together: list[Chunk] = []
    for at, size in arrivals:
        last = together[-1] if together else None
        if last and at - last.end <= gap:
            together[-1] = Chunk(last.start, max(last.end, at), last.bytes + size)
        else:
            together.append(Chunk(at, at, size))
    return tuple(together)


def _with_chunks(row: Row, rows: Sequence[Row], lanes: Mapping[Ends, Lane]) -> Row:
    """Return the bytes that came for this request: known where no other answer could come on its connection
    meanwhile."""
    lane = lanes.get(row.ends) if row.ends else None
    if lane is None or row.sent is None:
        return row
    start, end = row.sent, row.end
    others = [other for other in rows if other is not row and other.ends == row.ends and other.sent is not None]
    if any((other.sent or 0.0) < end - 1 and other.end > start + 1 for other in others):
        return row
    carried = tuple(chunk for chunk in lane.chunks if start <= chunk.start <= end + 1)
    return Row(row.request, row.bars, row.sent, row.ends, carried)


def _throughput(timeline: Timeline, origin: int, end: float, rate: float | None) -> Throughput:
    window = round_step(end / WINDOWS)
    counts = [0] * (int(end / window) + 1)
    arrivals = [
        *((packet.at_ns, packet.frame_bytes) for stream in timeline.streams for packet in stream.down),
        *((each.at_ns, each.frame_bytes) for each in timeline.datagrams if not each.up),
    ]
    for at_ns, size in arrivals:
        place = int((at_ns - origin) / NS_OF_MS // window)
        if 0 <= place < len(counts):
            counts[place] += size
    return Throughput(window, tuple(count * 8 / window / 1000 for count in counts), rate)


def round_step(least: float) -> float:
    """Return the least of 1, 2, 5, 10, 20, … that is no less; also below 1."""
    power = 10.0 ** (len(str(int(least))) - 1) if least >= 1 else 0.1
    return next((power * one for one in STEPS if power * one >= least), power * 10)
