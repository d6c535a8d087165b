"""The self-test: what the link does, measured from inside the bed, against what was asked for.

plan         what traffic measures a link; pure
traffic      sends it
estimate     how long a packet takes, out of what arrived; pure
round_trip   results of pings
one_way      results of trains, of one direction; what its impairments measure is in driver/link/impairments
under_load   results of a TCP transfer: the first flight, the queue that it fills
effort       how much is measured
attempts     measures again what is out
moving       what changes over time: a trace is played, and compared with what came
direct       all of a link without a router
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.substrate import Traits
from lanelab.driver.link import Direction, Link
from lanelab.driver.link.arrivals import Arrivals
from lanelab.driver.link.results import Result, SelfTest, at_most
from lanelab.driver.link.selftest import direct, moving, one_way, plan, round_trip, traffic, transfer_facts
from lanelab.driver.link.selftest.effort import USUAL, Effort
from lanelab.driver.link.selftest.retries import Attempts

FAST_BPS = 50_000_000  # above it, directions are measured one after the other


def measure(
    link: Link,
    client: Node,
    server: Node,
    lost_at_input: Callable[[], int],
    effort: Effort = USUAL,
    traits: Traits = Traits(),  # noqa: B008
    player: moving.Player | None = None,
) -> SelfTest:
    """Measure everything that the link sets; a few seconds unless thorough. `lost_at_input`: what the router was too
    slow to take in meanwhile. A link that moves is measured while it stands still, and then while it moves."""
    if link.direct:
        return direct.measure(link, client, server, thorough=effort.thorough, brief=effort.brief)
    moves, link = link, link.still
    started = time.monotonic()
    tries = Attempts(effort.attempts, lost_at_input)
    results = tries.settled(lambda: round_trip.measure(link, client, server, traits))
    ways = (("down", link.down, server, client), ("up", link.up, client, server))
    fast = any(way.rate and way.rate.bps > FAST_BPS for _, way, _, _ in ways)

    def measure_way(ends: tuple[str, Direction, Node, Node]) -> list[Result]:
        name, way, sender, receiver = ends

        def send(train: plan.Train) -> Arrivals:
            return traffic.send(sender, receiver, ADDRESSES[receiver.name], train, plan.linger_s(way))

        scope = one_way.Scope(tries, thorough=effort.thorough, slack=traits.tolerance)
        return one_way.measure(name, way, link.mtu, send, scope)

    with ThreadPoolExecutor(1 if fast else 2) as pool:
        for of_way in pool.map(measure_way, ways):
            results += of_way
    if not effort.brief:  # one way after the other: the acknowledgements of one would queue behind the other
        fills = plan.fills(link, thorough=effort.thorough)
        for (name, way, sender, receiver), fill in zip(ways, fills, strict=True):
            case = transfer_facts.Case(name, link, way, getattr(link, sender.name), fill, traits.tolerance)
            results += tries.settled(partial(_under_load, case, sender, receiver))
    if player:
        of_test = {"thorough": effort.thorough, "brief": effort.brief}
        results += moving.measure(moves, (client, server), player, tries, traits, **of_test)
    results.append(at_most("lost at input", "packets", tries.lost, 0))
    return SelfTest(tuple(results), time.monotonic() - started)


def _under_load(case: transfer_facts.Case, sender: Node, receiver: Node) -> list[Result]:
    seen = traffic.fill(sender, receiver, ADDRESSES[receiver.name], case.fill.seconds, case.link.rtt.seconds)
    time.sleep(case.drains_s)  # what it left in the queue would delay the next
    return transfer_facts.judge(case, seen)
