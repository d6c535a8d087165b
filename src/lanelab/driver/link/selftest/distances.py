"""What pings tell of each distance: hosts that are not as far away as all others."""

from concurrent.futures import ThreadPoolExecutor

from lanelab.driver.bed.addresses import distance_network
from lanelab.driver.bed.substrate import Traits
from lanelab.driver.link import Link
from lanelab.driver.link.results import Result
from lanelab.driver.link.selftest import plan, round_trip
from lanelab.driver.link.selftest.plan import Pings
from lanelab.driver.link.selftest.retries import Attempts
from lanelab.driver.link.selftest.traffic import PingsUnderWay, Probes

AT_ONCE = 8  # distances whose pings take turns, so that none waits behind another


def measure(link: Link, both: Probes, tries: Attempts, traits: Traits) -> list[Result]:
    """Return the round trip and the delay down of each distance, by the first address that has it. What is out is
    measured again while others are measured."""
    together = min(AT_ONCE, len(link.far))

    def judge(number: int) -> list[Result]:
        at = link.at(link.far[number])
        return tries.settled(lambda: round_trip.judge_distance(at, _ping(number, at, both, together).result(), traits))

    with ThreadPoolExecutor(max(1, together)) as pool:
        return [result for of_distance in pool.map(judge, range(len(link.far))) for result in of_distance]


def _ping(number: int, at: Link, both: Probes, together: int) -> PingsUnderWay:
    usual = plan.pings(at)
    pings = Pings(max(plan.FEWEST_PINGS, usual.count // 2), usual.gap_us * together)
    return PingsUnderWay(both, str(distance_network(number)[1]), pings)
