"""The self-test: what the link does, measured from inside the bed, against what was asked for.

plan         what traffic measures a link; pure
traffic      sends it
estimate     numbers out of what arrived; pure
round_trip   results of pings
one_way      results of trains, of one direction
attempts     measures again what is out
results      target against achieved, verdicts; pure
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from driver.bed.node import Node
from driver.selftest import attempts, one_way, plan, round_trip, traffic
from driver.selftest.results import Result, SelfTest, at_most
from driver.shaping.addresses import ADDRESSES
from model.link import Direction, Link

APART_SLACK = round_trip.APART_SLACK
FAST_BPS = 50_000_000  # above it, directions are measured one after the other


def measure(
    link: Link,
    client: Node,
    server: Node,
    lost_at_input: Callable[[], int],
    *,
    thorough: bool = False,
    apart: bool = False,
) -> SelfTest:
    """Measure everything that the link sets; a few seconds unless `thorough`. `lost_at_input`: what the router was too
    slow to take in meanwhile. `apart`: the nodes are machines with clocks of their own, so one-way times tell nothing,
    and switches and interfaces between them, so what is tolerated is wider."""
    started = time.monotonic()
    results = attempts.settled(lambda: round_trip.measure(link, client, server, apart=apart))
    ways = (("down", link.down, server, client), ("up", link.up, client, server))
    fast = any(way.rate and way.rate.bps > FAST_BPS for _, way, _, _ in ways)

    def measure_way(ends: tuple[str, Direction, Node, Node]) -> list[Result]:
        name, way, sender, receiver = ends

        def send(train: plan.Train) -> traffic.Seen:
            return traffic.send(sender, receiver, ADDRESSES[receiver.name], train, plan.linger_s(way))

        return one_way.measure(name, way, link.mtu, send, thorough=thorough, slack=APART_SLACK if apart else 1.0)

    with ThreadPoolExecutor(1 if fast else 2) as pool:
        for found in pool.map(measure_way, ways):
            results += found
    results.append(at_most("lost at input", "packets", lost_at_input(), 0))
    return SelfTest(tuple(results), time.monotonic() - started)
