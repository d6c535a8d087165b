"""What nodes are made of. A new substrate is one file with these; nothing outside driver/bed/ knows which it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from driver.bed.node import Node
from driver.bed.routers.router import Router
from driver.bed.ssh.hosts import Hosts
from model.errors import BedError

ROUTER_KINDS = ("auto", "uml", "kernel")


@dataclass(frozen=True, slots=True)
class BedSettings:
    """How a bed is made. `cpus` pins a node to a list of processors as taskset writes it: {"router": "1"}."""

    folder: Path  # of this bed: the router's console log and what else is worth keeping
    substrate: str = "netns"
    router: str = "auto"
    cpus: Mapping[str, str] = field(default_factory=dict)
    hosts: Hosts | None = None  # of a substrate whose nodes are other machines


class Substrate(ABC):
    """The life of a bed's nodes. The bed process calls `enter` before anything else, then `bring_up`, then `close`."""

    _router: Router | None = None  # since `bring_up`
    apart = False  # the nodes are machines of their own, with a way and a clock of their own each

    @abstractmethod
    def enter(self, settings: BedSettings, controller: int | None = None) -> None:
        """Put this process where it can make nodes. May return in another process than it was called in.

        `controller`: a pidfd of the process that the bed belongs to, and with which it ends.
        """

    @abstractmethod
    def bring_up(self, settings: BedSettings) -> None:
        """Make the nodes and connect them; forwarding without any shaping when it returns."""

    @property
    def router(self) -> Router:
        """The node in the middle and what else is known of it."""
        if self._router is None:
            raise BedError("this bed has no router: it was never brought up")
        return self._router

    @abstractmethod
    def node(self, name: str) -> Node:
        """The node of that name."""

    @abstractmethod
    def addresses(self) -> dict[str, str]:
        """The nodes' addresses on the management path, which never crosses the link; none where there are no such."""

    def describe(self) -> dict[str, Any]:
        """What the nodes' machines are, by node; nothing where it is this machine."""
        return {}

    def when_lost(self, tell: Callable[[str], None]) -> None:
        """Call that with a few words, from whatever thread, when the bed can come to nothing any more."""
        self.router.when_lost(tell)

    @abstractmethod
    def close(self) -> None:
        """End everything that was made, in whatever state it is."""
