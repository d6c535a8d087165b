"""What a bed does with its link."""

from dataclasses import dataclass
from typing import Literal

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.operations import Remote, operation, usual_limit
from lanelab.driver.link import Link
from lanelab.driver.link.results import SelfTest
from lanelab.driver.link.selftest.effort import USUAL, Effort
from lanelab.driver.link.selftest.plan import Pings

Way = Literal["down", "up"]
SELF_TEST_WITHIN_S = 1800.0  # a slow link with a deep queue takes minutes


@dataclass(frozen=True, slots=True)
class LinkChange(Coded):
    """The lines that made a link."""

    tc: tuple[str, ...]  # the lines that shaped it
    compensation_us: int  # what was taken off each direction's delay


@dataclass(frozen=True, slots=True)
class LinkEnded(Coded):
    """How well a link moved, and its cross traffic went."""

    worst_late_us: int  # of the steps of its traces
    flows_ended: int  # of the cross traffic, before it was asked to


@dataclass(frozen=True, slots=True)
class Pinged(Coded):
    sent: int
    round_trips_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Transfer(Coded):
    """A transfer over TCP."""

    marks: tuple[tuple[float, int], ...]  # seconds since it began, bytes received until then


class LinkOperations(Remote):
    """The bed has them of LiveLink."""

    @operation()
    def set_link(self, link: Link) -> LinkChange:
        """Shape the link, as a whole or not at all."""
        raise NotImplementedError

    @operation(lambda **_: SELF_TEST_WITHIN_S)
    def test_link(self, effort: Effort = USUAL) -> SelfTest:
        """Measure the link from inside."""
        raise NotImplementedError

    @operation(lambda pings: usual_limit() + pings.count * pings.gap_us / 1e6)
    def ping(self, pings: Pings) -> Pinged:
        """Return packets from client to server and back, without a verdict."""
        raise NotImplementedError

    @operation(lambda seconds, **_: usual_limit() + seconds)
    def transfer(self, way: Way, seconds: float) -> Transfer:
        """Send as many bytes as go over one connection in that time, without a verdict."""
        raise NotImplementedError

    @operation()
    def begin_link(self) -> None:
        """Let the link's cross traffic begin, and when that has settled, its traces, outages and radio."""
        raise NotImplementedError

    @operation()
    def end_link(self) -> LinkEnded:
        """The link stands still again, without cross traffic."""
        raise NotImplementedError
