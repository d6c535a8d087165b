"""What a bed tells of itself."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from lanelab.driver.base.operations import Remote, operation
from lanelab.driver.bed.substrate import DescribedMachine


class DirectReport(TypedDict, total=False):
    """The facts of a host that only a bed with a cable past the router has."""

    direct_offloads: Mapping[str, str]


class NameReport(TypedDict, total=False):
    """The fact of a host that could not be named after its node: a container's filter may deny that."""

    host_name: str  # the machine's own, which it has instead


class HostReport(DirectReport, NameReport):
    """A host of the bed and its settings."""

    kernel: str
    programs: Mapping[str, str]  # the first line of what each says
    sysctls: Mapping[str, str]
    offloads: Mapping[str, str]
    routes: Sequence[str]


class RouterReport(TypedDict):
    kind: str
    kernel: str
    programs: Mapping[str, str]
    compensation_us: int
    proven_bps: int


class BedReport(TypedDict):
    """The nodes of a bed and their settings, for the record of a run."""

    machines: NotRequired[Mapping[str, DescribedMachine]]  # by node, where they are not this one
    client: HostReport
    server: HostReport
    router: RouterReport
    wire_rtt_ms: NotRequired[float]  # between client and server before there is a link, where it is measured


class FactOperations(Remote):
    @operation()
    def facts(self) -> BedReport:
        """Return what the nodes are and how they are set."""
        raise NotImplementedError

    @operation()
    def tc_state(self) -> tuple[Any, ...]:
        """Return the router's queues with their counters, as tc shows them."""
        raise NotImplementedError
