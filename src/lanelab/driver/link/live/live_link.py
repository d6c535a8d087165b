"""The link of a bed, one operation after the other: nothing changes while it is measured."""

import threading

from lanelab.driver.base.errors import BedError
from lanelab.driver.bed.node import NODE_NAMES
from lanelab.driver.bed.substrate import Substrate
from lanelab.driver.link import Link
from lanelab.driver.link.live.cross_flows import CrossFlows
from lanelab.driver.link.live.operations import LinkChange, LinkEnded, LinkOperations, Pinged, Transfer, Way
from lanelab.driver.link.live.player import LinkPlayer
from lanelab.driver.link.live.state import LinkState
from lanelab.driver.link.results import SelfTest
from lanelab.driver.link.selftest.effort import USUAL, Effort
from lanelab.driver.link.selftest.plan import Pings


class LinkActivity:
    """Begins and ends once for each command. Raises BedError."""

    def __init__(self, substrate: Substrate, link: LinkState) -> None:
        self._substrate, self._link = substrate, link
        self._flows: CrossFlows | None = None
        self._player: LinkPlayer | None = None

    def begin(self) -> None:
        """Begin the cross traffic, which takes seconds to settle; then the traces."""
        self._link.require_whole()
        if self._flows or self._player:
            raise BedError("the link's traces and its cross traffic have begun already", "End them first")
        link = self._link.current
        try:
            if link.cross:
                self._flows = CrossFlows(link)
                self._flows.start({name: self._substrate.node(name) for name in NODE_NAMES})
            self._player = self._link.mover()
            if self._player:
                self._player.begin()
        except BedError:
            self._close()
            raise

    def end(self) -> LinkEnded:
        """Return how late the latest step of a trace was, and how many flows of the cross traffic had ended before."""
        try:
            played = self._player.end() if self._player else None
            return LinkEnded(played.worst_late_us if played else 0, self._flows_ended())
        finally:
            self._close()

    def _flows_ended(self) -> int:
        if self._flows is None:
            return 0
        self._flows.tell("end")
        _, sent = self._flows.seen()
        return sum(flow["ended"] for flow in sent["flows"])

    def _close(self) -> None:
        flows, self._flows, self._player = self._flows, None, None
        if flows:
            flows.close()


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
