"""One pass over a link, in which everything that measures it is sent once. What is on its way is not waited for where
it cannot be in the way of what comes next: a link is a pipe."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.link import HEADER, Direction, Host, Link
from lanelab.driver.link.arrivals import Arrivals
from lanelab.driver.link.selftest import plan
from lanelab.driver.link.selftest.effort import Effort
from lanelab.driver.link.selftest.plan import Fill, Flights, Train
from lanelab.driver.link.selftest.traffic import (
    Filled,
    FlightsUnderWay,
    Flown,
    Path,
    Pinged,
    PingsUnderWay,
    Probes,
    TrainUnderWay,
    fill,
    send,
)

FAST_BPS = 50_000_000  # above it, directions are measured one after the other
DRAINED_S, DRAINED = 0.002, 1.05  # of what a queue takes to drain


class Way(NamedTuple):
    """One direction of a link that is measured."""

    name: str
    direction: Direction
    host: Host  # that sends
    path: Path
    tcp: Flights | Fill


class Course:
    """Sends what measures the link, and keeps what came of the first pass until it has been judged."""

    def __init__(self, link: Link, both: Probes, effort: Effort) -> None:
        self.link, self._both, self._effort = link, both, effort
        down, up = plan.under_tcp(link, thorough=effort.thorough)
        self.ways = (
            Way("down", link.down, link.server, both.of("down"), down),
            Way("up", link.up, link.client, both.of("up"), up),
        )
        self._pinged: list[Pinged] = []
        self._flown: dict[str, Flown | Filled] = {}
        self._arrived: dict[tuple[str, Train], Arrivals] = {}

    @property
    def lanes(self) -> int:
        """Return how many directions are measured at a time."""
        fast = any(way.direction.rate and way.direction.rate.bps > FAST_BPS for way in self.ways)
        return 1 if fast else 2

    def run(self) -> None:
        pings = self._begin_pings()
        # Connections are made while the last pings are on their way, and sent on when nothing else is.
        flights = {} if self._effort.brief else self._connect()
        self._pinged = [pings.result()]
        for each in flights.values():
            each.connected()
        if not self._effort.brief:
            self._fly(flights)
        with ThreadPoolExecutor(self.lanes) as pool:
            for arrived in pool.map(self._send_trains, self.ways):
                self._arrived |= arrived

    def forget(self) -> None:
        """Measure all again: the first pass was spoilt."""
        self._pinged, self._flown, self._arrived = [], {}, {}

    def _begin_pings(self) -> PingsUnderWay:
        return PingsUnderWay(self._both, ADDRESSES["server"], plan.pings(self.link), self.link.mtu)

    def _connect(self) -> dict[str, FlightsUnderWay]:
        return {way.name: FlightsUnderWay(way.path, way.tcp) for way in self.ways if isinstance(way.tcp, Flights)}

    def _fly(self, flights: dict[str, FlightsUnderWay]) -> None:
        """Let TCP send. Where it fills a queue one way after the other, since acknowledgements would take places in it,
        unless all is sent before the first of them can be there."""
        first_s = min(way.direction.delay.seconds for way in self.ways)
        at_once = all(
            isinstance(way.tcp, Flights) and (way.tcp.count == 1 or way.tcp.count * way.tcp.gap_us / 1e6 < first_s)
            for way in self.ways
        )
        if at_once:
            for each in flights.values():
                each.go()
        for way in self.ways:
            if way.name not in flights:
                self._flown[way.name] = self._fill(way)
                continue
            if not at_once:
                flights[way.name].go()
            self._flown[way.name] = flights[way.name].result()

    def _fill(self, way: Way) -> Filled:
        assert isinstance(way.tcp, Fill)  # noqa: S101 - the caller has asked
        filled = fill(way.path, way.tcp.seconds, self.link.rtt.seconds)
        time.sleep(min(self._drain_s(way), way.tcp.seconds) + way.direction.delay.seconds)  # nobody wants the rest
        return filled

    def _drain_s(self, way: Way) -> float:
        frame = self.link.mtu + HEADER
        rate = way.direction.rate
        return plan.queue_packets(way.direction, frame) * frame * 8 / rate.bps if rate else 0.0

    def _send_trains(self, way: Way) -> dict[tuple[str, Train], Arrivals]:
        """Send one train behind the other. Where what one leaves in the queue is known, it is not waited for."""
        thorough = self._effort.thorough
        known = plan.busy_train(way.direction, self.link.mtu, thorough=thorough) is not None
        sending: dict[Train, TrainUnderWay] = {}
        for train in plan.trains(way.direction, self.link.mtu, thorough=thorough):
            if known and sending:
                time.sleep(self._drain_s(way) * DRAINED + DRAINED_S)
            sending[train] = TrainUnderWay(way.path, train, plan.linger_s(way.direction))
            sending[train].sent() if known else sending[train].arrivals()
        return {(way.name, train): each.arrivals() for train, each in sending.items()}

    # --- what there is of each: first what the pass has told, then what is measured again

    def pings(self) -> Iterator[Pinged]:
        yield from self._pinged
        while True:
            yield self._begin_pings().result()

    def trains(self, way: Way, train: Train) -> Iterator[Arrivals]:
        if (way.name, train) in self._arrived:
            yield self._arrived[way.name, train]
        while True:
            yield send(way.path, train, plan.linger_s(way.direction))

    def tcp(self, way: Way) -> Iterator[Flown | Filled]:
        if way.name in self._flown:
            yield self._flown[way.name]
        while True:
            if isinstance(way.tcp, Flights):
                flights = FlightsUnderWay(way.path, way.tcp)
                flights.connected()
                flights.go()
                yield flights.result()
            else:
                yield self._fill(way)
