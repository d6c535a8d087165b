"""The link of a bed, one operation after the other: nothing changes while it is measured."""

import threading

from lanelab.driver.bed.substrate import Substrate
from lanelab.driver.link import Link
from lanelab.driver.link.live.activity import LinkActivity
from lanelab.driver.link.live.operations import LinkChange, LinkEnded, LinkOperations, Pinged, Transfer, Way
from lanelab.driver.link.live.state import LinkState
from lanelab.driver.link.results import SelfTest
from lanelab.driver.link.selftest.effort import USUAL, Effort
from lanelab.driver.link.selftest.plan import Pings


class LiveLink(LinkOperations):
    def __init__(self, substrate: Substrate) -> None:
        self.state = LinkState(substrate)
        self._activity = LinkActivity(substrate, self.state)
        self._changing = threading.Lock()

    def set_link(self, link: Link) -> LinkChange:
        with self._changing:
            return self.state.set(link)

    def test_link(self, effort: Effort = USUAL) -> SelfTest:
        with self._changing:
            return self.state.test(effort)

    def ping(self, pings: Pings) -> Pinged:
        with self._changing:
            return self.state.ping(pings)

    def transfer(self, way: Way, seconds: float) -> Transfer:
        with self._changing:
            return self.state.transfer(way, seconds)

    def begin_link(self) -> None:
        with self._changing:
            self._activity.begin()

    def end_link(self) -> LinkEnded:
        with self._changing:
            return self._activity.end()
