"""The machines whose beds made a run's trials."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded


@dataclass(frozen=True, slots=True)
class MachineFacts(Coded):
    """A machine as it describes itself when it begins to work for a run."""

    name: str  # what its owner calls it, else its host name; the machine's name in all results
    identity: str  # a digest of what the system identifies itself by; names that share it are one machine
    system: str
    kernel: str
    processor: str
    processors: int  # that its beds may use
    memory_mib: int
    clock_ahead_s: float  # of the controller's clock, when the machine joined; its stamps are corrected by it
    clock_uncertainty_s: float
    fixed_work_ms: float | None  # how long a fixed piece of work takes; None: not measured
    noise: float | None  # of that work: its standard deviation as a share; None: not measured


@dataclass(frozen=True, slots=True)
class BedFacts(Coded):
    """One bed of a machine. `uid` names it in all runs; a run numbers its beds."""

    uid: str
    machine: str  # name
    processors: str  # those that are its own, as taskset writes them; "": all
    began_utc: str
    router: str
    kernel: str  # of the router
    bring_up_s: float
