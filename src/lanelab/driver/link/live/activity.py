"""What a link does by itself while a user's command runs: its traces, its outages, its radio and its cross traffic."""

from lanelab.driver.base.errors import BedError
from lanelab.driver.bed.node import NODE_NAMES
from lanelab.driver.bed.substrate import Substrate
from lanelab.driver.link.live.cross_flows import CrossFlows
from lanelab.driver.link.live.operations import LinkEnded
from lanelab.driver.link.live.player import LinkPlayer
from lanelab.driver.link.live.state import LinkState


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
        return sum(bool(flow["ended"]) for flow in sent["flows"])

    def _close(self) -> None:
        flows, self._flows, self._player = self._flows, None, None
        if flows:
            flows.close()
