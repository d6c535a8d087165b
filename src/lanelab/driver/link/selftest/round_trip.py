"""What pings tell: the round trip and each direction's delay, how much they vary, the MTU. Pure."""

import statistics
from collections.abc import Sequence

from lanelab.driver.bed.substrate import Traits
from lanelab.driver.link import HEADER, Direction, Link
from lanelab.driver.link.results import Result, at_most, failed, not_measured, shown, within
from lanelab.driver.link.selftest import estimate, plan
from lanelab.driver.link.selftest.one_way import RATE_TOLERANCE
from lanelab.driver.link.selftest.traffic import Pinged

RTT_TOLERANCE_MS, RTT_TOLERANCE = 0.5, 0.01
DELAY_TOLERANCE_MS = 0.4
CALM_DEVIATION_MS = 2.0  # without jitter; more than this and the machine is too busy to measure on
MEDIAN_ERROR = 1.2533  # of a median, times that of a mean


def judge(link: Link, pinged: Pinged, traits: Traits) -> list[Result]:
    if len(pinged.ways_ms) < 2:
        return [_lost("rtt", link, pinged)]
    results = [_round_trip("rtt", link, pinged, traits), _deviation(link, pinged.round_trips_ms, traits.tolerance)]
    if traits.same_clock:
        results.append(_one_way("delay down", link, link.down, [down for _, down in pinged.ways_ms]))
        results.append(_one_way("delay up", link, link.up, [up for up, _ in pinged.ways_ms]))
    else:
        why = "the nodes' clocks differ: one way cannot be told from the other"
        results += [
            not_measured(f"delay {name}", "ms", way.delay.milliseconds, why)
            for name, way in (("down", link.down), ("up", link.up))
        ]
    return [*results, _mtu(link, pinged.mtu or 0)]


def judge_distance(link: Link, pinged: Pinged, traits: Traits) -> list[Result]:
    """Judge the way to hosts at another distance; `link` is the link to these."""
    name = f"rtt at {link.rtt}"
    if len(pinged.ways_ms) < 2:
        return [_lost(name, link, pinged)]
    results = [_round_trip(name, link, pinged, traits)]
    if traits.same_clock:
        downs = [down for _, down in pinged.ways_ms]
        results.append(_one_way(f"delay down at {link.rtt}", link, link.down, downs))
    return results


def _lost(name: str, link: Link, pinged: Pinged) -> Result:
    return failed(name, "ms", link.rtt.milliseconds, f"of {pinged.sent} packets {len(pinged.ways_ms)} came back")


def _round_trip(name: str, link: Link, pinged: Pinged, traits: Traits) -> Result:
    tolerance = traits.tolerance * max(RTT_TOLERANCE_MS, RTT_TOLERANCE * link.rtt.milliseconds)
    return _time(name, link, (link.down, link.up), pinged.round_trips_ms, tolerance)


def _one_way(name: str, link: Link, way: Direction, times_ms: Sequence[float]) -> Result:
    tolerance = max(DELAY_TOLERANCE_MS, RTT_TOLERANCE * link.rtt.milliseconds / 2)
    return _time(name, link, (way,), times_ms, tolerance)


def _time(name: str, link: Link, ways: Sequence[Direction], times_ms: Sequence[float], tolerance: float) -> Result:
    """Judge the time of packets over one direction or both, without the time on the wire. A distribution that is skewed
    has a median of its own, and that of a sum is not the sum: there the mean is compared with the mean of tc's
    table.

    On a slow link the rate has a timer of its own, which a machine that sleeps meanwhile serves late. So an error that
    is small beside a full packet's time on the wire passes, too."""
    wanted = sum(way.delay.milliseconds for way in ways)
    skipping = [way.delay.milliseconds for way in ways if way.skips_delay]
    used = estimate.undisturbed(times_ms, min(skipping)) if skipping else list(times_ms)
    on_wire = sum(plan.serialization_ms(way, plan.PING_FRAME) for way in ways)
    tolerance += RATE_TOLERANCE * sum(plan.serialization_ms(way, link.mtu + HEADER) for way in ways)
    spread = _deviation_ms(ways)
    skewed = _are_skewed(ways)
    middle = statistics.fmean(used) if skewed else statistics.median(used)
    note = f"{'mean' if skewed else 'median'} of {len(used)}"
    if spread:
        tolerance += 3 * (1.0 if skewed else MEDIAN_ERROR) * spread / len(used) ** 0.5
    if on_wire >= 0.01:
        note += f", without the {on_wire:.2f} ms that the packets take on the wire"
    table_ms = sum(each.mean_shift_ms for way in ways for each in way.impairments)
    if abs(table_ms) >= 0.01:
        note += f"; the mean of tc's table is {table_ms:+.2f} ms"
    return within(name, "ms", wanted, middle - on_wire - table_ms, tolerance, note)


def _deviation(link: Link, times_ms: Sequence[float], slack: float) -> Result:
    ways = (link.down, link.up)
    deviation = statistics.pstdev(times_ms)
    if any(way.skips_delay for way in ways):
        return shown("rtt deviation", "ms", deviation, "packets that skip the delay make it vary")
    if _deviation_ms(ways):
        return shown("rtt deviation", "ms", deviation, "from the jitter, which has lines of its own")
    return at_most("rtt deviation", "ms", deviation, slack * CALM_DEVIATION_MS)


def _deviation_ms(ways: Sequence[Direction]) -> float:
    """Return the standard deviation that these directions give to the time of a packet."""
    return float(sum(way.deviation_ms**2 for way in ways) ** 0.5)


def _are_skewed(ways: Sequence[Direction]) -> bool:
    return any(each.skewed for way in ways for each in way.impairments)


def _mtu(link: Link, passes: int) -> Result:
    if passes:
        return within("mtu", "bytes", link.mtu, passes, 0, "the longest packet that passes unbroken")
    if link.down.mean_loss or link.up.mean_loss:
        return not_measured("mtu", "bytes", link.mtu, "every packet of that size was lost, as any may be here")
    return failed("mtu", "bytes", link.mtu, f"no packet of {link.mtu} bytes came back")
