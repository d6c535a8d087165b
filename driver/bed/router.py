"""What a router of a bed is, whatever kernel it runs on."""

from __future__ import annotations

from abc import ABC, abstractmethod

from driver.bed.node import Node


class Router(ABC):
    """The node in the middle. The link is shaped here and nowhere else."""

    kind: str
    kernel: str
    compensation_us: int  # what this router adds to each direction's delay by waking late, as `bench bed` measures it

    @property
    @abstractmethod
    def node(self) -> Node:
        """Where commands on the router run."""

    @abstractmethod
    def finish(self) -> None:
        """Wait until it forwards."""

    @abstractmethod
    def close(self) -> None:
        """End it."""

    def forward(self, *, on: bool) -> None:
        """Let packets pass, or none at all."""
        self.node.run(["sysctl", "-q", "-w", f"net.ipv4.ip_forward={int(on)}"])
