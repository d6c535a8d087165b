"""All that a page load leaves for its judges."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from lanelab.driver.base.coded import Coded, with_later
from lanelab.driver.record.evidence.browser import BrowserEvidence, LoadClock
from lanelab.driver.record.evidence.capture import CaptureCounts, RouterCounts
from lanelab.driver.record.evidence.gateway import GatewayLog
from lanelab.driver.record.evidence.link import EmulationError, LinkEvidence
from lanelab.driver.record.evidence.moving import MovingEvidence
from lanelab.driver.record.evidence.packets import PacketSummary
from lanelab.driver.record.evidence.parts import Parts
from lanelab.driver.record.evidence.server import ResolverLog, ServerLog
from lanelab.driver.record.evidence.settings import SettingsEvidence
from lanelab.driver.record.evidence.spoken import NodeDatagrams


@dataclass(frozen=True, slots=True)
class WitnessNames(Coded):
    """The witnesses who could tell what was spoken on the link, by which TLS, over which connections: the browser or
    the gateway, server, capture."""

    protocol: tuple[str, ...]
    tls: tuple[str, ...]
    connections: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageLoadEvidence(Coded):
    """The evidence of a page load by who gives it. None, or a node that is not there: it gave nothing, or was not
    asked."""

    browser: BrowserEvidence | None
    server: ServerLog | None
    resolver: ResolverLog | None
    gateway: GatewayLog | None
    router: RouterCounts
    settings: SettingsEvidence | None  # what the nodes were set to, after the load
    capture: Mapping[str, CaptureCounts]  # by node
    packets: Mapping[str, PacketSummary]  # by node; from the captures, read by the controller
    witnesses: WitnessNames | None  # from all of it, by the controller; None: nothing was loaded
    parts: Parts | None  # what the load time was made of, by the controller; None: the page did not load
    one_clock: bool  # times of captures on different nodes can be compared
    link: LinkEvidence | None  # what the captures tell of the link, by the controller; None: the client's is not there
    emulation: EmulationError | None  # of each packet, by the controller; None: not captured at both ends by one clock
    moving: MovingEvidence | None = None  # None: the link stood still
    # That came for the client node. None: not by HTTP/3, or a record from before this was kept.
    datagrams: NodeDatagrams | None = None

    @classmethod
    def decoded(cls, data: object) -> Self:
        """Return it, also from a record that lacks what came later."""
        return super(PageLoadEvidence, cls).decoded(with_later(data, datagrams=None))

    @property
    def loaded_ms(self) -> float | None:
        """Return how long the load took by the clock of what drove it; None: it came to no end."""
        return self.browser.times.plt_ms if self.browser else None

    @property
    def broken_off(self) -> bool:
        """Return whether the load began and came to no end."""
        return self.browser is not None and self.loaded_ms is None

    @property
    def client(self) -> str:
        """Return what wrote the log `gateway`."""
        return "gateway"

    @property
    def clock(self) -> LoadClock | None:
        """Puts browser and captures on one clock; None: the page was not asked for."""
        return self.browser.clock if self.browser else None
