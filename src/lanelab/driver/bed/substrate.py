"""What nodes are made of. A new substrate is a folder with a kind and a substrate, and a line in registry.py.

Nothing outside driver/bed/ asks which substrate a bed has. What makes a difference to others is one of its `Traits`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypedDict, TypeVar

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import BedError
from lanelab.driver.base.programs.finding import Finding
from lanelab.driver.base.programs.needs import Program
from lanelab.driver.bed.node import NODE_NAMES, Node
from lanelab.driver.bed.routers.router import Router

ROUTER_KINDS = ("auto", "uml", "kernel")
NO_DIRECT = (  # what a user is told where the trait `direct` is missing, and the remedy
    "these nodes are machines of their own: there is no way between client and server past the router",
    "Take a bed on this machine (--substrate netns), or a link with a router",
)


@dataclass(frozen=True, slots=True)
class Traits:
    """The traits of a substrate's nodes."""

    same_machine: bool = True  # as lanelab: the nodes have its files, programs, environment and processors
    same_clock: bool = True  # a time on one node can be compared with a time on another
    direct: bool = False  # whether a link may be direct: there is a cable between client and server beside the router
    wire: bool = False  # between the nodes is more than the router: what packets take there is measured without a link
    tolerance: float = 1.0  # times what a self-test tolerates
    up_within_s: float = 90.0


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine of a bed."""

    nodes: tuple[str, ...]  # on it
    node: Node | None = None  # where programs run on it; None: it is this machine


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the command line, a path, that only beds of this substrate have. They cannot do without it."""

    name: str
    help: str
    missing: tuple[str, str]  # the error where it is not given, and its remedy

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")


Given = Mapping[str, str]  # name of an option -> its value
Remedy = Callable[[Sequence[Program]], str]


@dataclass(frozen=True, slots=True)
class NodeSettings(Coded):
    """The settings of a substrate's nodes. Those of this machine have none."""


Nodes = TypeVar("Nodes", bound=NodeSettings)


class DescribedMachine(TypedDict):
    """A machine of a node, for the record of a run."""

    system: str
    kernel: str
    architecture: str
    processors: int
    memory_mib: int
    python: str
    interfaces: Mapping[str, str]  # of the link, by the node that each leads to


@dataclass(frozen=True, slots=True)
class BedSettings(Coded):
    """Says how a bed is made. `cpus` pins a node to a list of processors as taskset writes it: {"router": "1"}."""

    folder: Path  # of this bed: the router's console log and what else is worth keeping
    substrate: str = "netns"
    router: str = "auto"
    cpus: Mapping[str, str] = field(default_factory=dict)
    nodes: NodeSettings = NodeSettings()  # as the substrate's kind gives them


class SubstrateKind(ABC, Generic[Nodes]):
    """An entry of the registry: what is known of a substrate before there is a bed."""

    name: str
    help: str  # a few words, for --substrate
    nodes: type[Nodes]  # how their settings are read in the bed process
    traits = Traits()
    options: tuple[Option, ...] = ()
    needs: tuple[
        str, ...
    ] = ()  # purposes of programs (driver/base/programs/needs.py) that this machine needs to reach the nodes

    def is_meant(self, name: str, options: Given) -> bool:  # noqa: ARG002 - some know a bed by its options
        """Return whether a user who names this substrate and gives these options means this kind."""
        return name == self.name

    @abstractmethod
    def settings(self, options: Given) -> Nodes:
        """Return the settings of the nodes as they are now. Raises InputError."""

    def facts(self, options: Given) -> Mapping[str, bool]:  # noqa: ARG002 - not all have options
        """Return what belongs in the record of a run, once `settings` has been asked for."""
        return {}

    def warning(self, options: Given) -> str:  # noqa: ARG002
        """What a user should know before a run; empty where there is nothing."""
        return ""

    def findings(self, remedy: Remedy) -> Iterator[Finding]:  # noqa: ARG002 - other machines are examined elsewhere
        """What this machine can do for such beds. `remedy` is for programs that are missing."""
        return iter(())

    @abstractmethod
    def make(self, settings: Nodes) -> "Substrate":
        """Return a substrate with these settings, not yet entered. In the bed process."""


class Substrate(ABC):
    """The life of a bed's nodes. The bed process calls `enter` before anything else, then `bring_up`, then `close`."""

    _router: Router | None = None  # since `bring_up`
    traits = Traits()
    # What the bed process has to do besides. Where `bring_up` has to wait for a router it is done meanwhile.
    meanwhile: Callable[[], object] = staticmethod(lambda: None)

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
        """Return the node of that name."""

    def machines(self) -> list[Machine]:
        """Return each machine of the bed."""
        if self.traits.same_machine:
            return [Machine(NODE_NAMES)]
        return [Machine((name,), self.router.machine if name == "router" else self.node(name)) for name in NODE_NAMES]

    @abstractmethod
    def addresses(self) -> dict[str, str]:
        """Return the nodes' addresses on the management path, which never crosses the link; none where there are no
        such."""

    def describe(self) -> Mapping[str, DescribedMachine]:
        """Return what the nodes' machines are, by node; nothing where it is this machine."""
        return {}

    def when_lost(self, callback: Callable[[str], None]) -> None:
        """Call this with the reason, from whatever thread, when the bed is of no use any more."""
        self.router.when_lost(callback)

    @abstractmethod
    def close(self) -> None:
        """End everything that was made, in whatever state it is."""
