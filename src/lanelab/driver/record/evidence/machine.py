"""What the machines of a bed did while a trial loaded: the evidence of the recorder `machine`."""

from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded

# Whose processes: the parts of lanelab in the order of reports, then everything else that ran on the machine.
GROUPS = ("client", "server", "gateway", "router", "capture", "harness", "other")


@dataclass(frozen=True, slots=True)
class Pressure(Coded):
    """Shares of the load's time in which work waited for a resource: some of it, and all of it at once."""

    cpu_some: float
    io_some: float
    io_full: float
    memory_some: float
    memory_full: float


@dataclass(frozen=True, slots=True)
class MachineUse(Coded):
    """One machine during one load. None, or a key that is not there: `absent` says why it is not known."""

    nodes: tuple[str, ...]  # of the bed, that are on this machine
    processors: int
    seconds: float  # from just before the load to just after it
    cpu_s: Mapping[str, float]  # processor time by group
    wait_s: Mapping[str, float]  # time in which threads of a group were ready to run and had no processor
    busy: float | None  # share of all processors' time
    steal: float | None  # share that the hypervisor gave to other machines
    load: float | None  # average of the minute before
    pressure: Pressure | None
    throttled_times: int | None  # by a limit of a control group
    throttled_s: float | None
    hot_times: int | None  # how often the processors slowed down because of heat
    frequency: float | None  # share of the highest clock, mean of all processors at the load's end
    absent: Mapping[str, str]  # what is not known -> why
    stopped_s: Mapping[str, float] | None = None  # program -> about how long a signal stopped its processes


@dataclass(frozen=True, slots=True)
class MachineEvidence(Coded):
    """Each machine of the bed once, and what it cost to look."""

    machines: tuple[MachineUse, ...]
    own_cpu_s: float  # processor time of the samples during the load, all machines together
