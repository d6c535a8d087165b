"""What pings tell of each distance: hosts that are not as far away as all others."""

from collections.abc import Iterator
from functools import partial
from itertools import repeat

from lanelab.driver.bed.addresses import distance_network
from lanelab.driver.bed.substrate import Traits
from lanelab.driver.link import Link
from lanelab.driver.link.results import Result
from lanelab.driver.link.selftest import plan, round_trip
from lanelab.driver.link.selftest.plan import Pings
from lanelab.driver.link.selftest.retries import Attempts
from lanelab.driver.link.selftest.traffic import Ends, Pinged, PingsUnderWay

AT_ONCE = 8  # distances whose pings take turns, so that none waits behind another


def measure(link: Link, both: Ends, tries: Attempts, traits: Traits) -> list[Result]:
    """Return the round trip and the delay down of each distance, by the first address that has it."""
    results: list[Result] = []
    for first in range(0, len(link.far), AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, len(link.far)))
        links = {number: link.at(link.far[number]) for number in numbers}
        under_way = [(number, _begin(number, links[number], both, len(numbers))) for number in numbers]
        pinged = {number: pings.result() for number, pings in under_way}
        for number, at in links.items():
            seen = _again(pinged[number], number, at, both)
            results += tries.settled(partial(_judge, at, seen, traits))
    return results


def _judge(at: Link, seen: Iterator[Pinged], traits: Traits) -> list[Result]:
    return round_trip.judge_distance(at, next(seen), traits)


def _begin(number: int, at: Link, both: Ends, together: int) -> PingsUnderWay:
    usual = plan.pings(at)
    pings = Pings(max(plan.FEWEST_PINGS, usual.count // 2), usual.gap_us * together)
    return PingsUnderWay(both, str(distance_network(number)[1]), pings)


def _again(first: Pinged, number: int, at: Link, both: Ends) -> Iterator[Pinged]:
    yield first
    for _ in repeat(None):
        yield _begin(number, at, both, 1).result()
