"""What pings tell: the round trip and each direction's delay, how much they vary, the MTU."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from driver.bed.node import Node
from driver.bed.substrate import Traits
from driver.selftest import estimate, plan, traffic
from driver.selftest.results import Result, at_most, failed, not_measured, shown, within
from driver.shaping.addresses import ADDRESSES
from model.link import Direction, Link

RTT_TOLERANCE_MS, RTT_TOLERANCE = 0.5, 0.01
DELAY_TOLERANCE_MS = 0.4
CALM_DEVIATION_MS = 2.0  # without jitter; more than this and the machine is too busy to measure on
JITTER_TOLERANCE = 0.35
MEDIAN_ERROR = 1.2533  # of a median, times that of a mean
# tc's tables, in units of the jitter: their mean is not quite the delay, and they vary less than they say
TABLE_MEAN = {"normal": 0.0, "uniform": 0.0, "pareto": -0.0335, "paretonormal": -0.0253}
TABLE_DEVIATION = {"normal": 1.0, "uniform": 3**-0.5, "pareto": 0.8197, "paretonormal": 0.8339}


def measure(link: Link, client: Node, server: Node, traits: Traits) -> list[Result]:
    found = traffic.ping_ways(client, server, ADDRESSES["server"], plan.pings(link), link.mtu)
    target = link.rtt.milliseconds
    if len(found.ways_ms) < 2:
        return [failed("rtt", "ms", target, f"of {found.sent} packets {len(found.ways_ms)} came back")]
    ups, downs = [way[0] for way in found.ways_ms], [way[1] for way in found.ways_ms]
    slack = traits.tolerance
    tolerance = slack * max(RTT_TOLERANCE_MS, RTT_TOLERANCE * target)
    results = [
        _time("rtt", (link.down, link.up), found.round_trips_ms, tolerance),
        _deviation(link, found.round_trips_ms, slack),
    ]
    if traits.same_clock:
        tolerance = max(DELAY_TOLERANCE_MS, RTT_TOLERANCE * target / 2)
        results.append(_time("delay down", (link.down,), downs, tolerance))
        results.append(_time("delay up", (link.up,), ups, tolerance))
    else:
        why = "the nodes' clocks differ: one way cannot be told from the other"
        results += [
            not_measured(f"delay {name}", "ms", way.delay.milliseconds, why)
            for name, way in (("down", link.down), ("up", link.up))
        ]
    return [*results, _mtu(link, found.mtu or 0)]


def _time(name: str, ways: Sequence[Direction], times_ms: Sequence[float], tolerance: float) -> Result:
    """Over one direction or both, without the time on the wire. A distribution that is skewed has a median of its own,
    and that of a sum is not the sum: there the mean is compared with the mean of tc's table."""
    asked = sum(way.delay.milliseconds for way in ways)
    skipping = [way.delay.milliseconds for way in ways if way.reorder]
    used = estimate.undisturbed(times_ms, min(skipping)) if skipping else list(times_ms)
    on_wire = sum(plan.serialization_ms(way, plan.PING_FRAME) for way in ways)
    spread = _spread_ms(ways)
    skewed = any(_is_skewed(way) for way in ways)
    middle = statistics.fmean(used) if skewed else statistics.median(used)
    note = f"{'mean' if skewed else 'median'} of {len(used)}"
    if spread:
        tolerance += 3 * (1.0 if skewed else MEDIAN_ERROR) * spread / len(used) ** 0.5
    if on_wire >= 0.01:
        note += f", without the {on_wire:.2f} ms that the packets take on the wire"
    table_ms = sum(TABLE_MEAN[way.jitter_distribution] * way.jitter.milliseconds for way in ways)
    if abs(table_ms) >= 0.01:
        note += f"; the mean of tc's table is {table_ms:+.2f} ms"
    return within(name, "ms", asked, middle - on_wire - table_ms, tolerance, note)


def _deviation(link: Link, times_ms: Sequence[float], slack: float) -> Result:
    ways = (link.down, link.up)
    deviation, spread = statistics.pstdev(times_ms), _spread_ms(ways)
    if any(way.reorder for way in ways):
        return shown("rtt deviation", "ms", deviation, "packets that skip the delay make it vary")
    if any(_is_skewed(way) for way in ways):
        return shown("rtt deviation", "ms", deviation, "this distribution's tail makes it vary")
    if spread:
        allowed = JITTER_TOLERANCE * spread + slack * RTT_TOLERANCE_MS
        return within("rtt deviation", "ms", spread, deviation, allowed, "from the jitter of both directions")
    return at_most("rtt deviation", "ms", deviation, slack * CALM_DEVIATION_MS)


def _spread_ms(ways: Sequence[Direction]) -> float:
    """The standard deviation that the jitter of these directions makes."""
    parts = [TABLE_DEVIATION[way.jitter_distribution] * way.jitter.milliseconds for way in ways]
    return float(sum(part**2 for part in parts) ** 0.5)


def _is_skewed(way: Direction) -> bool:
    return bool(way.jitter) and way.jitter_distribution.startswith("pareto")


def _mtu(link: Link, passes: int) -> Result:
    if passes:
        return within("mtu", "bytes", link.mtu, passes, 0, "the longest packet that passes unbroken")
    if link.down.loss.mean_loss or link.up.loss.mean_loss:
        return not_measured("mtu", "bytes", link.mtu, "every packet of that size was lost, as any may be here")
    return failed("mtu", "bytes", link.mtu, f"no packet of {link.mtu} bytes came back")
