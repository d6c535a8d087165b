"""What the link did to each packet, against what it should have done: from captures at client and server. Pure.

Which packet is which at both ends is found by crossing.py.
Its delay is the difference of the two times, which needs one clock. What the link should have given it is

    the time until the bottleneck has sent it and all that was before it in the queue + the delay

The bottleneck is worked out packet by packet from when they left the sender. What was lost while the queue was full is
taken to have never been in it; what was lost otherwise was lost behind it.

What did not come before a capture ended may have been on its way, so nobody knows what became of the last packets. To
leave out those of them that did not come, and to count those that did, would make losses look rarer. So a packet tells
of losses, whether it came or not, where it would have come long before the end, or a later one of its way has come.
"""

import statistics
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lanelab.driver.base.units import NS_PER_S
from lanelab.driver.link import Direction, Link
from lanelab.driver.record.evidence.link import EmulationError, Losses, WayError
from lanelab.driver.trial.packets.crossing import CUT, Crossing, crossing
from lanelab.driver.trial.packets.timeline import Timeline

NS_PER_MS = 1e6
FULL = 0.8  # of the queue's length: from here on a lost packet may have found it full
FULL_SHAPER = 0.1  # the same of a queue in bytes, whose shaper falls far behind where the router wakes late
OVERFULL = 1.2  # and from here on one that came should not have
SMALL_FRAME = 150  # bytes: handshakes and acknowledgements, for which a rate matters little
AT_THE_END_NS = 100_000_000  # what should have come later than this before the receiver's last packet may be under way


@dataclass(slots=True)
class _Modelled:
    """What a direction's packets should have gone through, and did."""

    errors_ns: list[int]
    idle_ns: list[int]  # errors of small ones that did not have to wait
    telling: int = 0  # packets whose loss would be known
    lost: int = 0  # of these
    runs: int = 0  # of lost packets, one behind the other
    overflowed: int = 0
    passed_full: int = 0


def emulation_error(client: Timeline, server: Timeline, link: Link) -> EmulationError:
    """The two captures are of one trial, by one clock."""
    varied = any(each.jitter or each.skips_delay for each in (link.down, link.up))
    crossed_down, crossed_up = crossing(server, client, up=False), crossing(client, server, up=True)
    if crossed_down is None or crossed_up is None:
        unknown = WayError(0, 0, 0, 0, 0, None, None, None)
        return EmulationError(unknown, unknown, None, None, varied, CUT)
    down, up = _model(crossed_down, link, up=False), _model(crossed_up, link, up=True)
    both = _errors_known(link.down, down) + _errors_known(link.up, up)
    why = [_unmodelled(each) for each in (link.down, link.up) if not is_modelled(each)]
    return EmulationError(
        down=_way(crossed_down, link.down, down),
        up=_way(crossed_up, link.up, up),
        median_ms=_median(both),
        worst_99_ms=_worst(both),
        varied=varied,
        not_told="; ".join(sorted(set(why))) or None,
    )


def is_modelled(way: Direction) -> bool:
    """Return whether a queue is modelled: only what is served first in, first out."""
    return not way.moves and (way.rate is None or way.discipline == "fifo")


def _unmodelled(way: Direction) -> str:
    if way.moves:
        return "the link moves, which is not modelled packet by packet"
    return f"{way.discipline} chooses which packet is next, which is not modelled"


def beyond_ns(link: Link | None, server: str, *, up: bool) -> int:
    """Return by how much a packet of that address is longer on its way than others: it may be less, and below 0."""
    if link is None or not link.distances:
        return 0
    at = link.to_address(server)
    return (at.up.delay.ns - link.up.delay.ns) if up else (at.down.delay.ns - link.down.delay.ns)


def beyond_by_server(link: Link | None, servers: Iterable[str], *, up: bool) -> dict[str, int]:
    """Return that of each of these addresses. Many packets have one, so it is worked out once."""
    return {server: beyond_ns(link, server, up=up) for server in set(servers)}


