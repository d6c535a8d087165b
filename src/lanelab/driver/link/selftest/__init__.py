"""The self-test: what the link does, measured from inside the bed, against what was asked for.

plan            what traffic measures a link; pure
session         starts the programs that send it
traffic         sends it
course          sends all of it once, one behind the other
estimate        how long a packet takes, out of what arrived; pure
round_trip      results of pings; pure
one_way         results of trains, of one direction; what its impairments measure is in driver/link/impairments
distances       round trips to hosts that are not as far as all others
transfer_facts  results of TCP: the first flight, the queue that it fills; pure
effort          how much is measured
retries         measures again what is out
moving          what changes over time: a trace is played, and compared with what came
direct          all of a link without a router
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from lanelab.driver.bed.node import Node
from lanelab.driver.bed.substrate import Traits
from lanelab.driver.link import Link
from lanelab.driver.link.results import Result, SelfTest, at_most
from lanelab.driver.link.selftest import direct, distances, moving, one_way, round_trip, traffic, transfer_facts
from lanelab.driver.link.selftest.course import Course, Way
from lanelab.driver.link.selftest.effort import USUAL, Effort
from lanelab.driver.link.selftest.retries import Attempts


def measure(
    link: Link,
    client: Node,
    server: Node,
    lost_at_input: Callable[[], int],
    effort: Effort = USUAL,
    traits: Traits = Traits(),  # noqa: B008
    player: moving.Player | None = None,
) -> SelfTest:
    """Measure everything that the link sets; a second or two unless thorough. `lost_at_input`: what the router was too
    slow to take in meanwhile. A link that moves is measured while it stands still, and then while it moves."""
    if link.direct:
        return direct.measure(link, client, server, thorough=effort.thorough, brief=effort.brief)
    started = time.monotonic()
    tries = Attempts(effort.attempts, lost_at_input)
    with traffic.probes(client, server) as both:
        course = Course(link.still.usual, both, effort)
        course.run()
        if tries.spoilt():
            course.forget()
        results = _judge(course, effort, tries, traits)
        results += distances.measure(link, both, tries, traits)
        if player:
            of_test = {"thorough": effort.thorough, "brief": effort.brief}
            results += moving.measure(link, both, player, tries, traits, **of_test)
    results.append(at_most("lost at input", "packets", tries.lost, 0))
    return SelfTest(tuple(results), time.monotonic() - started)


def _judge(course: Course, effort: Effort, tries: Attempts, traits: Traits) -> list[Result]:
    """Judge what the course has seen, and measure again what is out."""
    link, pings = course.link, course.pings()
    results = tries.settled(lambda: round_trip.judge(link, next(pings), traits))
    scope = one_way.Scope(tries, thorough=effort.thorough, slack=traits.tolerance)

    def judge_way(way: Way) -> list[Result]:
        return one_way.measure(way.name, way.direction, link.mtu, partial(course.trains, way), scope)

    with ThreadPoolExecutor(course.lanes) as pool:
        for of_way in pool.map(judge_way, course.ways):
            results += of_way
    for way in () if effort.brief else course.ways:
        case = transfer_facts.Case(way.name, link, way.direction, way.host, way.tcp, traits.tolerance)
        results += _under_tcp(course, way, case, tries)
    return results


def _under_tcp(course: Course, way: Way, case: transfer_facts.Case, tries: Attempts) -> list[Result]:
    seen = course.tcp(way)
    return tries.settled(lambda: transfer_facts.judge(case, next(seen)))
