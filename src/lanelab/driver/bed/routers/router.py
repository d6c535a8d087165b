"""What a router of a bed is, whatever kernel it runs on."""

from abc import ABC, abstractmethod
from collections.abc import Callable

from lanelab.driver.base.units import Rate
from lanelab.driver.bed.commands import set_kernel
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.routers.pulse import Pulse


class Router(ABC):
    """The node in the middle. The link is shaped here and nowhere else."""

    kind: str
    kernel: str
    compensation_us: int  # what this router adds to each direction's delay by waking late, as `bench bed` measures it

    proven: Rate  # the highest rate that it was measured to carry exactly; what is above may do on a faster machine

    @property
    @abstractmethod
    def node(self) -> Node:
        """Return where commands on the router run."""

    @property
    def machine(self) -> Node:
        """Return where commands run on the machine that the router is on: beside a router that is a kernel of its
        own."""
        return self.node

    @abstractmethod
    def finish(self) -> None:
        """Wait until it forwards."""

    @abstractmethod
    def close(self) -> None:
        """End it."""

    def when_lost(self, callback: Callable[[str], None]) -> None:  # noqa: B027 - a kernel's own namespace does not end
        """Call this with the reason when the router ends by itself, from whatever thread."""

    def lost_at_input(self) -> int:
        """Return packets that the router was too slow to take in since this was last asked: lost, but not by the
        link."""
        return 0

    def pulse(self) -> Pulse | None:
        """What watches for one load whether it runs; None: it is no process of this machine."""
        return None

    def forward(self, *, on: bool) -> None:
        """Let packets pass, or none at all."""
        self.node.run(set_kernel("net/ipv4/ip_forward", str(int(on))))