def _model(crossed: Crossing, link: Link, *, up: bool) -> _Modelled:
    model, way = _Modelled([], []), link.up if up else link.down
    beyond = beyond_by_server(link, (each.server for each in crossed.passages), up=up)
    queue, busy_until = deque[tuple[int, int]](), 0  # when each that waits will have been sent, its size; all of them
    held, arrived, passed_ns = 0, True, _passed_ns(crossed, way)
    for each in crossed.passages:
        while queue and queue[0][0] <= each.left_ns:
            held -= queue.popleft()[1]
        delay_ns = way.delay.ns + beyond[each.server]
        full = _is_full(way, len(queue), held, FULL if way.queue_packets is not None else FULL_SHAPER)
        due_ns = max(busy_until, each.left_ns) + delay_ns
        tells = each.left_ns < passed_ns.get(each.server, 0) or due_ns <= crossed.until_ns - AT_THE_END_NS
        model.telling += tells
        if each.arrived_ns is None:
            if not tells:
                continue
            model.lost, model.runs = model.lost + 1, model.runs + arrived
            arrived = False
            if full:
                model.overflowed += 1
                continue
        elif _is_full(way, len(queue), held, OVERFULL):
            model.passed_full += 1
        arrived = each.arrived_ns is not None
        waits = busy_until > each.left_ns
        busy_until = max(busy_until, each.left_ns) + (each.size * 8 * NS_PER_S // way.rate.bps if way.rate else 0)
        if way.rate:
            queue.append((busy_until, each.size))
            held += each.size
        if each.arrived_ns is not None:
            error = each.arrived_ns - busy_until - delay_ns
            model.errors_ns.append(error)
            if not waits and each.size <= SMALL_FRAME:
                model.idle_ns.append(error)
    return model


def _passed_ns(crossed: Crossing, way: Direction) -> dict[str, int]:
    """Return by the server's address when the last packet left that came. What left before it was lost or has come
    too, where packets keep their order."""
    if way.discipline != "fifo" or way.skips_delay or way.jitter_reorders:
        return {}
    return {each.server: each.left_ns for each in crossed.passages if each.arrived_ns is not None}


def queue_drops(crossed: Crossing, link: Link, *, up: bool) -> Losses:
    """Return how many packets of a direction tell, how many of them were lost, how many of these while the queue was
    full."""
    model, way = _model(crossed, link, up=up), link.up if up else link.down
    return Losses(model.telling, model.lost, model.overflowed if is_modelled(way) else model.lost)


def runs_lost(crossed: Crossing, link: Link, *, up: bool) -> int:
    """Return in how many runs packets of a direction were lost, one behind the other."""
    return _model(crossed, link, up=up).runs


def _is_full(way: Direction, packets: int, held: int, share: float) -> bool:
    """Return whether so much waits as this share of the queue, and a packet."""
    if way.queue_packets is not None:
        return packets >= way.queue_packets * share
    return way.queue_bytes is not None and held >= way.queue_bytes * share


def _errors_known(way: Direction, modelled: _Modelled) -> list[int]:
    return modelled.errors_ns if is_modelled(way) else []


def _way(crossed: Crossing, way: Direction, modelled: _Modelled) -> WayError:
    errors = _errors_known(way, modelled)
    return WayError(
        packets=len(modelled.errors_ns),
        lost=modelled.lost,
        strange=crossed.strange,
        overflowed=modelled.overflowed if is_modelled(way) else modelled.lost,
        passed_full=modelled.passed_full if is_modelled(way) else 0,
        median_ms=_median(errors),
        worst_99_ms=_worst(errors),
        idle_ms=round(min(modelled.idle_ns) / NS_PER_MS, 3) if modelled.idle_ns else None,
    )


def _median(errors_ns: Sequence[int]) -> float | None:
    return round(statistics.median(errors_ns) / NS_PER_MS, 3) if errors_ns else None


def _worst(errors_ns: Sequence[int]) -> float | None:
    """Return the distance from the right time that 99 of 100 packets stay within."""
    ordered = sorted(map(abs, errors_ns))
    return round(ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)] / NS_PER_MS, 3) if ordered else None
